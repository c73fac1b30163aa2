package lumi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// record has a relation between properties, and a list of unique structs that have a property with a default.
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
	lumi.Optional(p, "zoneID", &r.ZoneID, lumi.With(lumi.String, lumi.MaxLength(3)))
	lumi.Optional(p, "zoneName", &r.ZoneName, lumi.String)
	lumi.Required(p, "parts", &r.Parts, lumi.With(lumi.List(lumi.Struct[*part]()), lumi.Unique()))
	lumi.Nilable(p, "sizes", &r.Sizes, lumi.With(lumi.Map(lumi.With(lumi.Number, lumi.Max(10))), lumi.MaxProperties(2)))
	p.ConflictsWith("zoneID", "zoneName")
}

func (r *part) Lumi(p *lumi.Props) {
	lumi.Required(p, "v", &r.V, lumi.Number)
	lumi.Optional(p, "c", &r.C, lumi.With(lumi.String, lumi.Default("red")))
}

// filling implements operations whose Check calls fill.
type filling[P lumi.Object] struct {
	empty func() P
	fill  func(P)
}

func (o filling[P]) Check(_ context.Context, want *lumi.State[P]) error {
	if o.fill != nil {
		o.fill(want.Properties)
	}
	return nil
}
func (filling[P]) Create(context.Context, *lumi.State[P]) (lumi.ID, error)   { return "1", nil }
func (o filling[P]) Get(context.Context, lumi.ID, *lumi.State[P]) (P, error) { return o.empty(), nil }
func (filling[P]) Update(context.Context, *lumi.State[P], *lumi.State[P], *lumi.Diff) error {
	return nil
}
func (filling[P]) Delete(context.Context, *lumi.State[P]) error { return nil }

// accept calls Check and passes its result to all later operations, which must succeed. It returns the error of Check.
func accept[P lumi.Object](t interface {
	Helper()
	Fatalf(string, ...any)
}, empty func() P, fill func(P), given lumi.Bag) error {
	t.Helper()
	ctx := context.Background()
	p := lumi.NewNamedProvider("test:index:Record", empty, filling[P]{empty, fill})
	checked, err := p.Check(ctx, &lumi.CheckRequest{Properties: given})
	if err != nil {
		return err
	}
	if _, err := p.Name(ctx, &lumi.NameRequest{Properties: checked.Properties}); err != nil {
		t.Fatalf("Check accepted %v, but Name returned %v", given, err)
	}
	if _, err := p.Create(ctx, &lumi.CreateRequest{Properties: checked.Properties}); err != nil {
		t.Fatalf("Check accepted %v, but Create returned %v", given, err)
	}
	change := &lumi.InspectChangeRequest{ID: "1", Old: checked.Properties, New: checked.Properties}
	if _, err := p.InspectChange(ctx, change); err != nil {
		t.Fatalf("Check accepted %v, but InspectChange returned %v", given, err)
	}
	if _, err := p.Update(ctx, &lumi.UpdateRequest{ID: change.ID, Old: change.Old, New: change.New}); err != nil {
		t.Fatalf("Check accepted %v, but Update returned %v", given, err)
	}
	return nil
}

func emptyRecord() *record { return &record{} }

func TestCheckValidatesDefaults(t *testing.T) {
	for _, test := range []struct{ parts, want string }{
		{`[{"v": 1}, {"v": 1, "c": "red"}]`, "parts: must have no equal elements, but [0] and [1] are equal"},
		{`[{"v": 1}, {"v": 1, "c": null}]`, "parts: must have no equal elements, but [0] and [1] are equal"},
		{`[{"v": 1}, {"v": 1, "c": {"$sig": "$secret", "value": "red"}}]`, "parts: must have no equal elements, but [0] and [1] are equal"},
		{`[{"v": 1}, {"v": 1, "c": "blue"}, {"v": 2}]`, ""},
		{`[{}, {"v": 0}]`, "parts[0].v: is required, but missing"},
	} {
		got := ""
		if err := accept(t, emptyRecord, nil, bag(t, `{"name": "a", "parts": `+test.parts+`}`)); err != nil {
			got = err.Error()
		}
		expect.Equal(t, test.want, got, test.parts)
	}
}

func TestCheckSetsProperties(t *testing.T) {
	given := bag(t, `{"name": "a", "zoneName": "z", "parts": [{"v": 1}]}`)
	fill := func(id string) func(*record) { return func(r *record) { r.ZoneID = &id } }
	must.Do(t, accept(t, emptyRecord, fill("z1"), given))
	const refused = "the provider returned an invalid result: zoneID: must have at most 3 characters, found 4"
	if err := accept(t, emptyRecord, fill("long"), given); err == nil || err.Error() != refused {
		t.Errorf("Check error = %v, want %s", err, refused)
	}
	if err := accept(t, emptyRecord, nil, bag(t, `{"name": "a", "zoneName": "z", "zoneID": "z1", "parts": []}`)); err == nil ||
		err.Error() != "zoneID: cannot be combined with zoneName" {
		t.Errorf("Check error = %v, want conflicting properties", err)
	}
}

// drawn has properties of random types, which the function declares declares like a stub.
type drawn struct {
	of      func(*drawn, *lumi.Props)
	name    string
	texts   [3]*string
	numbers [2]*float64
	parts   []part
	sizes   map[string]float64
}

