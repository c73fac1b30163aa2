package yaql

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// saying returns a function that returns text.
func saying(text string, declare func(string, string, func(*Call) (any, error)) *Function, name, params string) *Function {
	return declare(name, params, func(*Call) (any, error) { return text, nil })
}

func TestOverloads(t *testing.T) {
	opts := DefaultOptions()
	functions := []*Function{
		saying("any", Func, "f", "x any"), saying("iterable", Func, "f", "x iterable"), saying("list", Func, "f", "x sequence"),
		saying("left", Func, "g", "x int, y any"), saying("right", Func, "g", "x any, y int"),
		saying("lazy", Func, "l", "x lambda"), saying("eager", Func, "l", "x int"),
		saying("string", Func, "len", "x string"),
		saying("method", Method, "m", "x any"), saying("function", Func, "m", "x any"),
		saying("keyword", Func, "k", "x keyword"), saying("value", Func, "k", "x any"),
		saying("named", Func, "n", "a int, b int=2, *rest string, c any=null"),
		saying("pairs", Func, "p", "*x pair").WithoutKeywords(), saying("plain", Func, "p", "x int"),
		saying("others", Func, "o", "x int=unset, **others string"),
		saying("rule", Func, "r", "*x rule").WithoutKeywords(),
	}
	for source, want := range map[string]string{
		"f(1)": "any", "f([])": "list", "f([1].select($))": "iterable", "f(null)": "any",
		"g(1, a)": "left", "g(a, 1)": "right", "g(1, 1)": "1:1: several overloads of function g accept (integer, integer)",
		"g(a, a)": "1:1: no overload of function g accepts (string, string)",
		"l(1)":    "1:1: several overloads of function l accept (integer)", "l(a)": "lazy",
		"l(1 + 1)": "1:1: several overloads of function l accept (an expression)",
		"len(a)":   "string", "len([1])": "int",
		"m(1)": "function", "1.m()": "method", "1.f()": "1:3: unknown method f of integer", "f_(1)": "any", "1.m__()": "method",
		"k(a)": "1:1: several overloads of function k accept (string)", "k('a')": "value",
		"n(1)": "named", "n(1, b => 3)": "named", "n(b => 3, a => 1)": "named", "n(1, , x, c => 1)": "named",
		"n(1, a => 2)": "1:1: no overload of function n accepts (integer, a => integer)",
		"n(1, 2, 3)":   "1:1: no overload of function n accepts (integer, integer, integer)",
		"n(1, d => 2)": "1:1: no overload of function n accepts (integer, d => integer)",
		"n()":          "1:1: no overload of function n accepts ()",
		"n(a => x)":    "1:1: no overload of function n accepts (a => string)",
		"p(1)":         "1:1: several overloads of function p accept (integer)",
		"o(1, y => a)": "others", "o(y => 1)": "1:1: no overload of function o accepts (y => integer)", "o()": "others",
		"r(1 => 2, a => 3)": "rule", "r(1)": "1:1: no overload of function r accepts (integer)",
		"r(" + strings.Repeat("f() => 1,", 99) + "1 => 2)": "rule",
		"call(n, [1] * 100, {x => 1})":                     "1:1: no overload of function n accepts (" + strings.Repeat("integer, ", 10) + "...)",
	} {
		v, err := evaluate(t.Context(), source, opts, functions...)
		got, ok := v.(string)
		if err != nil {
			got = err.Error()
		} else if !ok {
			got = typeName(v)[:3]
		}
		expect.Equal(t, want, got, source)
	}
}

func TestContexts(t *testing.T) {
	outer := New(Standard(false))
	outer.Register(saying("outer", Func, "f", "x any"), saying("outer", Func, "g", "x any"))
	inner := New(outer)
	inner.Register(saying("inner", Func, "f", "x string"))
	inner.RegisterExclusive(saying("inner", Func, "g", "x string"))
	late := New(outer)
	outer.Set("v", "outer")
	late.Register(Func("#operator_+", "x int, y int", func(*Call) (any, error) { return "sum", nil }),
		Func(opVariable, "name string", func(c *Call) (any, error) { return "value of " + c.String(0), nil }))
	for _, c := range []struct {
		in           *Context
		source, want string
	}{
		{inner, "f(a)", "inner"}, {inner, "f(1)", "outer"}, {outer, "f(a)", "outer"},
		{inner, "g(a)", "inner"}, {inner, "g(1)", "1:1: no overload of function g accepts (integer)"},
		{inner, "$v", "outer"}, {late, "1 + 1", "sum"}, {late, "a + b", "ab"}, {late, "$v", "value of $v"},
		{New(nil), "1 + 1", "1:3: unknown operator +"}, {New(nil), "$", "1:1: unknown function #get_context_data"}, {New(nil), "a", "a"},
	} {
		x := must.Get(Compile(c.source))(t)
		v, err := x.EvaluateIn(t.Context(), c.in)
		got, _ := v.(string)
		if err != nil {
			got = err.Error()
		}
		expect.Equal(t, c.want, got, c.source)
	}
}

