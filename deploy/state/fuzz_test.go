package state_test

import (
	"testing"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/state"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// Decoding damaged rows does not panic, and decoded resources are unchanged by a round trip.
func FuzzRead(f *testing.F) {
	codec := state.Codec{Key: secret.NewKey()}
	text := must.Get(codec.Resource(&graph.Resource{
		URN: "urn:lumi:dev::a:index::x:m:Db::main", Deployment: 1, ID: "db-1",
		Inputs: lumigl.ObjectOf(lumigl.Member{Key: "size", Value: lumigl.IntOf(1)}),
	}))(f)
	f.Add("a:x:m:Db::main:1", text)
	f.Add("root", `{"environment": "dev", "modules": [{"#ref": "a::1"}]}`)
	f.Add("a::1", `{"module": "a", "deployment": 1, "resources": [{"#ref": "a:x:m:Db::main:1"}]}`)
	f.Fuzz(func(t *testing.T, key, text string) {
		root := store.Vertex{Key: "root", Text: `{"environment": "dev"}`}
		_, _ = codec.Graph(store.Environment{Name: "dev"}, []store.Vertex{root, {Key: key, Text: text}})
		_, _ = codec.ParseDesired(text)
		_, _ = codec.ParseEffects(text)
		all, err := codec.Resources([]string{text})
		if err != nil {
			return
		}
		again := must.Get(codec.Resource(all[0]))(t)
		read, err := codec.Resources([]string{again})
		if err != nil {
			t.Fatalf("Resources: %v for the encoding\n%s\nof the resource decoded from\n%s", err, again, text)
		}
		if last, err := codec.Resource(read[0]); err != nil || last != again {
			t.Errorf("resource after a round trip: error %v, text\n%s\nwant\n%s", err, last, again)
		}
	})
}
