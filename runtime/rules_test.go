package lumi

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/internal/property"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// ruledObject has properties of the kinds in a shape of the shared test table, and one rule.
type ruledObject struct {
	shape map[string]any
	rules *RuleSet
}

func (o *ruledObject) Lumi(p *Props) {
	if o.rules != nil {
		p.Rules(o.rules)
	}
	for _, name := range slices.Sorted(maps.Keys(o.shape)) {
		switch kind := o.shape[name].(type) {
		case string:
			declareKind(p, name, kind)
		case map[string]any:
			Optional(p, name, new(*ruledObject), Codec[*ruledObject]{codec: nested{kind}})
		}
	}
}

func declareKind(p *Props, name, kind string) {
	switch kind {
	case "string":
		Optional(p, name, new(*string), String)
	case "number":
		Optional(p, name, new(*float64), Number)
	case "boolean":
		Optional(p, name, new(*bool), Bool)
	case "list":
		Nilable(p, name, new([]string), List(String))
	case "map":
		Nilable(p, name, new(map[string]string), Map(String))
	}
}

// nested decodes an object of a shape.
type nested struct{ shape map[string]any }

func (n nested) decode(p *Props, v *property.Value, _ any) bool {
	return structCodec{}.decode(p, v, &ruledObject{shape: n.shape})
}
func (n nested) encode(*Props, any) property.Value { return property.Value{} }
func (n nested) kind() Kind                        { return KindObject }

// ruleTable is internal/rule/testdata/cases.json.
type ruleTable struct {
	Shape map[string]any
	Cases []struct {
		Rule   json.RawMessage
		Values [][]json.RawMessage
	}
}

func TestRules(t *testing.T) {
	var table ruleTable
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile("../internal/rule/testdata/cases.json"))(t), &table))
	if len(table.Cases) < 20 {
		t.Fatalf("only %d cases", len(table.Cases))
	}
	for _, c := range table.Cases {
		o := &ruledObject{table.Shape, Rules("fails", string(c.Rule))}
		for _, row := range c.Values {
			var value structpb.Value
			must.Do(t, protojson.Unmarshal(row[0], &value))
			want := []string{}
			for _, raw := range row[1:] {
				if string(raw) != `"holds"` {
					var text string
					must.Do(t, json.Unmarshal(raw, &text))
					want = append(want, text)
				}
			}
			got := []string{}
			object := property.FromMessage(caseValue(&value))
			for _, f := range o.faults(t, &object, strict, false) {
				got = append(got, f.Error())
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s of %s: %q, want %q", c.Rule, row[0], got, want)
			}
			if slices.Contains(want, "fails") && len(want) == 1 && len(o.faults(t, &object, lenient, false))+len(o.faults(t, &object, strict, true)) > 0 {
				t.Errorf("%s judges state or the result of Check", c.Rule)
			}
		}
	}
}

func (o *ruledObject) faults(t testing.TB, object *property.Value, m mode, checked bool) []Fault {
	t.Helper()
	p := newProps(t.Context(), m, nil)
	p.unknown, p.checked = true, checked
	p.decodeObject(object, o)
	return p.reported()
}

func TestInvalidRule(t *testing.T) {
	defer func() {
		const want = `lumi: invalid rule ["a" "[\"&&\", true]"]: && has 1 operands`
		if got := recover(); got != want {
			t.Errorf("panic %v, want %s", got, want)
		}
	}()
	o := &ruledObject{rules: Rules("a", `["&&", true]`)}
	o.faults(t, nil, strict, false)
}

func BenchmarkRules(b *testing.B) {
	p := newProps(b.Context(), strict, nil)
	p.object = BagOf(must.Get(structpb.NewStruct(map[string]any{"protocol": "tcp", "from": 80.0, "to": 443.0}))(b)).Object()
	p.rules = Rules(
		"the first port is above the last",
		`["||", ["&&", ["!=", ["get", "protocol"], "tcp"], ["!=", ["get", "protocol"], "udp"]], ["<=", ["get", "from"], ["get", "to"]]]`,
	)
	b.ReportAllocs()
	for b.Loop() {
		p.checkRules(0)
	}
	if len(p.faults) > 0 {
		b.Fatal(p.faults)
	}
}
