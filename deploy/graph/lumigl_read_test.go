package graph_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/must"
)

const bucket = `"a:aws:s3:Bucket::x:1": { "urn": "urn:lumi:prod::a:index::aws:s3:Bucket::x", "deployment": 1`

// malformed lists invalid vertices, which are added to a valid root, with the expected errors.
var malformed = []struct{ name, vertices, want string }{
	{"versions", `"a::2": { "module": "a", "deployment": 1 }, "b": { "module": 3 }, "A::1": { "module": "A", "deployment": 1 }`,
		`a::2 must have the key a::1 to match its fields
b.module must be a string
b is not a valid version: "urn:lumi:prod:::index::lumi:index:Module::": package "": a package name must be words that start with a lowercase letter, joined by /
b must have the key ::0 to match its fields
A::1 is not a valid version: "urn:lumi:prod::A:index::lumi:index:Module::A": package "A": a package name must be words that start with a lowercase letter, joined by /`},
	{"resources", `"x:1": { "urn": "x", "deployment": 1 }, "a:lumi:index:Module::a:1": { "urn": "urn:lumi:prod::a:index::lumi:index:Module::a", "deployment": 1 }`,
		`x:1.urn must be a resource URN
a:lumi:index:Module::a:1.urn must be a resource URN`},
	{
		"fields of a resource", bucket + `, "id": 3, "inputs": { "to": [{ "#ref": "root" }] }, "incarnation": 1.5, "seed": "x", "dependencies": [3] }`,
		`a:aws:s3:Bucket::x:1.id must be a string
a:aws:s3:Bucket::x:1.inputs must be a value that refers only to URNs
a:aws:s3:Bucket::x:1.dependencies[0] must be a string
a:aws:s3:Bucket::x:1.incarnation must be an integer
a:aws:s3:Bucket::x:1.seed must be a hexadecimal string`,
	},
	{
		"resources of a version", `"b::1": { "module": "b", "deployment": 1, "resources": [{ "#ref": "a:aws:s3:Bucket::x:1" }, { "#ref": "root" }] },
		"a::1": { "module": "a", "deployment": 1, "resources": [{ "#ref": "a:aws:s3:Bucket::x:1" }, { "#ref": "a:aws:s3:Bucket::x:2" }] }, ` + bucket + ` },
		"a:aws:s3:Bucket::x:2": { "urn": "urn:lumi:prod::a:index::aws:s3:Bucket::x", "deployment": 2 }`,
		`b::1.resources[1] must be a reference to a resource
b::1 cannot contain a:aws:s3:Bucket::x:1: it belongs to another module, or its URN is a duplicate
a::1 cannot contain a:aws:s3:Bucket::x:2: it belongs to another module, or its URN is a duplicate`,
	},
	{
		"uses and provides", `"a::1": { "module": "a", "deployment": 1, "partial": 1, "uses": [3, { "to": { "#ref": "root" }, "name": "x" }],
		"provides": { "x": { "type": "any", "value": 3 } } }`,
		`a::1.partial must be a boolean
a::1.provides must be a list
a::1.uses[0].to must be a reference to a version
a::1.uses[0].type must be a type
a::1.uses[0] must be an object
a::1.uses[1].to must be a reference to a version
a::1.uses[1].type must be a type`,
	},
}

func TestFromLumiGLErrors(t *testing.T) {
	for _, test := range malformed {
		t.Run(test.name, func(t *testing.T) {
			expectError(t, parse(t, `{ "vertices": { "root": { "environment": "prod" }, `+test.vertices+` } }`), test.want)
		})
	}
	t.Run("root", func(t *testing.T) {
		expectError(t, parse(t, `{ "vertices": {} }`), "root is missing")
		expectError(t, parse(t, `{ "vertices": { "root": { "environment": 3, "modules": ["a"], "pending": [{}] } } }`),
			`root.environment must be a string
root.modules[0] must be a reference to a version
root.pending[0].resource must be a reference to a resource`)
	})
	t.Run("dangling", func(t *testing.T) {
		doc := parse(t, `{ "vertices": { "root": { "modules": [{ "#ref": "b::2" }] }, "b::2": { "module": "b", "deployment": 2 } } }`)
		doc.Remove("b::2")
		expectError(t, doc, `root.modules[0] must be a reference to a version`)
	})
}

func parse(t *testing.T, source string) *lumigl.Graph {
	t.Helper()
	return must.Get(lumigl.ParseGraph(source))(t)
}

func expectError(t *testing.T, doc *lumigl.Graph, want string) {
	t.Helper()
	g, err := graph.FromLumiGL(doc)
	if err == nil {
		t.Fatalf("FromLumiGL() = %v, want an error", g)
	}
	if err.Error() != want {
		t.Errorf("FromLumiGL() error =\n%s\nwant\n%s", err, want)
	}
}

// Any graph that FromLumiGL accepts is unchanged by a round trip.
func FuzzFromLumiGL(f *testing.F) {
	f.Add(string(must.Get(os.ReadFile("testdata/lumigl/graph.json"))(f)))
	for _, test := range malformed {
		f.Add(`{ "vertices": { "root": { "environment": "prod" }, ` + test.vertices + ` } }`)
	}
	f.Fuzz(func(t *testing.T, source string) {
		doc, err := lumigl.ParseGraph(source)
		if err != nil {
			return
		}
		g, err := graph.FromLumiGL(doc)
		if err != nil {
			return
		}
		g.Snapshot()
		text := must.Get(lumigl.Append(nil, g.LumiGL()))(t)
		doc = must.Get(lumigl.ParseGraph(string(text)))(t)
		if g, err = graph.FromLumiGL(doc); err != nil {
			t.Fatalf("FromLumiGL() = %v for the LumiGL form of an accepted graph:\n%s", err, text)
		}
		if again, err := lumigl.Append(nil, g.LumiGL()); err != nil || !bytes.Equal(again, text) {
			t.Fatalf("graph after a round trip: error %v, text\n%s\nwant\n%s", err, again, text)
		}
	})
}
