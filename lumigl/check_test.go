package lumigl_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func vertex(t *testing.T, g *lumigl.Graph, key string) *lumigl.Vertex {
	t.Helper()
	return must.Get(g.Add(key))(t)
}

func bag(members ...lumigl.Member) lumigl.Value { return lumigl.ObjectOf(members...) }

func pair(key string, v lumigl.Value) lumigl.Member { return lumigl.Member{Key: key, Value: v} }

// refused checks that Check and Write return exactly the error want for a built document, without positions.
func refused(t *testing.T, doc lumigl.Document, want string) {
	t.Helper()
	err := doc.Check()
	expect(t, err, want)
	var invalid *lumigl.InvalidError
	if errors.As(err, &invalid) {
		for _, f := range invalid.Faults {
			if f.Line != 0 || f.Offset != 0 || f.End != 0 || len(f.Notes) > 0 {
				t.Errorf("Check returned a fault with a position for a document without text: %+v", f)
			}
		}
	}
	_, err = lumigl.Append(nil, doc)
	expect(t, err, want)
	var b strings.Builder
	expect(t, lumigl.Write(&b, doc), want)
	if b.Len() > 0 {
		t.Errorf("Write wrote %q for an invalid document, want nothing", b.String())
	}
	if s, ok := doc.(*lumigl.Snapshot); ok {
		expect(t, s.Sort(), want)
	}
}

func TestBuiltGraph(t *testing.T) {
	g, other := &lumigl.Graph{Tag: "property"}, &lumigl.Graph{}
	g.Fields = []lumigl.Member{pair("resources", lumigl.NullValue()), pair("x", lumigl.ReferenceTo(vertex(t, other, "o")))}
	a := vertex(t, g, "a")
	gone := vertex(t, g, "gone")
	g.Remove(gone.Key())
	a.Properties = bag(
		pair("gone", lumigl.ReferenceTo(gone)),
		pair("other", lumigl.PropertyOf(other.Vertex("o"), "p\xff")),
		pair("none", lumigl.ReferenceTo(nil)),
		pair("twice", lumigl.NullValue()), pair("twice", lumigl.NullValue()),
		pair("text", lumigl.TextOf("\xff")), pair("\xfe", lumigl.NullValue()),
	)
	vertex(t, g, "list").Properties = lumigl.ListOf()
	vertex(t, g, "\xfd")
	vertex(t, g, "reference").Properties = lumigl.ReferenceTo(a)
	refused(t, g, `the tag cannot be "property", which is reserved in references
references are not allowed here (at /x)
the top-level field "resources" is reserved
"\xfe" is not UTF-8 (at /vertices/a)
duplicate key "twice" (at /vertices/a)
no vertex "gone" (at /vertices/a/gone/property)
"p\xff" is not UTF-8 (at /vertices/a/other)
no vertex "o" (at /vertices/a/other/property)
no vertex "" (at /vertices/a/none/property)
"\xff" is not UTF-8 (at /vertices/a/text)
must be an object, not a list (at /vertices/list)
"\xfd" is not UTF-8 (at "/vertices/\xfd")
must be an object, not a reference (at /vertices/reference)`)
}

func TestCheckVertexOfResource(t *testing.T) {
	for _, change := range []func(*lumigl.Vertex){
		func(v *lumigl.Vertex) { v.Type = "aws:ec2:VPC" },
		func(v *lumigl.Vertex) { v.ID = "vpc-0" },
		func(v *lumigl.Vertex) { v.Options = lumigl.ObjectOf() },
		func(v *lumigl.Vertex) { v.Source = "main.ts:1:1" },
		func(v *lumigl.Vertex) { v.Extensions = lumigl.ObjectOf() },
	} {
		g := &lumigl.Graph{}
		change(vertex(t, g, "a"))
		refused(t, g, "a vertex of a general graph has only properties, no type, id, options, source or extensions (at /vertices/a)")
	}
}

