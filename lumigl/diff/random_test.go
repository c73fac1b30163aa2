package diff_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// drawer generates documents with recurring parts, so that any two documents have much in common.
type drawer struct {
	*rapid.T
	// targets lists the possible targets of references.
	targets []*lumigl.Vertex
	// keys lists the possible keys of objects.
	keys []string
}

var (
	someKeys  = []string{"a", "b", "cidrBlock", "tags", "#ref", "property", "a/b~c", "0", "ключ", "\x1b[31m", ""}
	someTexts = []string{
		"", "a", "b", "172.31.0.0/16", "one\ntwo\n", "one\nthree\n", "\x1b[31m", "\u202e", wire.Unknown, "ключ",
	}
	someNumbers = []string{"0", "-0", "1", "1.0", "10e-1", "22", "80", "123456789012345678901234567890", "1e400"}
)

func (d *drawer) text() string { return rapid.SampledFrom(someTexts).Draw(d.T, "text") }

func (d *drawer) one(n int, label string) int { return rapid.IntRange(0, n-1).Draw(d.T, label) }

func (d *drawer) value(depth int) lumigl.Value {
	kinds := 10
	if depth <= 0 {
		kinds = 5
	}
	switch d.one(kinds, "kind") {
	case 0:
		return lumigl.NullValue()
	case 1:
		return lumigl.BoolOf(rapid.Bool().Draw(d.T, "bool"))
	case 2:
		n, ok := lumigl.NumberOf(rapid.SampledFrom(someNumbers).Draw(d.T, "number"))
		if !ok {
			d.Fatal("not a number")
		}
		return n
	case 3:
		if len(d.targets) > 0 {
			target := rapid.SampledFrom(d.targets).Draw(d.T, "target")
			if rapid.Bool().Draw(d.T, "of property") {
				return lumigl.PropertyOf(target, "arn")
			}
			return lumigl.ReferenceTo(target)
		}
	case 5:
		return lumigl.ObjectOf(
			lumigl.Member{Key: wire.Signature, Value: lumigl.TextOf(wire.Secret)},
			lumigl.Member{Key: "value", Value: lumigl.TextOf("hunter" + d.text())})
	case 6:
		return lumigl.ObjectOf(
			lumigl.Member{Key: wire.Signature, Value: lumigl.TextOf(wire.Asset)},
			lumigl.Member{Key: "path", Value: lumigl.TextOf(d.text())})
	case 7, 8:
		var elements []lumigl.Value
		for range d.one(6, "elements") {
			elements = append(elements, d.value(depth-1))
		}
		return lumigl.ListOf(elements...)
	case 9:
		return d.object(depth)
	}
	return lumigl.TextOf(d.text())
}

func (d *drawer) object(depth int) lumigl.Value {
	v := lumigl.ObjectOf()
	for range d.one(5, "members") {
		v = v.With(rapid.SampledFrom(d.keys).Draw(d.T, "key"), d.value(depth-1))
	}
	return v
}

func (d *drawer) data(depth int) lumigl.Value {
	targets := d.targets
	d.targets = nil
	v := d.object(depth)
	d.targets = targets
	return v
}

func (d *drawer) maybe() bool { return d.one(3, "maybe") == 0 }

func (d *drawer) resource(r *lumigl.Vertex) {
	r.Properties = d.object(3)
	if d.maybe() {
		r.Properties = lumigl.Value{}
	}
	if d.maybe() {
		r.ID = "i-" + strconv.Itoa(d.one(3, "id"))
	}
	if d.maybe() {
		protect := lumigl.Member{Key: "protect", Value: lumigl.BoolOf(true)}
		paths := lumigl.Member{Key: "ignoreChanges", Value: lumigl.ListOf(lumigl.TextOf("a"), lumigl.TextOf(rapid.SampledFrom([]string{"b", "c"}).Draw(d.T, "path")))}
		r.Options = lumigl.ObjectOf([][]lumigl.Member{{protect}, {paths}, {protect, paths}}[d.one(3, "options")]...)
		if len(d.targets) > 0 {
			r.Options = r.Options.With("dependsOn", lumigl.ListOf(lumigl.ReferenceTo(rapid.SampledFrom(d.targets).Draw(d.T, "dependency"))))
		}
	}
	if d.maybe() {
		r.Extensions = d.data(2)
	}
}

func (d *drawer) urn() urn.URN {
	return urn.URN(fmt.Sprintf("urn:lumi:prod::my/cluster:index::aws:ec2:%s::n%d",
		rapid.SampledFrom([]string{"VPC", "Subnet"}).Draw(d.T, "type"), d.one(4, "name")))
}

func drawSnapshot(t *rapid.T, keys []string) *lumigl.Snapshot {
	d := &drawer{T: t, keys: keys}
	s := &lumigl.Snapshot{Package: d.text(), Serial: uint64(d.one(3, "serial")), Lineage: d.text()}
	if d.maybe() {
		s.Args = d.data(2)
	}
	if d.maybe() {
		s.Tag = "@@r"
	}
	if d.maybe() {
		s.Fields = append(s.Fields, lumigl.Member{Key: "note", Value: d.data(2)})
	}
	for range d.one(7, "resources") {
		if r, err := s.Add(d.urn()); err == nil {
			d.resource(r)
			d.targets = append(d.targets, r)
		}
	}
	for range d.one(3, "deletes") {
		r := must.Get(lumigl.NewResource(d.urn()))(t)
		d.resource(r)
		// In a file, a reference to a duplicate URN resolves to another resource.
		if s.Vertex(r.Key()) == nil && !slices.ContainsFunc(s.Pending.Deletes, func(p *lumigl.Vertex) bool { return p.Key() == r.Key() }) {
			d.targets = append(d.targets, r)
		}
		s.Pending.Deletes = append(s.Pending.Deletes, r)
	}
	for range d.one(3, "operations") {
		r := must.Get(lumigl.NewResource(d.urn()))(t)
		d.resource(r)
		s.Pending.Operations = append(s.Pending.Operations, lumigl.Operation{Kind: "update", Resource: r})
	}
	return s
}

func text(t testing.TB, doc lumigl.Document) string {
	t.Helper()
	return string(must.Get(lumigl.Append(nil, doc))(t))
}
