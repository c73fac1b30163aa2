package lumi_test

import (
	"context"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// record has a relation, and a list of unique elements with a default.
type record struct {
	Name             string
	ZoneID, ZoneName *string
	Parts            []part
	Sizes            map[string]float64
}

type part struct {
	V float64
	C *string
}

func (r *record) Lumi(p *lumi.Props) {
	lumi.Required(p, "name", &r.Name, lumi.String)
	lumi.Optional(p, "zoneID", &r.ZoneID, lumi.String.MaxLength(3))
	lumi.Optional(p, "zoneName", &r.ZoneName, lumi.String)
	lumi.Required(p, "parts", &r.Parts, lumi.List(lumi.Struct[*part]()).Unique())
	lumi.Nilable(p, "sizes", &r.Sizes, lumi.Map(lumi.Number.Max(10)).MaxProperties(2))
	p.ConflictsWith("zoneID", "zoneName")
}

func (r *part) Lumi(p *lumi.Props) {
	lumi.Required(p, "v", &r.V, lumi.Number)
	lumi.Optional(p, "c", &r.C, lumi.String.Default("red"))
}

// records are operations whose Check does what fill does.
type records struct{ fill func(*record) }

func (o records) Check(_ context.Context, want *lumi.State[*record]) error {
	if o.fill != nil {
		o.fill(want.Properties)
	}
	return nil
}
func (records) Create(context.Context, *lumi.State[*record]) (lumi.ID, error) { return "1", nil }
func (records) Get(context.Context, lumi.ID, *lumi.State[*record]) (*record, error) {
	return &record{}, nil
}
func (records) Update(context.Context, *lumi.State[*record], *lumi.State[*record], *lumi.Diff) error {
	return nil
}
func (records) Delete(context.Context, *lumi.State[*record]) error { return nil }

// accept calls what follows a Check with what that returned, and returns the error of Check.
func accept(t interface {
	Helper()
	Fatalf(string, ...any)
}, fill func(*record), given lumi.Bag) error {
	t.Helper()
	ctx := context.Background()
	p := lumi.NewNamedProvider("test:index:Record", func() *record { return &record{} }, records{fill})
	checked, err := p.Check(ctx, &lumi.CheckRequest{Properties: given})
	if err != nil {
		return err
	}
	if _, err := p.Name(ctx, &lumi.NameRequest{Properties: checked.Properties}); err != nil {
		t.Fatalf("Check accepts %v, Name returns %v", given, err)
	}
	if _, err := p.Create(ctx, &lumi.CreateRequest{Properties: checked.Properties}); err != nil {
		t.Fatalf("Check accepts %v, Create returns %v", given, err)
	}
	change := &lumi.InspectChangeRequest{ID: "1", Old: checked.Properties, New: checked.Properties}
	if _, err := p.InspectChange(ctx, change); err != nil {
		t.Fatalf("Check accepts %v, InspectChange returns %v", given, err)
	}
	if _, err := p.Update(ctx, (*lumi.UpdateRequest)(change)); err != nil {
		t.Fatalf("Check accepts %v, Update returns %v", given, err)
	}
	return nil
}

func TestCheckJudgesDefaults(t *testing.T) {
	for _, test := range []struct{ parts, want string }{
		{`[{"v": 1}, {"v": 1, "c": "red"}]`, "parts: must have no equal elements, but [0] and [1] are equal"},
		{`[{"v": 1}, {"v": 1, "c": null}]`, "parts: must have no equal elements, but [0] and [1] are equal"},
		{`[{"v": 1}, {"v": 1, "c": {"$sig": "$secret", "value": "red"}}]`, "parts: must have no equal elements, but [0] and [1] are equal"},
		{`[{"v": 1}, {"v": 1, "c": "blue"}, {"v": 2}]`, ""},
		{`[{}, {"v": 0}]`, "parts[0].v: is required, but missing"},
	} {
		got := ""
		if err := accept(t, nil, bag(t, `{"name": "a", "parts": `+test.parts+`}`)); err != nil {
			got = err.Error()
		}
		expect.Equal(t, test.want, got, test.parts)
	}
}

func TestCheckFillsIn(t *testing.T) {
	given := bag(t, `{"name": "a", "zoneName": "z", "parts": [{"v": 1}]}`)
	fill := func(id string) func(*record) { return func(r *record) { r.ZoneID = &id } }
	must.Do(t, accept(t, fill("z1"), given))
	const refused = "the provider computed properties that cannot be sent: zoneID: must have at most 3 characters, found 4"
	if err := accept(t, fill("long"), given); err == nil || err.Error() != refused {
		t.Errorf("got %v", err)
	}
	if err := accept(t, nil, bag(t, `{"name": "a", "zoneName": "z", "zoneID": "z1", "parts": []}`)); err == nil ||
		err.Error() != "zoneID: cannot be combined with zoneName" {
		t.Errorf("got %v", err)
	}
}

// TestChecked checks any values, with anything filled in: what Check returns, no other operation refuses.
func TestChecked(outer *testing.T) {
	accepted := 0
	rapid.Check(outer, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"", "red", "blue", "long"})
		text0 := rapid.OneOf(rapid.Just[any](nil), text.AsAny())
		number := rapid.SampledFrom([]any{0, 1, 2, 3, 11})
		var parts []any
		for range rapid.IntRange(0, 3).Draw(t, "parts") {
			parts = append(parts, map[string]any{"v": number.Draw(t, "v"), "c": text0.Draw(t, "c")})
		}
		data := must.Get(json.Marshal(map[string]any{
			"name": "a", "zoneID": text0.Draw(t, "id"), "zoneName": text0.Draw(t, "zone"), "parts": append([]any{}, parts...),
			"sizes": rapid.MapOfN(text, number, 0, 3).Draw(t, "sizes"),
		}))(t)
		fill := func(r *record) {
			switch rapid.IntRange(0, 4).Draw(t, "fill") {
			case 0:
				id := text.Draw(t, "filled")
				r.ZoneID = &id
			case 1:
				r.Parts = append(r.Parts, part{V: 1})
			case 2:
				r.Sizes = map[string]float64{"a": 1, "b": float64(rapid.IntRange(9, 11).Draw(t, "size"))}
			case 3:
				r.Parts = nil
			}
		}
		if accept(t, fill, bag(outer, string(data))) == nil {
			accepted++
		}
	})
	if accepted < 10 && !testing.Short() { // which tries a fifth
		outer.Errorf("Check accepted %d bags", accepted)
	}
}
