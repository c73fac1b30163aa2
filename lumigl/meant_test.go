package lumigl_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/lumigl"
)

// word spells a number without digits, in four letters.
func word(n int) string {
	b := []byte("....")
	for i := range b {
		b[i] = 'a' + byte(n%26)
		n /= 26
	}
	return string(b)
}

// faultsIn returns the faults that an error lists.
func faultsIn(t *testing.T, err error) []lumigl.Fault {
	t.Helper()
	var invalid *lumigl.InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("expected an *InvalidError, found %v", err)
	}
	return invalid.Faults
}

// TestMeantInLargeFiles looks for what was meant by very many references, all of which are reported. It would run for
// hours if each were compared with everything.
func TestMeantInLargeFiles(t *testing.T) {
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
				t.Errorf("%d faults", len(e.Faults))
			}
		})
	}
}
