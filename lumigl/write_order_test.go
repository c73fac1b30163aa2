package lumigl

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestByKey(t *testing.T) {
	pieces := rapid.SampledFrom([]string{"", "a", "b", ":", "::", "\x00", "\xff", "12345678", "1234567"})
	parts := rapid.SampledFrom([]string{"a", "ab", "a:b", "a::b", "b", "\xff"})
	keys := rapid.Custom(func(t *rapid.T) string {
		name := strings.Join(rapid.SliceOfN(pieces, 0, 4).Draw(t, "pieces"), "")
		return "urn:lumi:" + strings.Join(append(rapid.SliceOfN(parts, 3, 3).Draw(t, "parts"), name), "::")
	})
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfNDistinct(keys, 0, 60, rapid.ID).Draw(t, "keys")
		vertices := make([]*Vertex, len(all))
		for i, key := range all {
			vertices[i] = &Vertex{key: key}
		}
		var found []string
		for _, vertex := range byKey(vertices) {
			found = append(found, all[vertex])
		}
		if want := slices.Sorted(slices.Values(all)); !slices.Equal(found, want) {
			t.Fatalf("byKey(%q) = %q, want %q", all, found, want)
		}
	})
}

// URNs are validated even if they share a prefix with a valid URN.
func TestIdentity(t *testing.T) {
	s := &Snapshot{}
	for _, u := range []string{
		"urn:lumi:e::p:m::t:m:T::a", "urn:lumi:e::p:m::t:m:T::", "urn:lumi:e::p:m::t:m:T::b\n", "urn:lumi:e::p:m::t:m:T::::c::",
		"urn:lumi::e::p:m::t:m:T::a", "urn:lumi:e::p:m::t:m:T", string(urn.ByID("t:m:T", "a")),
	} {
		v := must.Get(s.Graph.Add(u))(t)
		v.Type = "t:m:T"
	}
	v, _ := s.Graph.Add("urn:lumi:e::p:m::t:m:T::d")
	v.Type = "t:m:U"
	const want = `invalid URN: the name is empty or contains control characters (at /resources/urn:lumi:e::p:m::t:m:T::)
invalid URN: the name is empty or contains control characters (at "/resources/urn:lumi:e::p:m::t:m:T::b\n")
invalid URN: the environment must be a word without colons or spaces (at /resources/urn:lumi::e::p:m::t:m:T::a)
invalid URN: a URN must have four parts after urn:lumi:, environment::package:module::type::name (at /resources/urn:lumi:e::p:m::t:m:T)
invalid URN: it is reserved for references by id (at /resources/urn:lumi:#id::lumi:index::t:m:T::a)
type "t:m:U" differs from the type "t:m:T" in the URN (at /resources/urn:lumi:e::p:m::t:m:T::d/type)`
	if err := s.Check(); err == nil || err.Error() != want {
		t.Errorf("Check =\n%v\nwant\n%s", err, want)
	}
}
