package lumigl_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestAppend(t *testing.T) {
	const u = "urn:lumi:e::p:m::t:m:T::"
	for _, test := range []struct{ src, want string }{
		{`{"resources": {}, "serial": 0, "pending": {"deletes": [], "operations": []}}`, "{\n  \"resources\": {}\n}\n"},
		{`{"y": 1, "package": "p", "vertices": {}, "x": {"b": 1, "a": 2}}`, `{
  "y": 1,
  "package": "p",
  "vertices": {},
  "x": {
    "b": 1,
    "a": 2
  }
}
`},
		{`{"ref": "@", "vertices": {"a": {"#ref": [], "#ref2": {"@": "a"}}}}`, `{
  "ref": "@",
  "vertices": {
    "a": {
      "#ref": [],
      "#ref2": { "@": "a" }
    }
  }
}
`},
		{`{"y": 1, "resources": {"` + u + `b": {"properties": {"b": {"d": 1, "c": 2}, "a": 3}, "extensions": {"z": 1, "y": 2},
			"type": "t:m:T"}, "` + u + `a": {"type": "t:m:T", "properties": {"to": {"property": "p", "#ref": "` + u + `b"}}}}, "x": 2,
			"pending": {"deletes": [{"properties": {}, "type": "t:m:T", "urn": "` + u + `a"}]}}`, `{
  "x": 2,
  "y": 1,
  "resources": {
    "` + u + `b": {
      "type": "t:m:T",
      "properties": {
        "a": 3,
        "b": {
          "c": 2,
          "d": 1
        }
      },
      "extensions": {
        "y": 2,
        "z": 1
      }
    },
    "` + u + `a": {
      "type": "t:m:T",
      "properties": {
        "to": { "#ref": "` + u + `b", "property": "p" }
      }
    }
  },
  "pending": {
    "deletes": [
      {
        "urn": "` + u + `a",
        "type": "t:m:T",
        "properties": {}
      }
    ]
  }
}
`},
	} {
		doc, err := lumigl.Parse(test.src)
		if err != nil {
			t.Error(err)
			continue
		}
		for range 2 { // writing must not change the document
			if text, err := lumigl.Append(nil, doc); err != nil || string(text) != test.want {
				t.Errorf("Append(%s) = %v\n%s\nwant\n%s", test.src, err, text, test.want)
			}
		}
	}
}

func TestAppendDoesNotModify(t *testing.T) {
	s := must.Get(lumigl.ParseSnapshot(`{"resources": {"urn:lumi:e::p:m::t:m:T::a": {"type": "t:m:T", "properties": {"b": 1, "a": 2}}}}`))(t)
	must.Get(lumigl.Append(nil, s))(t)
	for v := range s.Vertices() {
		var keys []string
		for key := range v.Properties.Members() {
			keys = append(keys, key)
		}
		if !slices.Equal(keys, []string{"b", "a"}) {
			t.Errorf("keys after Append = %q, want [b a]", keys)
		}
	}
}

func TestTagOf(t *testing.T) {
	g := &lumigl.Graph{}
	a := vertex(t, g, "a")
	a.Properties = bag(pair("#ref", lumigl.IntOf(1)), pair("self", lumigl.ReferenceTo(a)))
	if tag := lumigl.TagOf(g); tag != "#ref2" {
		t.Errorf("TagOf = %s, want #ref2", tag)
	}
	a.Properties = a.Properties.With("list", lumigl.ListOf(bag(pair("#ref2", lumigl.IntOf(1)))))
	if tag := lumigl.TagOf(g); tag != "#ref3" {
		t.Errorf("TagOf = %s, want #ref3", tag)
	}
}

func TestTagOfParsed(t *testing.T) {
	for _, data := range []string{
		`{"#ref": 1}`, `{"x": {"#ref": 1}}`, `{"x": [1, {"#ref": 1}]}`, `{"x": [[{"#ref": 1}], 1], "y": 1}`,
		`{"x": {"y": [{"z": {"#ref": 1}}]}, "self": {"@@": "a"}}`,
	} {
		g := must.Get(lumigl.ParseGraph(`{"ref": "@@", "vertices": {"a": ` + data + `}}`))(t)
		if tag := lumigl.TagOf(g); tag != "@@" {
			t.Errorf("%s: TagOf = %s, want @@", data, tag)
		}
		g.Tag = ""
		if tag := lumigl.TagOf(g); tag != "#ref2" {
			t.Errorf("%s: TagOf without a tag = %s, want #ref2", data, tag)
		}
	}
}

func TestFieldsRemoved(t *testing.T) {
	g := must.Get(lumigl.ParseGraph(`{"x": 1, "y": 2, "vertices": {}}`))(t)
	g.Fields = nil
	if text, err := lumigl.Append(nil, g); err != nil || string(text) != "{\n  \"vertices\": {}\n}\n" {
		t.Errorf("Append = %q, %v, want no fields", text, err)
	}
}

// pieces is a writer that records writes and fails after a limit.
type pieces struct {
	texts []string
	most  int
}

var errFull = errors.New("full")

func (p *pieces) Write(b []byte) (int, error) {
	if len(p.texts) == p.most {
		return 0, errFull
	}
	p.texts = append(p.texts, string(b))
	return len(b), nil
}

func TestWrite(t *testing.T) {
	g := &lumigl.Graph{}
	for _, key := range []string{"a", "b", "c"} {
		vertex(t, g, key).Properties = bag(pair("x", lumigl.TextOf(strings.Repeat(key, 100_000))))
	}
	text := must.Get(lumigl.Append(nil, g))(t)
	all := pieces{most: 10}
	if err := lumigl.Write(&all, g); err != nil || strings.Join(all.texts, "") != string(text) || len(all.texts) != 4 {
		t.Errorf("Write = %v after %d writes, want nil after 4", err, len(all.texts))
	}
	for most := range 4 {
		some := pieces{most: most}
		if err := lumigl.Write(&some, g); !errors.Is(err, errFull) || !strings.HasPrefix(string(text), strings.Join(some.texts, "")) {
			t.Errorf("Write with a limit of %d writes = %v, want %v", most, err, errFull)
		}
	}
}

func TestSort(t *testing.T) {
	s := &lumigl.Snapshot{}
	for _, n := range []int{2, 1, 0, 3} {
		must.Get(s.Add(resourceURN(n)))(t)
	}
	first, last := s.Vertex(string(resourceURN(0))), s.Vertex(string(resourceURN(3)))
	first.Properties = bag(pair("to", lumigl.ReferenceTo(last)))
	// Pending resources contain references but cannot be targets.
	pending := must.Get(lumigl.NewResource(resourceURN(9)))(t)
	pending.Properties = bag(pair("a", lumigl.ReferenceTo(first)), pair("b", lumigl.ReferenceTo(last)))
	s.Pending.Deletes = []*lumigl.Vertex{pending}
	must.Do(t, s.Sort())
	var found []*lumigl.Vertex
	for v := range s.Vertices() {
		found = append(found, v)
	}
	want := []*lumigl.Vertex{last, first, s.Vertex(string(resourceURN(1))), s.Vertex(string(resourceURN(2)))}
	if !slices.Equal(found, want) {
		for _, v := range found {
			t.Errorf("order after Sort differs: %s", v.Key())
		}
	}
}
