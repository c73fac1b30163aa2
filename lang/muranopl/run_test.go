package muranopl

import (
	"context"
	"testing"

	"github.com/lumi-idl/lumi/lang/yaql"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// m and l are short names for the types of trees.
type (
	m = map[string]any
	l = []any
)

func class(name string, tree m) *Declaration { return &Declaration{Name: name, Tree: Tree(tree)} }

func x(source string) Expression { return Expression(source) }

func TestClassesFromGo(t *testing.T) {
	in := New(Declarations{
		"test.Counter": class("test.Counter", m{
			"Properties": m{
				"start": m{"Contract": x("$.int().notNull()"), "Default": 40},
				"total": m{"Contract": x("$.int()"), "Usage": "Out"},
			},
			"Methods": m{
				"count": m{
					"Arguments": l{m{"step": m{"Contract": x("$.int()"), "Default": 1}}},
					"Body": l{
						m{"$.total": x("$.start")},
						m{"Repeat": 2, "Do": l{m{"$.total": x("$.total + $step")}}},
						m{"Return": x("$this.total")},
					},
				},
			},
		}),
	}, Options{})
	ctx := context.Background()
	o := must.Get(in.Load(ctx, Tree(m{"?": m{"type": "test.Counter", "id": "c"}})))(t)
	v := must.Get(in.Call(ctx, o, "count"))(t)
	if v != int64(42) {
		t.Errorf("count = %v, want 42", v)
	}
	got, _ := yaql.AppendJSON(nil, in.Save(o))
	const want = `{"?": {"id": "c", "type": "test.Counter"}, "start": 40, "total": 42}`
	if string(got) != want {
		t.Errorf("Save =\n %s, want\n %s", got, want)
	}
}

// An object of a deleted class that was removed from the model cannot be destroyed.
func TestLoadDeletedClass(t *testing.T) {
	in := New(Declarations{"test.A": class("test.A", m{})}, Options{})
	gone := Gone{Model: Tree(m{"?": m{"type": "test.B", "id": "b"}}), ID: "b", Owner: "a"}
	_, err := in.Load(context.Background(), Tree(m{"?": m{"type": "test.A", "id": "a"}}), gone)
	const want = "cannot destroy object b, which was removed from the model: keep its class unchanged for one more deployment: unknown class test.B: did you mean test.A?"
	if err == nil || err.Error() != want {
		t.Errorf("Load =\n %v, want\n %s", err, want)
	}
}

func TestAssignStatic(t *testing.T) {
	in := New(Declarations{
		"A": class("A", m{"Properties": m{
			"n": m{"Contract": x("$.int()"), "Usage": "Static"},
			"d": m{"Contract": m{}, "Usage": "Static", "Default": m{}},
			"p": m{"Contract": x("$.int()")},
		}}),
		"B": class("B", m{"Methods": m{
			"set":    m{"Body": l{m{":A.n": "5"}, m{":A.d.k": 6}, m{"Return": l{x(":A.n"), x(":A.d.k")}}}},
			"object": m{"Body": l{m{":A.p": 1}}},
			"none":   m{"Body": l{m{":A.q": 1}}},
		}}),
	}, Options{})
	ctx := context.Background()
	o, err := in.Load(ctx, Tree(m{"?": m{"type": "B", "id": "b"}}))
	if err != nil {
		t.Fatal(err)
	}
	for method, want := range map[string]string{
		"set":    "[5, 6]",
		"object": "property p of class A is not static",
		"none":   "class A has no property q",
	} {
		v, err := in.Call(ctx, o, method)
		text, _ := yaql.AppendJSON(nil, v)
		if err != nil {
			text = []byte(err.Error())
		}
		if string(text) != want {
			t.Errorf("%s = %s\nwant %s", method, text, want)
		}
	}
}