func (o *drawn) Lumi(p *lumi.Props) { o.of(o, p) }

// drawType draws constraints, defaults that satisfy them, and relations between optional properties without defaults.
func drawType(t *rapid.T) func(*drawn, *lumi.Props) {
	is := func(label string) bool { return rapid.Bool().Draw(t, label) }
	upTo := func(n int) int { return rapid.IntRange(0, n).Draw(t, "number") }
	var texts [3]lumi.Codec[*string]
	var numbers [2]lumi.Codec[*float64]
	related := []string{"parts", "sizes"}
	for i := range texts {
		texts[i] = lumi.String
		if is("constrained") {
			texts[i] = lumi.With(texts[i], lumi.MinLength(upTo(3)), lumi.MaxLength(3+upTo(1)), lumi.Pattern("^[a-z]*$"))
		}
		if is("default") {
			texts[i] = lumi.With(texts[i], lumi.Default("red"))
		} else {
			related = append(related, fmt.Sprint("text", i))
		}
	}
	for i := range numbers {
		numbers[i] = lumi.Number
		if is("constrained") {
			numbers[i] = lumi.With(
				numbers[i], lumi.Min(float64(upTo(2))), lumi.ExclusiveMax(3+float64(upTo(9))), lumi.MultipleOf(1))
		}
		if is("default") {
			numbers[i] = lumi.With(numbers[i], lumi.Default(2.0))
		} else {
			related = append(related, fmt.Sprint("number", i))
		}
	}
	parts, sizes := lumi.List(lumi.Struct[*part]()), lumi.Map(lumi.With(lumi.Number, lumi.Max(10)))
	if is("unique") {
		parts = lumi.With(parts, lumi.Unique())
	}
	if is("constrained") {
		parts = lumi.With(parts, lumi.MinItems(upTo(1)), lumi.MaxItems(1+upTo(2)))
		sizes = lumi.With(sizes, lumi.MaxProperties(1+upTo(2)), lumi.KeyPattern("^[a-z]*$"))
	}
	names := rapid.Permutation(related).Draw(t, "related")
	relation := upTo(3)
	return func(o *drawn, p *lumi.Props) {
		lumi.Required(p, "name", &o.name, lumi.String)
		for i := range texts {
			lumi.Optional(p, fmt.Sprint("text", i), &o.texts[i], texts[i])
		}
		for i := range numbers {
			lumi.Optional(p, fmt.Sprint("number", i), &o.numbers[i], numbers[i])
		}
		lumi.Nilable(p, "parts", &o.parts, parts)
		lumi.Nilable(p, "sizes", &o.sizes, sizes)
		switch relation {
		case 1:
			p.ConflictsWith(names[0], names[1])
		case 2:
			p.RequiredWith(names[0], names[1])
		case 3:
			p.ExactlyOneOf(names[0], names[1])
		}
	}
}

// All other operations accept the result of Check, for any types, values, and values set by the author.
func TestCheckResultAccepted(outer *testing.T) {
	accepted := 0
	rapid.Check(outer, func(t *rapid.T) {
		of := drawType(t)
		text := rapid.SampledFrom([]string{"", "red", "blue", "Long ones"})
		number := rapid.SampledFrom([]float64{-1, 0, 0.5, 1, 2, 3, 11})
		given := map[string]any{"name": "a"}
		maybe := func(name string, draw func() any) {
			if rapid.Bool().Draw(t, "has "+name) {
				given[name] = draw()
			}
		}
		for i := range 3 {
			maybe(fmt.Sprint("text", i), func() any { return text.Draw(t, "text") })
		}
		for i := range 2 {
			maybe(fmt.Sprint("number", i), func() any { return number.Draw(t, "number") })
		}
		maybe("sizes", func() any { return rapid.MapOfN(text, number, 0, 3).Draw(t, "sizes") })
		maybe("parts", func() any {
			parts := []any{}
			for range rapid.IntRange(0, 3).Draw(t, "parts") {
				parts = append(parts, map[string]any{"v": number.Draw(t, "v"), "c": rapid.OneOf(rapid.Just[any](nil), text.AsAny()).Draw(t, "c")})
			}
			return parts
		})
		fill := func(o *drawn) {
			switch rapid.IntRange(0, 5).Draw(t, "fill") {
			case 0:
				o.texts[rapid.IntRange(0, 2).Draw(t, "at")] = new(text.Draw(t, "filled"))
			case 1:
				o.numbers[rapid.IntRange(0, 1).Draw(t, "at")] = new(number.Draw(t, "filled"))
			case 2:
				o.parts = append(o.parts, part{V: 1})
			case 3:
				o.sizes = map[string]float64{"a": 1, "B": number.Draw(t, "size")}
			case 4:
				o.parts, o.texts[0] = nil, nil
			}
		}
		data := must.Get(json.Marshal(given))(t)
		if accept(t, func() *drawn { return &drawn{of: of} }, fill, bag(outer, string(data))) == nil {
			accepted++
		}
	})
	if accepted < 10 && !testing.Short() { // About a fifth of the bags is accepted.
		outer.Errorf("Check accepted %d bags, want at least 10", accepted)
	}
}