func TestHostErrors(t *testing.T) {
	failure := errors.New("no connection")
	_, err := evaluate(t.Context(), "1 +\n fail()", DefaultOptions(), Func("fail", "", func(*Call) (any, error) { return nil, failure }))
	var e *Error
	if !errors.As(err, &e) || e.Kind != Internal || !errors.Is(err, failure) || err.Error() != "2:2: no connection" {
		t.Errorf("evaluate = %v, want 2:2: no connection", err)
	}
}

func TestDeclarations(t *testing.T) {
	for params, want := range map[string]string{
		"x": `parameter "x" has no type`, "x strin": `unknown type "strin"`, "x int=y": `invalid default "y"`,
	} {
		func() {
			defer func() {
				if got := recover(); got == nil || !strings.HasSuffix(got.(string), want) {
					t.Errorf("panic for declaration %q = %v, want %s", params, got, want)
				}
			}()
			Func("f", params, nil)
		}()
	}
}

func TestOptions(t *testing.T) {
	var o Options
	for name, value := range map[string]any{"yaql.limitIterators": 5.0, "memoryQuota": int64(6), "convertSetsToLists": true} {
		must.Do(t, o.Set(name, value))
	}
	for name, want := range map[string]Options{"depth": {Depth: 1000}, "memoryQuota": {MemoryQuota: 1 << 40}} {
		var p Options
		must.Do(t, p.Set(name, 1e300))
		if p.finite(); p.Depth != cmp.Or(want.Depth, 200) || p.MemoryQuota != cmp.Or(want.MemoryQuota, 256<<20) {
			t.Errorf("options with %s 1e300 = %+v, want finite limits", name, p)
		}
	}
	if o.LimitIterators != 5 || o.MemoryQuota != 6 || !o.ConvertSetsToLists {
		t.Errorf("options = %+v, want the values that were set", o)
	}
	for name, want := range map[string]string{
		"memoryqouta": "unknown option memoryqouta (did you mean memoryQuota?)", "delegates": "option delegates must be true or false",
		"depth": "option depth must be a number",
	} {
		if err := o.Set(name, "x"); err == nil || err.Error() != want {
			t.Errorf("Set(%s) = %v, want %s", name, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"$.where($ > 1).select({a => $.b[0]})", "f(1,,a => `x`)", "-1.5 =~ 'é\\x41' -> $f(1)(2)", "not not a?.b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		x, err := Compile(source, delegates)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Line == 0 || e.Snippet() == "" {
				t.Fatalf("Compile(%q) = %#v, want an *Error with a position", source, err)
			}
			return
		}
		again, err := Compile(x.String(), delegates)
		if err != nil || dump(again.root) != dump(x.root) {
			t.Fatalf("String of %q = %q, which is not equivalent (error: %v)", source, x, err)
		}
	})
}

func FuzzEvaluate(f *testing.F) {
	f.Add("$.l.where($ > 1).select($ * 'a').len()", uint8(1))
	f.Add("def(f, f($) + [$]) -> f(1)", uint8(2))
	f.Add("{a => 1, [1] => $.d}[a] + 2.5 mod -3", uint8(0))
	f.Fuzz(func(t *testing.T, source string, flags uint8) {
		opts := DefaultOptions()
		opts.LimitIterators, opts.MemoryQuota, opts.Depth = 100, 1<<16, 30
		opts.Delegates, opts.IterableDicts, opts.ConvertOutputData = flags&1 != 0, flags&2 != 0, flags&4 == 0
		x, err := Compile(source, WithOptions(opts))
		if err != nil {
			return
		}
		// Nested loops within the limits may run for a long time, but can be canceled.
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		start := time.Now()
		v, err := x.Evaluate(ctx, map[string]any{"l": []any{1, 2.5, "a", nil}, "d": map[string]any{"a": 1}})
		if took := time.Since(start); took > 2*time.Second {
			t.Fatalf("Evaluate(%q) took %v, want it canceled after 100ms", source, took)
		}
		var e *Error
		if err != nil && (!errors.As(err, &e) || e.Kind == Internal || e.Line == 0) {
			t.Fatalf("Evaluate(%q) = %#v, want an *Error with a position", source, err)
		}
		if size := sizeOf(v); size > opts.MemoryQuota {
			t.Fatalf("Evaluate(%q) returned %d bytes, want at most %d", source, size, opts.MemoryQuota)
		}
	})
}
