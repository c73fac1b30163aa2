package providers

import (
	"slices"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
)

func TestNameOptions(t *testing.T) {
	for _, test := range []struct {
		rules lumi.NameRules
		want  []string
	}{
		{lumi.NameRules{}, nil},
		{lumi.NameRules{MaxLength: 63}, []string{"maxLength=63"}},
		{
			lumi.NameRules{MinLength: 10, MaxLength: 20, Pattern: "^[a-z]", Scope: "zone"},
			[]string{"minLength=10", "maxLength=20", "pattern=^[a-z]", "nameScope=zone"},
		},
	} {
		if got := nameOptions(test.rules); !slices.Equal(got, test.want) {
			t.Errorf("nameOptions(%+v) = %q, want %q", test.rules, got, test.want)
		}
	}
}
