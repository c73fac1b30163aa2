package lumi_test

import (
	"slices"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/test/kit/expect"
)

func TestPath(t *testing.T) {
	tests := []struct{ got, want lumi.Path }{
		{lumi.Path("rules").Index(2).Field("fromPort"), "rules[2].fromPort"},
		{lumi.Path("tags").Key("Name"), "tags.Name"},
		{lumi.Path("tags").Key("a b"), `tags["a b"]`},
		{lumi.Path("tags").Key("a.b"), `tags["a.b"]`},
		{lumi.Path("tags").Key(`"]`), `tags["\"]"]`},
		{lumi.Path("tags").Key(""), `tags[""]`},
		{lumi.Path("tags").Key("1a"), `tags["1a"]`},
		{lumi.Path("").Field("a"), "a"},
	}
	for _, test := range tests {
		expect.Equal(t, test.want, test.got)
	}
}

func TestPathHolds(t *testing.T) {
	tests := []struct {
		p, other lumi.Path
		want     bool
	}{
		{"a", "a", true}, {"a", "a.b", true}, {"a", "a[0]", true}, {"a", "ab", false}, {"a.b", "a", false}, {"", "a", true},
	}
	for _, test := range tests {
		if got := test.p.Holds(test.other); got != test.want {
			t.Errorf("%q.Holds(%q) = %v, want %v", test.p, test.other, got, test.want)
		}
	}
}

func TestPaths(t *testing.T) {
	var none lumi.Paths
	if none.Has("a") || none.Within("a") || none.Sorted() != nil {
		t.Error("nil Paths is not empty")
	}
	s := lumi.Paths{"b[1].c": {}, "a": {}}
	for p, want := range map[lumi.Path][2]bool{
		"a": {true, true}, "a.x": {true, true}, "ab": {false, false}, "b": {false, true}, "b[1].c.d": {true, true},
		"b[0]": {false, false},
	} {
		if got := [2]bool{s.Has(p), s.Within(p)}; got != want {
			t.Errorf("Has and Within(%q) = %v, want %v", p, got, want)
		}
	}
	// Dots and brackets in quotes belong to the key.
	keys := lumi.Paths{`b["a.b"]`: {}, `c["`: {}, `d["\\"].x`: {}}
	for p, want := range map[lumi.Path]bool{
		`b["a.b"].c`: true, `b["a.b"][0]`: true, `b["a`: false, `b["a.b.c"]`: false, `c["a[b"]`: false,
		`d["\\"].x[1]`: true, `d["\\"]`: false, `d["\\"].y`: false, "": false,
	} {
		expect.Equal(t, want, keys.Has(p), p)
	}
	if !(lumi.Paths{"": {}}).Has("a") {
		t.Error("Has(\"a\") = false for the path of the whole bag, want true")
	}
	if got := s.Sorted(); !slices.Equal(got, []lumi.Path{"a", "b[1].c"}) {
		t.Errorf("Sorted() = %v, want [a b[1].c]", got)
	}
}
