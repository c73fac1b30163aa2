package lumigl_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func ExampleSnapshot_Rename() {
	s, err := lumigl.ParseSnapshot(`{"resources": {
		"urn:lumi:prod::shop:index::aws:s3:Bucket::logs": {"type": "aws:s3:Bucket", "properties": {}},
		"urn:lumi:prod::shop:index::aws:s3:Object::readme": {"type": "aws:s3:Object", "properties": {
			"bucket": {"#ref": "urn:lumi:prod::shop:index::aws:s3:Bucket::logs"}}}
	}}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	// Edit the copy; the deployed snapshot does not change.
	planned := s.Clone()
	logs := planned.Vertex("urn:lumi:prod::shop:index::aws:s3:Bucket::logs")
	if err := planned.Rename(logs, "urn:lumi:prod::shop:index::aws:s3:Bucket::audit"); err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range []*lumigl.Snapshot{s, planned} {
		readme := s.Vertex("urn:lumi:prod::shop:index::aws:s3:Object::readme")
		bucket, _, _ := readme.Properties.Get("bucket").Target()
		fmt.Println(bucket.Key())
	}
	// Output:
	// urn:lumi:prod::shop:index::aws:s3:Bucket::logs
	// urn:lumi:prod::shop:index::aws:s3:Bucket::audit
}

// clone returns a clone of a document of either form.
func clone(doc lumigl.Document) lumigl.Document {
	if s, ok := doc.(*lumigl.Snapshot); ok {
		return s.Clone()
	}
	return doc.Base().Clone()
}

// randomDocument generates a document of either form.
func randomDocument(t *rapid.T) lumigl.Document {
	if rapid.Bool().Draw(t, "snapshot") {
		return randomSnapshot(t)
	}
	return randomGraph(t)
}

func textOf(t *rapid.T, doc lumigl.Document) string {
	return string(must.Get(lumigl.Append(nil, doc))(t))
}

func TestClone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := randomDocument(t)
		want := textOf(t, doc)
		changed, kept := doc, clone(doc)
		if rapid.Bool().Draw(t, "change the clone") {
			changed, kept = kept, changed
		}
		if got := textOf(t, kept); got != want {
			t.Fatalf("Clone =\n%s\nwant\n%s", got, want)
		}
		for range rapid.IntRange(1, 8).Draw(t, "edits") {
			edit(t, changed)
		}
		if got := textOf(t, kept); got != want {
			t.Fatalf("editing one copy changed the other to\n%s\nwant\n%s", got, want)
		}
		for v := range kept.Base().Vertices() {
			for target := range v.Properties.References() {
				if target != kept.Base().Vertex(target.Key()) {
					t.Fatalf("%q refers to a vertex %q outside of its graph", v.Key(), target.Key())
				}
			}
		}
	})
}

// edit makes a random change to a document, which may make it invalid.
func edit(t *rapid.T, doc lumigl.Document) {
	g := doc.Base()
	s, _ := doc.(*lumigl.Snapshot)
	var all []*lumigl.Vertex
	for v := range g.Vertices() {
		all = append(all, v)
	}
	if s != nil {
		all = append(all, s.Pending.Deletes...)
		for i := range s.Pending.Operations {
			all = append(all, s.Pending.Operations[i].Resource)
		}
	}
	if len(all) == 0 || rapid.IntRange(0, 5).Draw(t, "edit of the whole") == 0 {
		g.Tag += "x"
		if len(g.Fields) > 0 {
			g.Fields[0].Value = lumigl.NullValue()
		}
		g.Fields = append(g.Fields, lumigl.Member{Key: "added"})
		if s != nil {
			s.Serial++
			s.Args = lumigl.ObjectOf(lumigl.Member{Key: "added", Value: lumigl.NullValue()})
			for i := range s.Pending.Operations {
				s.Pending.Operations[i].Kind += "x"
			}
			for i := range s.Pending.Deletes {
				s.Pending.Deletes[i] = nil
			}
			s.Pending = lumigl.Pending{}
		}
		return
	}
	v := rapid.SampledFrom(all).Draw(t, "vertex")
	switch rapid.IntRange(0, 4).Draw(t, "edit") {
	case 0:
		v.Properties = v.Properties.With("added", lumigl.ReferenceTo(v))
	case 1:
		v.Type, v.ID, v.Extensions = "changed", "changed", lumigl.NullValue()
	case 2:
		_ = g.Rename(v, texts.Draw(t, "key")) // the key may be taken
	case 3:
		_, _ = g.Add(texts.Draw(t, "key"))
	case 4:
		g.Remove(v.Key())
	}
}

// In a clone, references between pending resources refer to the copies, dangling references keep their targets, and a
// resource that is listed twice is copied once.
func TestClonePending(t *testing.T) {
	s := &lumigl.Snapshot{}
	live := must.Get(s.Add(resourceURN(1)))(t)
	var pending []*lumigl.Vertex
	for n := 2; n <= 3; n++ {
		pending = append(pending, must.Get(lumigl.NewResource(resourceURN(n)))(t))
	}
	gone := &lumigl.Vertex{}
	pending[1].Properties = lumigl.ObjectOf(
		lumigl.Member{Key: "live", Value: lumigl.ReferenceTo(live)},
		lumigl.Member{Key: "pending", Value: lumigl.ReferenceTo(pending[0])},
		lumigl.Member{Key: "gone", Value: lumigl.ReferenceTo(gone)})
	s.Pending = lumigl.Pending{
		Deletes:    []*lumigl.Vertex{pending[0], pending[1], nil},
		Operations: []lumigl.Operation{{Resource: pending[1]}, {Resource: live}, {}},
	}
	c := s.Clone()
	deletes, operations := c.Pending.Deletes, c.Pending.Operations
	for key, want := range map[string]*lumigl.Vertex{"live": c.Vertex(live.Key()), "pending": deletes[0], "gone": gone} {
		if got, _, _ := deletes[1].Properties.Get(key).Target(); got != want {
			t.Errorf("reference %q in the clone has the target %p, want %p", key, got, want)
		}
	}
	if deletes[0] == pending[0] || deletes[1] == pending[1] || deletes[2] != nil {
		t.Error("pending deletes of the clone are not copies")
	}
	if operations[0].Resource != deletes[1] || operations[1].Resource != c.Vertex(live.Key()) || operations[2].Resource != nil {
		t.Error("pending operations of the clone have the wrong resources")
	}
}

func TestRenameRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := randomGraph(t)
		want := textOf(t, g)
		keys := map[*lumigl.Vertex]string{}
		for v := range g.Vertices() {
			keys[v] = v.Key()
		}
		for v := range keys {
			must.Do(t, g.Rename(v, fmt.Sprintf("renamed %q", keys[v])))
			if g.Vertex(keys[v]) != nil || g.Vertex(v.Key()) != v {
				t.Fatalf("Vertex(%q) does not return the renamed vertex", v.Key())
			}
		}
		if _, again := roundTrip(t, g); again.Base().Len() != len(keys) {
			t.Fatal("vertices are missing after a round trip")
		}
		for v, key := range keys {
			must.Do(t, g.Rename(v, key))
		}
		if got := textOf(t, g); got != want {
			t.Fatalf("after renaming vertices and back, the graph is\n%s\nwant\n%s", got, want)
		}
	})
}

func TestRename(t *testing.T) {
	g := &lumigl.Graph{}
	a, b := vertex(t, g, "a"), vertex(t, g, "b")
	expect(t, g.Rename(a, "b"), `vertex "b" already exists`)
	expect(t, g.Rename(a, "a"), "")
	g.Remove("b", "nothing")
	expect(t, g.Rename(b, "c"), `no vertex "b" in this graph`)
	expect(t, g.Rename(a, "b"), "")

	s := &lumigl.Snapshot{}
	r := must.Get(s.Add(resourceURN(1)))(t)
	expect(t, s.Rename(r, "x"), `"x": a URN must start with urn:lumi:`)
	expect(t, s.Rename(r, resourceURN(2)), "")
	if r.Type != "t:m:T2" || s.Vertex(string(resourceURN(2))) != r {
		t.Errorf("after Rename, URN = %s and type = %s, want %s and t:m:T2", r.URN(), r.Type, resourceURN(2))
	}
	expect(t, s.Check(), "")
}

func TestReplace(t *testing.T) {
	v := must.Get(lumigl.Parser{}.ParseValue(`{"a": [1, "x", {"x": "x"}], "b": {"c": [2, 3]}, "x": "x", "d": ["x"]}`))(t)
	with := func(instead lumigl.Value) func(lumigl.Value) (lumigl.Value, bool) {
		return func(part lumigl.Value) (lumigl.Value, bool) {
			text, ok := part.Text()
			return instead, ok && text == "x"
		}
	}
	for want, instead := range map[string]lumigl.Value{
		`{"a": [1, "y", {"x": "y"}], "b": {"c": [2, 3]}, "x": "y", "d": ["y"]}`: lumigl.TextOf("y"),
		`{"a": [1, {}], "b": {"c": [2, 3]}, "d": []}`:                           {},
	} {
		w := must.Get(lumigl.Parser{}.ParseValue(want))(t)
		if got := v.Replace(with(instead)); !got.Equal(w) {
			t.Errorf("Replace = %v, want %s", got.Kind(), want)
		}
	}
	if allocs := testing.AllocsPerRun(10, func() { v.Get("b").Replace(with(lumigl.NullValue())) }); allocs > 1 {
		t.Errorf("Replace of an unchanged value = %v allocations, want at most 1", allocs)
	}
}

func TestMap(t *testing.T) {
	for src, want := range map[string]string{
		`["x", [1], 2, 3]`:               `["0:", [1], "3:"]`,
		`{"a": "x", "b": [1], "c": [2]}`: `{"a": "0:a", "b": [1], "c": [2]}`,
		`"x"`:                            `"x"`,
	} {
		v := must.Get(lumigl.Parser{}.ParseValue(src))(t)
		w := must.Get(lumigl.Parser{}.ParseValue(want))(t)
		got := v.Map(func(i int, key string, part lumigl.Value) (lumigl.Value, bool) {
			if i == 2 {
				return lumigl.Value{}, part.Kind() == lumigl.Number
			}
			return lumigl.TextOf(fmt.Sprint(i, ":", key)), part.Kind() != lumigl.List
		})
		if !got.Equal(w) {
			t.Errorf("Map of %s differs from %s", src, want)
		}
	}
}

func TestCloneForeign(t *testing.T) {
	var old, new lumigl.Snapshot
	r := must.Get(old.Add(resourceURN(1)))(t)
	new.Pending.Deletes = []*lumigl.Vertex{r}
	expect(t, old.Rename(new.Clone().Pending.Deletes[0], resourceURN(2)), fmt.Sprintf("no vertex %q in this graph", resourceURN(1)))
	if old.Vertex(r.Key()) != r {
		t.Error("renaming a clone changed the original snapshot")
	}
}