func TestBuiltSnapshot(t *testing.T) {
	s := &lumigl.Snapshot{Package: "\xff", Lineage: "\xfe", Args: lumigl.ListOf()}
	s.Tag = "\xfd"
	s.Fields = []lumigl.Member{pair("pending", lumigl.NullValue())}
	a := must.Get(s.Add(resourceURN(0)))(t)
	b := must.Get(s.Add(resourceURN(3)))(t)
	a.ID, a.Type = "\xfc", "t:m:U"
	a.Properties = bag(pair("b", lumigl.ReferenceTo(b)))
	b.Properties = bag(pair("a", lumigl.ReferenceTo(a)))
	b.Extensions = lumigl.TextOf("x")
	pending := must.Get(lumigl.NewResource(resourceURN(1)))(t)
	pending.Extensions = bag(pair("a", lumigl.ReferenceTo(a)))
	s.Pending.Operations = []lumigl.Operation{{Kind: "drop", Resource: pending}}
	refused(t, s, strings.NewReplacer("A", a.Key(), "B", b.Key()).Replace(`"\xfd" is not UTF-8
the top-level field "pending" is reserved
"\xff" is not UTF-8
"\xfe" is not UTF-8
must be an object, not a list (at /args)
type "t:m:U" differs from the type "t:m:T0" in the URN (at /resources/A/type)
"\xfc" is not UTF-8 (at /resources/A/properties)
must be an object, not a string (at /resources/B/extensions)
references are not allowed here (at /pending/operations/0/extensions/a)
"operation" must be "create", "update" or "delete" (at /pending/operations/0)
resources form a dependency cycle: A → B → A (at /resources/A)`))
}

func TestBuiltPending(t *testing.T) {
	s := &lumigl.Snapshot{}
	for n := range 2 {
		r := must.Get(lumigl.NewResource(resourceURN(n)))(t)
		s.Pending.Deletes = append(s.Pending.Deletes, r)
	}
	s.Pending.Deletes[0].Properties = bag(pair("to", lumigl.ReferenceTo(s.Pending.Deletes[1])))
	s.Pending.Deletes[1].Properties = bag(pair("to", lumigl.ReferenceTo(s.Pending.Deletes[0])))
	text := must.Get(lumigl.Append(nil, s))(t)
	again := must.Get(lumigl.ParseSnapshot(string(text)))(t)
	for i, r := range again.Pending.Deletes {
		if to, _, _ := r.Properties.Get("to").Target(); to != again.Pending.Deletes[1-i] {
			t.Errorf("after a round trip, %s refers to %p, want pending delete %p", r.Key(), to, again.Pending.Deletes[1-i])
		}
	}
	s.Pending.Deletes[1].Type = "t:m:U"
	s.Pending.Deletes = append(s.Pending.Deletes, &lumigl.Vertex{})
	refused(t, s, `type "t:m:U" differs from the type "t:m:T1" in the URN (at /pending/deletes/1/type)
invalid URN: a URN must start with urn:lumi: (at /pending/deletes/2)`)
}

// A reference to a pending delete is invalid if it would resolve to another resource with the same URN after a round
// trip.
func TestBuiltPendingDuplicateURN(t *testing.T) {
	s := &lumigl.Snapshot{}
	var deletes [4]*lumigl.Vertex
	for i, n := range []int{0, 1, 1, 2} {
		deletes[i] = must.Get(lumigl.NewResource(resourceURN(n)))(t)
	}
	must.Get(s.Add(resourceURN(0)))(t)
	s.Pending.Deletes = deletes[:]
	deletes[3].Properties = bag(pair("right", lumigl.ReferenceTo(deletes[1])))
	must.Do(t, s.Check())
	deletes[3].Properties = bag(pair("live", lumigl.ReferenceTo(deletes[0])), pair("second", lumigl.ReferenceTo(deletes[2])))
	refused(t, s, strings.NewReplacer("A", string(resourceURN(0)), "B", string(resourceURN(1))).Replace(
		`the reference targets a resource "A" that is not the one in this graph (at /pending/deletes/3/properties/live/#ref)
the reference targets a resource "B" that is not the one in this graph (at /pending/deletes/3/properties/second/#ref)`))
}

func TestBuiltPendingMissingResource(t *testing.T) {
	s := &lumigl.Snapshot{}
	s.Pending.Deletes = []*lumigl.Vertex{nil}
	s.Pending.Operations = []lumigl.Operation{{Kind: lumigl.CreateOperation}}
	refused(t, s, `missing resource (at /pending/deletes/0)
missing resource (at /pending/operations/0)`)
}

