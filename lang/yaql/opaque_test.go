package yaql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/test/kit/must"
)

var errUnseen = errors.New("the output cannot be used")

// unseen is an opaque value that can be concatenated with strings.
type unseen struct{ parts []any }

func (*unseen) YAQLOpaque() error { return errUnseen }

func (*unseen) YAQLText(parts []any) (any, error) { return &unseen{parts}, nil }

// passes lists the parameters that accept an opaque value, because the function passes it on, converts it to an opaque
// string, or ignores it. Lambdas may return it if the function only passes on their results.
var passes = strings.Fields(`
	#call(*args) #call(**kwargs) #indexer(default) #list(*args) #map(*args) #operator_->(right) #operator_.(expr)
	#operator_.(receiver)
	#operator_or(right) accumulate(seed) accumulate(selector) aggregate(seed) aggregate(selector) append(*args) def(func)
	dict(*args) first(default) generate(producer) generate(selector) generateMany(selector) get(default)
	groupBy(aggregator) groupBy(valueSelector) insert(value) join(selector) lambda(func) last(default) let(*args)
	let(**variables) list(*args) map(selector) mergeWith(itemMerger) mergeWith(listMerger) reduce(seed) reduce(selector)
	repeat(value) replace(value) select(selector) set(*args) set(value) switch(*args) switchCase(*args)
	toDict(valueSelector) with(*args)
	#operator_+(left) #operator_+(right) concat(*args) format(*args) format(**kwargs)`)

// measures lists functions whose results do not depend on the values in a collection.
var measures = strings.Fields(`
	#call #indexer #operator_+ #operator_. #operator_< #operator_<= #operator_> #operator_>= #operator_in
	#unary_operator_not aggregate all any bool contains containsKey count defaultIfEmpty deleteAll first format generate
	get indexWhere isBoolean isDatetime isDict isInteger isIterable isList isNumber isRegex isSet isString isTimespan
	join keys last lastIndexWhere len map reduce select selectMany set skip skipWhile splitWhere toDict unpack
	zipLongest`)

// TestOpaque calls every function with an opaque value as each of its arguments, both directly and within lists and
// dictionaries. Functions that do not pass the value on must return its error.
func TestOpaque(t *testing.T) {
	root := New(Standard(true))
	var passed, measured []string
	opts := DefaultOptions()
	opts.LimitIterators = 1000
	for _, f := range root.Functions() {
		for i := range f.fixed() + 2 {
			p := f.Rest
			label := "*"
			switch {
			case i < f.fixed():
				p, label = f.param(i), ""
			case i > f.fixed():
				p, label = f.Others, "**"
			}
			if p == nil {
				continue
			}
			label = fmt.Sprintf("%s(%s%s)", f.Name, label, p.Name)
			for form, v := range opaqueForms() {
				if _, rule := v.(node); rule != (p.typ.passing == asRule) {
					continue
				}
				if _, pair := v.(*Pair); pair != (p.typ.name == "pair") {
					continue
				}
				within := strings.HasPrefix(form, "in ")
				if within && p.typ.passing != byValue || form == "in values" && p.typ.accept&clNull != 0 {
					continue
				}
				switch outcome := outcomeOf(f, i, v, root, &opts); {
				case outcome == "error" || within && outcome != "computes":
				case within:
					measured = append(measured, f.Name)
				case outcome == "passes" || outcome == "computes":
					passed = append(passed, label)
				default:
					t.Errorf("%s with opaque value %s %s", label, form, outcome)
				}
			}
		}
	}
	compare := func(what string, got, want []string) {
		slices.Sort(got)
		got = slices.Compact(got)
		want = slices.Sorted(slices.Values(want))
		if !slices.Equal(got, want) {
			t.Errorf("functions that %s =\n %s, want\n %s", what, strings.Join(got, " "), strings.Join(want, " "))
		}
	}
	compare("pass opaque values on", passed, passes)
	compare("measure collections of them", measured, measures)
}

func opaqueForms() map[string]any {
	d, plain := NewDict(), NewPlainDict()
	_ = d.Set("a", &unseen{})
	_ = plain.Set("a", &unseen{})
	return map[string]any{
		"itself": &unseen{}, "in a list": NewList([]any{&unseen{}, &unseen{}}), "in a dictionary": d,
		"in a plain list": NewPlainList([]any{&unseen{}, "a"}), "in a plain dictionary": plain, "in items": d.view(true),
		"in values": &dictValues{d},
		"as a key":  &Pair{&unseen{}, "a"}, "as a value": &Pair{"a", &unseen{}},
		"as a condition": &mapping{key: &constant{value: &unseen{}}, value: &constant{value: "a"}},
		"as a result":    &mapping{key: &constant{value: true}, value: &constant{value: &unseen{}}},
	}
}

// outcomeOf calls f with v as one of its arguments. It returns "" if the argument must be of another type.
func outcomeOf(f *Function, at int, v any, root *Context, opts *Options) string {
	args := []any{}
	var keywords []named
	last := at
	if at > len(f.Params) {
		last = len(f.Params) - 1
	}
	for i, p := range f.Params {
		if i == at {
			args = append(args, v)
		} else if i <= last || !p.optional || p.Name == "times" {
			args = append(args, sampleOf(f, &p))
		}
	}
	switch {
	case at == f.fixed():
		args = append(args, v, v)
	case at > f.fixed():
		keywords = append(keywords, named{"x", v})
	case at >= len(f.Params):
		keywords = append(keywords, named{f.param(at).Name, v})
	}
	ev := &evaluation{ctx: context.Background(), opts: opts, source: "test"}
	b := bind(f, args, keywords, opts)
	if b == nil || !b.fits(args, keywords, opts) {
		if _, direct := v.(*unseen); direct {
			return "error" // error returned by noMatch
		}
		return ""
	}
	result, err := ev.apply(b, args, keywords, New(root))
	if err == nil {
		result, err = ev.output(result)
	}
	switch c := result.(type) {
	case *Context:
		result, _ = c.lookup("$1")
		if c.vars != nil {
			result = c.vars.Values()[0]
		}
		if f.Name == "def" {
			result, err = ev.invoke(c.scope.lookup("a"), false, nil, nil, c)
		}
	case *Lambda:
		result, err = c.Call()
	}
	switch {
	case errors.Is(err, errUnseen):
		return "error"
	case err != nil:
		return "fails: " + err.Error()
	case Known(result) != nil:
		return "passes"
	}
	return "computes"
}

