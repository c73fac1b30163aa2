package schema

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"reflect"
	"slices"
	"strconv"
)

// Digests maps each file to a hash of all generator input for it. Files with equal paths and digests produce the same
// output. A digest covers
//
//   - the file itself, without positions;
//
// Any new input of a generator must be added to the digest.
type Digests map[*File][sha256.Size]byte

// Digests computes the digests of all files in the package.
func (p *Package) Digests() Digests {
	digests := Digests{}
	h := sha256.New()
	d := digester{bufio.NewWriter(h), map[*Alias]bool{}}
	sum := func() (digest [sha256.Size]byte) {
		_ = d.Flush() // hashes never fail
		h.Sum(digest[:0])
		h.Reset()
		clear(d.followed)
		return digest
	}
	for _, m := range p.Modules {
		d.module(p, m)
		module := sum()
		for _, f := range m.Files {
			_, _ = d.Write(module[:])
			d.text(f.Name, f.Doc)
			d.value(reflect.ValueOf(f.Decls))
			digests[f] = sum()
		}
	}
	return digests
}

// digester writes the model to a hash. Its encoding is unambiguous because each value is preceded by its length and
// kind.
type digester struct {
	*bufio.Writer
	followed map[*Alias]bool
}

func (d digester) number(n uint64) {
	_, _ = d.Write(binary.AppendUvarint(d.AvailableBuffer(), n))
}

func (d digester) text(list ...string) {
	for _, s := range list {
		d.number(uint64(len(s)))
		_, _ = d.WriteString(s)
	}
}

// module writes the data that the digests of all files in a module share.
func (d digester) module(p *Package, m *Module) {
	d.text(p.Name, p.NPM, p.Versions, m.Path, m.GoName)
	d.value(reflect.ValueOf(p.Packages))
	d.number(uint64(len(m.Imports)))
	for _, other := range m.Imports {
		d.text(other.Path, other.GoName)
	}
}

// ref writes the parts of a referenced declaration that a file may use. It follows each alias only once, so it
// terminates on cycles.
func (d digester) ref(decl Decl) {
	h := decl.Head()
	d.text(h.File.Module.Path, h.File.Module.GoName, h.File.Name, h.Kind, h.Name)
	switch decl := decl.(type) {
	case *Resource:
		d.text(decl.Token)
	case *Union:
		for _, v := range decl.Variants {
			d.value(reflect.ValueOf(v.Type))
		}
	case *Alias:
		if !d.followed[decl] {
			d.followed[decl] = true
			d.value(reflect.ValueOf(&decl.Target).Elem())
			d.value(reflect.ValueOf(decl.Constraints))
		}
	}
}

// undigested lists the types of back references and positions.
var undigested = []reflect.Type{
	reflect.TypeFor[*File](), reflect.TypeFor[*Module](), reflect.TypeFor[*Package](), reflect.TypeFor[Position](),
}

// value writes v, omitting positions and the fields set by [Package.Link].
func (d digester) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		d.text(strconv.FormatBool(v.Bool()))
	case reflect.Int, reflect.Int64:
		d.number(uint64(v.Int()))
	case reflect.Uint64:
		d.number(v.Uint())
	case reflect.Float64:
		d.number(math.Float64bits(v.Float()))
	case reflect.String:
		d.text(v.String())
	case reflect.Slice:
		d.number(uint64(v.Len()))
		for i := range v.Len() {
			d.value(v.Index(i))
		}
	case reflect.Interface:
		if v.IsNil() {
			d.text("")
			return
		}
		d.text(v.Elem().Type().String())
		d.value(v.Elem())
	case reflect.Pointer:
		if ref, ok := v.Interface().(*Ref); ok {
			d.ref(ref.Decl)
			return
		}
		d.text(strconv.FormatBool(v.IsNil()))
		d.value(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); !slices.Contains(undigested, f.Type()) {
				d.value(f)
			}
		}
	}
}
