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
		name      string
		one       func(b *strings.Builder, i int)
		faults    int
		suggested string // in the last message
	}{
		{"names like each other", func(b *strings.Builder, i int) {
			fmt.Fprintf(b, `"%sT::%s": {"type": "t:m:T", "properties": {"to": {"#ref": "%[1]sT::%s-x"}}},`, start, word(i), word(i+1))
		}, many, ""},
		{"plain names", func(b *strings.Builder, i int) {
			fmt.Fprintf(b, `"%sT::%s": {"type": "t:m:T", "properties": {"to": {"#ref": "%s"}}},`, start, word(i), word((i+1)%many))
		}, many, start + "T::" + word(0)},
		{"one of each type renamed", func(b *strings.Builder, i int) {
			fmt.Fprintf(b, `"%s%s::new": {"type": "t:m:%s", "properties": {"to": [`, start, "T"+word(i), "T"+word(i))
			if i > 0 {
				fmt.Fprintf(b, `{"#ref": "%[1]s%[2]s::former"}, {"#ref": "%[1]s%[2]s::former"}`, start, "T"+word(i-1))
			}
			b.WriteString(`]}},`)
		}, 2 * (many - 1), start + "T" + word(many-2) + "::new"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := invalid(t, lumigl.Parser{MaxFaults: 2 * many}, file(test.one))
			last := e.Faults[len(e.Faults)-1].Message
			if len(e.Faults) != test.faults || !strings.Contains(last, "did you mean \""+test.suggested) == (test.suggested != "") {
				t.Errorf("%d faults, of which the last: %s", len(e.Faults), last)
			}
		})
	}
}

// TestMeantInBuilt holds that a graph that was built is told what was meant too, and that a guess is in no field that
// programs follow.
func TestMeantInBuilt(t *testing.T) {
	s := &lumigl.Snapshot{}
	renamed, err := s.Add("urn:lumi:e::p:m::t:m:T::network")
	if err != nil {
		t.Fatal(err)
	}
	user, err := s.Add("urn:lumi:e::p:m::t:m:U::user")
	if err != nil {
		t.Fatal(err)
	}
	gone, err := lumigl.NewResource("urn:lumi:e::p:m::t:m:T::cloud")
	if err != nil {
		t.Fatal(err)
	}
	to := lumigl.ReferenceTo(gone)
	user.Properties = bag(pair("x", lumigl.ListOf(to, to)))
	const message = `there is no resource "urn:lumi:e::p:m::t:m:T::cloud"; did you mean "urn:lumi:e::p:m::t:m:T::network", which nothing refers to?`
	refused(t, s, message+" (at /resources/urn:lumi:e::p:m::t:m:U::user/properties/x/0/#ref)\n"+
		message+" (at /resources/urn:lumi:e::p:m::t:m:U::user/properties/x/1/#ref)")
	for _, f := range faultsIn(t, s.Check()) {
		if f.Nearest != "" {
			t.Errorf("a guess is followed: %s", f.Nearest)
		}
	}
	user.Properties = bag(pair("x", lumigl.ListOf(to, to, lumigl.ReferenceTo(renamed))))
	for _, f := range faultsIn(t, s.Check()) {
		if f.Message != `there is no resource "urn:lumi:e::p:m::t:m:T::cloud"` {
			t.Error(f.Message)
		}
	}
	s.Pending.Deletes = []*lumigl.Vertex{nil}
	s.Pending.Operations = []lumigl.Operation{{Kind: lumigl.CreateOperation}}
	if found := faultsIn(t, s.Check()); len(found) != 4 {
		t.Errorf("with two pending resources that are nil: %v", found)
	}
}
