package diff

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/match"
)

// TestIdentityAny holds that what has another identity would have to be replaced.
func TestIdentityAny(t *testing.T) {
	const kind = "a:b:C"
	replaces := Replaces{kind: {"a", "b.a", "c.a.b"}}
	rapid.Check(t, func(rt *rapid.T) {
		resource := func() *lumigl.Vertex {
			r, err := lumigl.NewResource("urn:lumi:prod::p:index::a:b:C::x")
			if err != nil {
				rt.Fatal(err)
			}
			r.Properties = nestedBag(rt, 3)
			return r
		}
		old, new := resource(), resource()
		was, some := replaces.Identity(old, true)
		is, _ := replaces.Identity(new, false)
		c := newComparer(true, match.Work(0))
		change := Resource{Kind: Updated, Old: old, New: new, Changes: c.bodies(old, new)}
		if replaces.mark(&change); change.Kind != Replaced && !was.Equal(is) {
			rt.Fatalf("%+v and %+v", was, is)
		}
		if some == (was.Len() == 0) {
			rt.Fatal("what is empty is no identity")
		}
	})
}

func nestedBag(t *rapid.T, depth int) lumigl.Value {
	v := lumigl.ObjectOf()
	for _, key := range []string{"a", "b", "c"} {
		switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
		case kind == 0:
		case kind < 3 && depth > 0:
			v = v.With(key, nestedBag(t, depth-1))
		case kind == 3 && depth > 0:
			v = v.With(key, lumigl.ListOf(nestedBag(t, depth-1), nestedBag(t, depth-1)))
		default:
			v = v.With(key, lumigl.IntOf(rapid.Int64Range(0, 1).Draw(t, "number")))
		}
	}
	return v
}
