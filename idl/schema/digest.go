package schema

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"reflect"
	"strconv"
)

// Digests has a hash for each file of a package: of all that generators may put into the output that is made of the file,
// so that files of one path and one digest yield the same output. That is
//
//   - the file itself, without positions;
//   - of the package, its name;
//   - of the file's module, its path, name and imports;
//   - of each declaration that the file refers to, its kind, name, file, module, token, and what an alias stands for, with its
//     constraints, or the types of a union's variants.
//
// A generator that uses anything else has to add it.
type Digests map[*File][sha256.Size]byte

// Digests computes the digests of all files.
func (p *Package) Digests() Digests {
	digests := Digests{}
	h := sha256.New()
	d := digester{bufio.NewWriter(h), map[*Alias]bool{}}
	sum := func() (digest [sha256.Size]byte) {
		_ = d.Flush() // A hash never returns an error.
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

// digester feeds a hash, in such a way that no two models feed it the same bytes: everything has its length in front,
// and everything that has a kind begins with it.
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

// module feeds what all files of a module depend on.
func (d digester) module(p *Package, m *Module) {
	d.text(p.Name, m.Path, m.GoName)
	d.number(uint64(len(m.Imports)))
	for _, other := range m.Imports {
		d.text(other.Path, other.GoName)
	}
}

// ref feeds what a file may use of a declaration that it refers to. Each alias is followed once, so that circles end.
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

// value feeds everything in v but positions and what [Package.Link] sets.
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
			if f := v.Field(i); f.Type() != reflect.TypeFor[*File]() && f.Type() != reflect.TypeFor[Position]() {
				d.value(f)
			}
		}
	}
}
