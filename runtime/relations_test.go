package lumi

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/test/kit/must"
)

// relatedObject is an object with optional properties of any type. It maps their names to their relations.
type relatedObject map[string]struct{ ConflictsWith, RequiredWith, ExactlyOneOf []string }

func (o relatedObject) Lumi(p *Props) {
	names := slices.Sorted(maps.Keys(o))
	for _, name := range names {
		Nilable(p, name, new(any), Any)
	}
	for _, name := range names {
		r := o[name]
		p.ConflictsWith(name, r.ConflictsWith...)
		p.RequiredWith(name, r.RequiredWith...)
		if r.ExactlyOneOf != nil {
			p.ExactlyOneOf(append([]string{name}, r.ExactlyOneOf...)...)
		}
	}
}

func TestRelations(t *testing.T) {
	data := must.Get(os.ReadFile("../internal/constraint/testdata/relations.json"))(t)
	var table struct {
		Properties relatedObject
		Cases      [][]json.RawMessage
	}
	if err := json.Unmarshal(data, &table); err != nil || len(table.Cases) < 10 {
		t.Fatalf("parsed %d cases, error %v, want at least 10", len(table.Cases), err)
	}
	for _, c := range table.Cases {
		var value structpb.Value
		must.Do(t, protojson.Unmarshal(c[0], &value))
		bag := value.GetStructValue()
		for name, v := range bag.GetFields() {
			bag.Fields[name] = caseValue(v)
		}
		for _, m := range []mode{strict, lenient} {
			p := newProps(t.Context(), m, nil)
			p.unknown = true
			p.decodeObject(BagOf(bag).Object(), table.Properties)
			got, want := []string{}, []string{}
			for _, f := range p.reported() {
				got = append(got, f.Error())
			}
			for _, raw := range c[1:] {
				var text string
				must.Do(t, json.Unmarshal(raw, &text))
				want = append(want, text)
			}
			if m == lenient {
				want = []string{}
			}
			if !slices.Equal(got, want) {
				t.Errorf("faults of %s = %q, want %q", c[0], got, want)
			}
		}
	}
}
