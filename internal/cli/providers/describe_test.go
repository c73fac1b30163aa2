package providers

import (
	"slices"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/internal/cli/console"
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

func TestDescribedAbilities(t *testing.T) {
	var out strings.Builder
	con := console.New(strings.NewReader(""), &out, &out, func(string) string { return "" })
	d := pluginDescription{Plugin: "p", Package: "a", Types: []typeDescription{
		describedType(&lumi.Description{Type: "a:index:Old", Named: true}),
		describedType(&lumi.Description{Type: "a:index:New", CanFind: true, IdempotentCreate: true, RepeatableChange: true}),
	}}
	d.print(con)
	_ = con.Stdout.Flush()
	want := "p: package a, 2 types\n\na:index:Old\n\na:index:New (named by the provider, can be found after a lost response, " +
		"idempotent create, repeatable changes)\n"
	if got := out.String(); got != want {
		t.Errorf("print() =\n%s\nwant\n%s", got, want)
	}
}