// sampleOf returns an argument that f accepts for the parameter p.
func sampleOf(f *Function, p *Param) any {
	if f.Name == "call" && p.Name == "name" {
		return "list"
	}
	d := NewDict()
	_ = d.Set("a", int64(1))
	s, _ := SetOf([]any{"a"})
	n := &constant{value: "a", keyword: true}
	switch p.typ.passing {
	case asLambda:
		if f.Name == "generateMany" {
			return NewList(nil)
		}
		return f.Name != "generate"
	case asKeyword, asKeywordExpr, asConstant, asExpr:
		return n
	}
	for _, v := range []any{
		"a", int64(1), NewList([]any{"a", "b"}), d, s, true, time.Unix(0, 0), TimeSpan(1), &Pair{"a", "b"}, New(Standard(true)),
		iterateSlice([]any{"a"}), &Lambda{value: "a"},
	} {
		if p.accepts(v, &Options{}) {
			return v
		}
	}
	return nil
}

func TestOpaqueText(t *testing.T) {
	a, b := &unseen{}, &unseen{}
	for source, want := range map[string][]any{
		`x + $a`:                         {"x", a, ""},
		`$a + x`:                         {"", a, "x"},
		`$a + $b`:                        {"", a, "", b, ""},
		`concat(x, $a, y)`:               {"x", a, "y"},
		`','.join([x, $a, 1, $b])`:       {"x,", a, ",1,", b, ""},
		`[$a].join('/')`:                 {"", a, ""},
		`'{0}:{{{x}}}'.format($a, x=>1)`: {"", a, ":{1}"},
		`format('{x}', x => $a)`:         {"", a, ""},
		`[x, $a].sum()`:                  {"x", a, ""},
	} {
		in := New(Standard(false))
		in.Set("a", a)
		in.Set("b", b)
		x := must.Get(Compile(source))(t)
		v, err := x.EvaluateIn(context.Background(), in)
		text, ok := v.(*unseen)
		if err != nil || !ok || !slices.Equal(text.parts, want) {
			t.Errorf("%s = %v, %v, want an opaque string of %v", source, v, err, want)
		}
	}
}

func TestOpaqueOperations(t *testing.T) {
	for _, source := range []string{
		`$a = $a`, `$a != 1`, `[$a] = [1]`, `[1, [$a]] != [1, [2]]`, `{x => $a} = {x => 1}`, `{x => $a}.items() = {x => 1}.items()`,
		`{x => $a}.items() <= {x => 1}.items()`, `[x, $a] in [[x, y]]`, `$a in [1]`, `1 in [$a]`, `[1] in [[$a]]`, `{$a => 1}`, `{[$a] => 1}`,
		`set($a)`, `[[$a]].toSet()`, `[1, $a].distinct()`, `not $a`, `$a and 1`, `1 and $a`, `$a or 1`, `0 or $a`, `$a < 1`,
		`null < $a`, `$a > null`, `[null, $a].max()`, `[2, $a].orderBy($)`, `[$a].where($)`, `[$a].all()`, `[$a].any($)`,
		`str($a)`, `str([$a])`, `str({x => $a})`, `'{0[0]:>3}'.format([$a])`, `'{0}'.format([$a])`, `'{0!s}'.format($a)`, `$a.x`, `$a?.x`, `$a.len()`, `$a[0]`,
		`$a * 2`, `-$a`, `2 + $a`, `[1] + $a`, `$a -> $`, `coalesce($a, 1)`, `isString($a)`, `[$a].flatten()`,
		`[1].selectMany($a)`, `{x => [1]}.mergeWith({x => $a})`, `{x => $a}.containsValue(1)`, `[$a].indexOf(1)`,
		`[1, 2].sliceWhere($a)`, `dict([$a])`, `[$a].join($a)`, `[[$a], 1].join(',')`, `$a.join(',')`, `a.replace({a => $a})`,
		`selectCase($a)`, `switch($a => 1)`, `[1].assert($a)`,
	} {
		in := New(Standard(false))
		in.Set("a", &unseen{})
		x := must.Get(Compile(source))(t)
		if v, err := x.EvaluateIn(context.Background(), in); !errors.Is(err, errUnseen) {
			t.Errorf("%s = %v, %v, want the error of the opaque value", source, v, err)
		}
	}
}

func TestOpaqueReplaced(t *testing.T) {
	in := New(Standard(false))
	in.Set("a", &unseen{})
	x := must.Get(Compile(`[{x => $a}.set(x, 1) = {x => 1}, {x => $a} + {x => 2} = {x => 2}, [$a].select(1) = [1].select(1)]`))(t)
	v, err := x.EvaluateIn(context.Background(), in)
	if err != nil || !Equal(v, NewPlainList([]any{true, true, false})) {
		t.Errorf("EvaluateIn = %v, %v, want [true, true, false]", v, err)
	}
}