// The depth limit is the same everywhere: values of the maximum depth survive a round trip, and deeper ones are
// rejected.
func TestBuiltDepth(t *testing.T) {
	deep := func(levels int, inner lumigl.Value) lumigl.Value {
		v := inner
		for range levels {
			v = bag(pair("", v))
		}
		return v
	}
	for _, place := range []struct {
		name   string
		levels int
		put    func(*lumigl.Snapshot, *lumigl.Vertex, lumigl.Value)
	}{
		{"field", 999, func(s *lumigl.Snapshot, _ *lumigl.Vertex, v lumigl.Value) { s.Fields = []lumigl.Member{pair("x", v)} }},
		{"args", 999, func(s *lumigl.Snapshot, _ *lumigl.Vertex, v lumigl.Value) { s.Args = v }},
		{"properties", 997, func(_ *lumigl.Snapshot, r *lumigl.Vertex, v lumigl.Value) { r.Properties = v }},
		{"extensions", 997, func(_ *lumigl.Snapshot, r *lumigl.Vertex, v lumigl.Value) { r.Extensions = v }},
		{"pending properties", 996, func(s *lumigl.Snapshot, r *lumigl.Vertex, v lumigl.Value) { pend(s, r).Properties = v }},
		{"pending extensions", 996, func(s *lumigl.Snapshot, r *lumigl.Vertex, v lumigl.Value) { pend(s, r).Extensions = v }},
	} {
		for more := range 2 {
			for _, reference := range []bool{false, true} {
				s := &lumigl.Snapshot{}
				target := must.Get(s.Add(resourceURN(1)))(t)
				r := must.Get(s.Add(resourceURN(0)))(t)
				levels, inner := place.levels+more, lumigl.NullValue()
				if reference {
					levels, inner = levels-1, lumigl.ReferenceTo(target)
				}
				if reference && !strings.HasSuffix(place.name, "properties") {
					continue
				}
				place.put(s, r, deep(levels, inner))
				text, err := lumigl.Append(nil, s)
				if more == 1 {
					if err == nil || !strings.HasPrefix(err.Error(), "lists and objects are nested deeper than 1000 levels") {
						t.Errorf("%s: Append of a value that is too deep = %v, want an error", place.name, err)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s: Append: %s", place.name, clipped(err.Error()))
				} else if _, err := lumigl.ParseSnapshot(string(text)); err != nil {
					t.Errorf("%s: ParseSnapshot: %s", place.name, clipped(err.Error()))
				}
			}
		}
	}
}

func pend(s *lumigl.Snapshot, r *lumigl.Vertex) *lumigl.Vertex {
	c, err := lumigl.NewResource(r.URN())
	if err != nil {
		panic(err)
	}
	s.Pending.Deletes = append(s.Pending.Deletes, c)
	return c
}

func TestAdd(t *testing.T) {
	g := &lumigl.Graph{}
	vertex(t, g, "a")
	_, err := g.Add("a")
	expect(t, err, `vertex "a" already exists`)
	s := &lumigl.Snapshot{}
	must.Get(s.Add(resourceURN(1)))(t)
	_, err = s.Add(resourceURN(1))
	expect(t, err, "resource urn:lumi:prod::shop:index::t:m:T1::1 already exists")
	_, err = s.Add("x")
	expect(t, err, `"x": a URN must start with urn:lumi:`)
}

func TestNumberOf(t *testing.T) {
	for _, s := range []string{"", "-", "01", "1.", ".5", "+1", "1e", "0x1", "1 ", "NaN"} {
		if v, ok := lumigl.NumberOf(s); ok {
			t.Errorf("NumberOf(%q) = %v, true, want false", s, v)
		}
	}
}

func TestConcurrentReading(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"resources": {`)
	for i := range 200 {
		fmt.Fprintf(&b, `"%s": {"type": "t:m:T%d", "properties": {"z": 1, "a": 2, "to": [`, resourceURN(i), i%3)
		if i > 0 {
			fmt.Fprintf(&b, `{"#ref": "%s"}`, resourceURN(i/2))
		}
		b.WriteString(`]}},`)
	}
	src := strings.TrimSuffix(b.String(), ",") + "}}"
	doc := must.Get(lumigl.Parse(src))(t)
	texts := make([]string, 8)
	var wait sync.WaitGroup
	for i := range texts {
		wait.Go(func() {
			look(doc)
			if err := doc.Check(); err != nil {
				t.Error(err)
			}
			if err := lumigl.Write(io.Discard, doc); err != nil {
				t.Error(err)
			}
			text, err := lumigl.Append(nil, doc)
			if err != nil {
				t.Error(err)
			}
			texts[i] = string(text)
		})
	}
	wait.Wait()
	for _, text := range texts {
		if text != texts[0] {
			t.Error("concurrent calls of Append returned different texts")
		}
	}
}

func look(doc lumigl.Document) {
	for v := range doc.Base().Vertices() {
		walkValue(v.Properties)
		doc.Base().Vertex(v.Key())
	}
}
