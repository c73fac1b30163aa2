package schema

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"reflect"
	"strconv"
)

// Digest returns a hash of all that generators may put into output: the whole model but for positions. Two packages of
// one digest yield the same output.
func (p *Package) Digest() [sha256.Size]byte {
	h := sha256.New()
	d := digester{bufio.NewWriter(h)}
	d.text(p.Name)
	d.number(uint64(len(p.Modules)))
	for _, m := range p.Modules {
		d.text(m.Path, m.GoName)
		d.number(uint64(len(m.Files)))
		for _, f := range m.Files {
			d.text(f.Name, f.Doc)
			d.value(reflect.ValueOf(f.Decls))
		}
	}
	_ = d.Flush() // A hash never returns an error.
	return [sha256.Size]byte(h.Sum(nil))
}

// digester feeds a hash, in such a way that no two models feed it the same bytes: everything has its length in front,
// and everything that has a kind begins with it.
type digester struct{ *bufio.Writer }

func (d digester) number(n uint64) {
	_, _ = d.Write(binary.AppendUvarint(d.AvailableBuffer(), n))
}

func (d digester) text(list ...string) {
	for _, s := range list {
		d.number(uint64(len(s)))
		_, _ = d.WriteString(s)
	}
}

// value feeds everything in v but positions, what [Package.Link] sets, and what references lead to.
func (d digester) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		d.text(strconv.FormatBool(v.Bool()))
	case reflect.Int64:
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
		d.text(v.Elem().Type().String())
		d.value(v.Elem())
	case reflect.Pointer:
		if ref, ok := v.Interface().(*Ref); ok {
			h := ref.Decl.Head()
			d.text(h.File.Module.Path, h.Name)
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
