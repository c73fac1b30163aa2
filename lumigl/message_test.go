package lumigl_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// word returns a number encoded as four letters.
func word(n int) string {
	b := []byte("....")
	for i := range b {
		b[i] = 'a' + byte(n%26)
		n /= 26
	}
	return string(b)
}

// Suggestions do not take quadratic time. If each dangling reference were compared with all keys, the test would run
// for hours.
func TestSuggestionsLargeFile(t *testing.T) {
	const many = 40_000
	file := func(one func(b *strings.Builder, i int)) string {
		var b strings.Builder
		b.WriteString(`{"resources": {`)
		for i := range many {
			one(&b, i)
		}
		return strings.TrimSuffix(b.String(), ",") + `}}`
	}
	const start = "urn:lumi:e::p:m::t:m:"
	for _, test := range []struct {
		name   string
		one    func(b *strings.Builder, i int)
		faults int
	}{
		{"names like each other", func(b *strings.Builder, i int) {
			fmt.Fprintf(b, `"%sT::%s": {"type": "t:m:T", "properties": {"to": {"#ref": "%[1]sT::%s-x"}}},`, start, word(i), word(i+1))
		}, many},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := invalid(t, lumigl.Parser{MaxFaults: 2 * many}, file(test.one))
			if len(e.Faults) != test.faults {
				t.Errorf("Parse returned %d faults, want %d", len(e.Faults), test.faults)
			}
		})
	}
}

// Suggestions work for built graphs as well. They never name the resource that contains the reference.
func TestSuggestionsBuilt(t *testing.T) {
	s := &lumigl.Snapshot{}
	must.Get(s.Add("urn:lumi:e::p:m::t:m:T::network"))(t)
	user := must.Get(s.Add("urn:lumi:e::p:m::t:m:U::user"))(t)
	for key, want := range map[urn.URN]string{
		"urn:lumi:e::p:m::t:m:T::networks": `; did you mean "urn:lumi:e::p:m::t:m:T::network"?`,
		"urn:lumi:e::p:m::t:m:U::usre":     "",
		"urn:lumi:e::p:m::t:m:T::cloud":    "",
	} {
		user.Properties = bag(pair("x", lumigl.ReferenceTo(must.Get(lumigl.NewResource(key))(t))))
		refused(t, s, fmt.Sprintf("no resource %q%s (at /resources/%s/properties/x/#ref)", key, want, user.Key()))
	}
}
