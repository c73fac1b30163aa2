package muranopl

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/lang/yaql"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// random generates trees of classes and models from meaningful parts.
type random struct{ *rand.Rand }

func (r random) pick(from ...any) any { return from[r.IntN(len(from))] }

var randomNames = []any{"A", "B", "C", "D", "E"}

func (r random) expression() Expression {
	source := r.pick("$", "$.int()", "$.string()", "$.class(A)", "$.class(B, C)", "$.class(D)", "$.notNull()", "$.p", "$this.q", "$.p.q",
		"$.check($ > 1)", "$.owned()", "$.notOwned()", "$.bool()", "new(A)", "new(B, $this)", "new(C, p => 1)", "$.m()", "$.find(A)", "$.super($.m())",
		"[$]", "{a => $.p}", "1 + ", "$.unknown()", "new($)", "new({'?' => {type => A}})", "$.p.m($)", "$this", "cast($, B)", "psuper($, $.m())",
		"sleep(1)", "$x", ":A", "x:B").(string)
	for r.IntN(3) == 0 {
		source += r.pick(".int()", ".notNull()", ".class(A)", ".p", ".check($this.p)", " = 1", ".string()").(string)
	}
	return Expression(source)
}

func (r random) value(depth int) any {
	switch n := r.IntN(12); {
	case n < 4 || depth == 0:
		return r.pick(nil, true, 1, -7, 2.5, "a", "08", "A", "1", "2", "3", Expression("$.p"))
	case n < 6:
		return r.expression()
	case n < 8:
		var items []any
		for range r.IntN(3) {
			items = append(items, r.value(depth-1))
		}
		return items
	case n < 10:
		d := m{}
		for range r.IntN(3) {
			d[r.pick("p", "q", "a", "$.int()", "$.string()", ":A", "?", "Do", "For").(string)] = r.value(depth - 1)
		}
		return d
	}
	return r.model(depth - 1)
}

func (r random) model(depth int) any {
	d := m{"?": m{"type": r.pick(randomNames...)}}
	if r.IntN(2) == 0 {
		d["?"].(m)["id"] = r.pick("1", "2", "3", "4", 5, nil)
	}
	for _, p := range []string{"p", "q"} {
		if r.IntN(2) == 0 {
			d[p] = r.value(depth)
		}
	}
	return d
}

func (r random) block(depth int) any {
	var body []any
	for range 1 + r.IntN(3) {
		switch r.IntN(8) {
		case 0:
			body = append(body, m{r.pick("$.p", "$x", "$.q.a", "$.p[0]", "$.p.append()", "$this.y", "$.insert(1)").(string): r.value(2)})
		case 1:
			body = append(body, m{"Return": r.value(1)})
		case 2:
			if depth > 0 {
				body = append(body, m{"Try": r.block(depth - 1), "Catch": m{"As": "e", "Do": r.block(depth - 1)}})
			}
		case 3:
			if depth > 0 {
				body = append(body, m{"While": r.value(1), "Do": r.block(depth - 1)})
			}
		case 4:
			if depth > 0 {
				body = append(body, m{"Parallel": r.block(depth - 1), "Limit": r.value(0)})
			}
		default:
			body = append(body, r.expression())
		}
	}
	return body
}

func (r random) class() m {
	c := m{"Properties": m{}, "Methods": m{"m": m{"Body": r.block(2)}}}
	if r.IntN(2) == 0 {
		c["Extends"] = r.pick(r.pick(randomNames...), []any{r.pick(randomNames...), r.pick(randomNames...)}, r.value(1))
	}
	for _, p := range []string{"p", "q", "r"} {
		if r.IntN(2) == 0 {
			s := m{"Contract": r.pick(r.expression(), r.expression(), r.value(2)), "Usage": r.pick("In", "Out", "InOut", "Runtime", "Const", "x", nil)}
			if r.IntN(2) == 0 {
				s["Default"] = r.value(2)
			}
			c["Properties"].(m)[p] = s
		}
	}
	for _, name := range []string{".init", "destroy"} {
		if r.IntN(3) == 0 {
			c["Methods"].(m)[name] = m{"Arguments": r.pick(nil, []any{m{"p": m{"Contract": r.expression()}}}, r.value(2)), "Body": r.block(1)}
		}
	}
	if r.IntN(10) == 0 {
		c[r.pick("Properties", "Methods", "Namespaces", "Extends", "Workflow").(string)] = r.value(2)
	}
	return c
}

func FuzzModels(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := random{rand.New(rand.NewPCG(seed, 1))}
		classes := Declarations{}
		var names []string
		for _, name := range randomNames {
			classes[name.(string)] = class(name.(string), r.class())
			names = append(names, name.(string))
		}
		before := time.Now()
		checked := Check(classes, names, Known{})
		for _, e := range checked {
			if strings.TrimSpace(e.Message) == "" {
				t.Errorf("error has no message: %#v", e)
			}
		}
		options := Options{MaxSteps: 2000, Sleep: func(context.Context, time.Duration) error { return nil }}
		in := New(classes, options)
		for range 3 {
			o, err := in.Load(t.Context(), Tree(r.model(4)))
			if err != nil {
				if e := (*Error)(nil); !errors.As(err, &e) {
					t.Errorf("Load returned a %T, want an *Error: %s", err, err)
				}
				continue
			}
			_, _ = in.Call(t.Context(), o, "m")
			text, err := yaql.AppendJSON(nil, in.Save(o))
			if err != nil {
				t.Error(err)
			}
			again := New(classes, options)
			model := must.Get(yaql.FromJSON(text))(t)
			_, _ = again.loadModel(again.host(), model.(*yaql.Dict), nil, true)
			in.Destroy(t.Context(), o)
		}
		if took := time.Since(before); took > 10*time.Second {
			t.Errorf("the run took %s, want at most 10s", took)
		}
	})
}
