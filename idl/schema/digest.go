package schema

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math"
)

// Digest returns a hash of all that generators may put into output: the whole model but for positions. Two packages of
// one digest yield the same output.
func (p *Package) Digest() [sha256.Size]byte {
	d := &digester{Hash: sha256.New()}
	d.text(p.Name)
	d.number(len(p.Modules))
	for _, m := range p.Modules {
		d.text(m.Path, m.GoName)
		d.number(len(m.Files))
		for _, f := range m.Files {
			d.text(f.Name, f.Doc)
			d.number(len(f.Decls))
			for _, decl := range f.Decls {
				d.decl(decl)
			}
		}
	}
	d.flush()
	return [sha256.Size]byte(d.Sum(nil))
}

// digester feeds a hash, in such a way that no two models feed it the same bytes: everything has its length in front,
// and everything that has a kind begins with it.
type digester struct {
	hash.Hash
	pending []byte
}

func (d *digester) flush() {
	d.Write(d.pending) // A hash never returns an error.
	d.pending = d.pending[:0]
}

func (d *digester) number(n int) {
	d.pending = binary.AppendUvarint(d.pending, uint64(n))
	if len(d.pending) > 4096 {
		d.flush()
	}
}

func (d *digester) text(list ...string) {
	for _, s := range list {
		d.number(len(s))
		d.pending = append(d.pending, s...)
	}
}

func (d *digester) flags(list ...bool) {
	bits := 0
	for i, set := range list {
		if set {
			bits |= 1 << i
		}
	}
	d.number(bits)
}

func (d *digester) decl(decl Decl) {
	h := decl.Head()
	d.text(fmt.Sprintf("%T", decl), h.Name, h.Doc)
	switch decl := decl.(type) {
	case *Resource:
		d.text(decl.Token)
		d.flags(decl.Named)
	case *Enum:
		d.number(len(decl.Members))
		for _, m := range decl.Members {
			d.text(m.Name, m.Value, m.Doc)
		}
	case *Alias:
		d.typ(decl.Target)
	case *Const:
		value := fmt.Sprint(decl.Value)
		if f, ok := decl.Value.(float64); ok {
			value = fmt.Sprint(math.Float64bits(f))
		}
		d.text(fmt.Sprintf("%T", decl.Value), value)
	}
	properties := Properties(decl)
	d.number(len(properties))
	for _, p := range properties {
		d.text(p.Field, p.Name, p.Doc)
		d.flags(p.Pointer, p.Optional, p.Out, p.In, p.Replaces, p.Secret)
		d.typ(p.Type)
	}
}

func (d *digester) typ(t Type) {
	switch t := t.(type) {
	case Primitive:
		d.text("primitive", string(t))
	case *List:
		d.text("list")
		d.typ(t.Elem)
	case *Map:
		d.text("map")
		d.typ(t.Key)
		d.typ(t.Elem)
	case *Ref:
		h := t.Decl.Head()
		d.text("ref", h.File.Module.Path, h.Name)
	}
}
