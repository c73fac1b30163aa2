package yaql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// endless returns a function whose result yields 0, 1, 2, and so on without end.
func endless() *Function {
	return Func("endless", "", func(*Call) (any, error) {
		i := int64(-1)
		return NewIterator(func() (any, bool, error) {
			i++
			return i, true, nil
		}), nil
	})
}

// evaluate evaluates an expression with the standard library and the given functions.
func evaluate(ctx context.Context, source string, opts Options, functions ...*Function) (any, error) {
	x, err := Compile(source, WithOptions(opts))
	if err != nil {
		return nil, err
	}
	in := New(Standard(opts.Delegates))
	in.Register(functions...)
	return x.EvaluateIn(ctx, in)
}

func TestLimits(t *testing.T) {
	opts := DefaultOptions()
	opts.LimitIterators, opts.MemoryQuota, opts.Depth = 1000, 1<<20, 100
	for source, want := range map[string]string{
		"endless()":                                             "1:1: more than 1000 items",
		"endless().where($ < 0)":                                "1:10: more than 1000 items",
		"endless().len()":                                       "1:11: more than 1000 items",
		"endless().any($ = 999)":                                "",
		"endless().any($ = 1000)":                               "1:11: more than 1000 items",
		"a * 1000000000":                                        "1:3: memory quota of 1048576 bytes exceeded",
		"[a] * 1000000000":                                      "1:5: memory quota of 1048576 bytes exceeded",
		"[a * 600000, b * 600000].len()":                        "1:1: memory quota of 1048576 bytes exceeded",
		"endless().select($ * 10000 * 'ab').len()":              "1:28: memory quota of 1048576 bytes exceeded",
		"def(f, f($)) -> f(1)":                                  "1:8: calls nested deeper than 100 levels",
		strings.Repeat("(", 2000) + "1":                         "1:1001: expression nested deeper than 1000 levels",
		"1" + strings.Repeat(" + 1", 2000):                      "1:4001: expression nested deeper than 1000 levels",
		strings.Repeat("not ", 2000) + "1":                      "1:4001: expression nested deeper than 1000 levels",
		"generate(1, true, $).orderBy($)":                       "1:21: more than 1000 items",
		"sequence().orderBy($).take(1)":                         "1:22: more than 1000 items",
		"sequence().groupBy($)":                                 "1:12: more than 1000 items",
		"1.repeat().distinct()":                                 "1:11: more than 1000 items",
		"[[]].cycle().flatten()":                                "1:13: more than 1000 items",
		"[sequence().select([])].flatten()":                     "1:24: more than 1000 items",
		"[1].selectMany(1.repeat()).last()":                     "1:28: more than 1000 items",
		"[1].cycle().toSet()":                                   "1:13: more than 1000 items",
		"generateMany(1, [1]).last()":                           "1:22: more than 1000 items",
		"generateMany(1, sequence())":                           "1:1: more than 1000 items",
		"generateMany(1, [$ + 1], decycle => true).any($ < 0)":  "1:43: more than 1000 items",
		"[1].join(sequence(), false, 1).len()":                  "1:32: more than 1000 items",
		"list(sequence())":                                      "1:1: more than 1000 items",
		"set(sequence())":                                       "1:1: more than 1000 items",
		"[1].insertMany(9, sequence())":                         "1:4: more than 1000 items",
		"sequence().slice(2000)":                                "1:11: more than 1000 items",
		"[1].zipLongest(sequence())":                            "1:4: more than 1000 items",
		"range(10).groupBy(1, 'a' * 200000)":                    "1:11: memory quota of 1048576 bytes exceeded",
		"range(10).toDict($, 'a' * (200000 + $))":               "1:11: memory quota of 1048576 bytes exceeded",
		"generate('a' * 200000, true, $ + b, decycle => true)":  "1:1: memory quota of 1048576 bytes exceeded",
		"range(10).select('a' * (200000 + $)).memorize().len()": "1:49: memory quota of 1048576 bytes exceeded",
		"range(10).select('a' * (200000 + $)).distinct().len()": "1:49: memory quota of 1048576 bytes exceeded",
		"range(10).orderBy('a' * (200000 + $)).first()":         "1:39: memory quota of 1048576 bytes exceeded",
		"sequence().take(3)":                                    "",
		"sequence().select(10 / (3 - $)).first()":               "",
		"sequence().any($ > 5)":                                 "",
		"sequence().zip([1, 2])":                                "",
		"[1].cycle().takeWhile($ < 0)":                          "",
		"sequence().unpack(a, b)":                               "1:12: cannot unpack 3 items or more into 2 variables",
		"1" + strings.Repeat(" + 1", 150):                       "1:199: calls nested deeper than 100 levels",
		"let(x => 2) -> " + square(40):                          "1:673: integer of more than 1048576 bits",
	} {
		_, err := evaluate(t.Context(), source, opts, endless())
		if got := fmt.Sprint(orNothing(err)); got != want {
			t.Errorf("error of %.60s = %q, want %q", source, got, want)
		}
	}
}

func TestNesting(t *testing.T) {
	fold := func(c *Call) (any, error) {
		v := any(NewList(nil))
		for it := c.Iter(0); ; {
			if _, ok, err := it.Next(); err != nil || !ok {
				return v, err
			}
			var err error
			if v, err = c.Lambda(1).Call(v); err != nil {
				return nil, err
			}
		}
	}
	for _, step := range []string{"[$]", "{a => $}", "$.select($)", "$ + [1].select($)", "let(x => $) -> [1].select($x)", "let($)",
		"$.orderBy($)", "{a => $}.values()", "$.memorize()", "[$].toDict(1, $)", "[$].groupBy(1)", "$.concat([1])", "[1].join($, true, 1)"} {
		_, err := evaluate(t.Context(), "endless().fold("+step+")", DefaultOptions(), endless(),
			Method("fold", "collection iterable, step lambda", fold))
		var e *Error
		if !errors.As(err, &e) || e.Kind != Limit {
			t.Errorf("%s: error = %v, want kind %s", step, err, Limit)
		}
	}
}

// square returns an expression that squares $x n times.
func square(n int) string {
	s := "$x"
	for range n {
		s = "(let(x => " + s + ") -> $x * $x)"
	}
	return s
}

func TestCancel(t *testing.T) {
	opts := DefaultOptions()
	opts.LimitIterators = 1 << 40
	for _, source := range []string{"endless().len()", "endless().where($ < 0).any()", "endless().any($ < 0)", "-1 in endless()",
		"[[]].cycle().flatten()", "sequence().orderBy($)", "sequence().skipWhile(true)", "1.repeat().distinct()", "[1].join(sequence(), false, 1)",
		"generateMany(1, [1, 1]).indexOf(2)", "range(10000).reverse().orderBy(range(10000).sum())", "sequence().selectMany([])",
		"datetime(2020, 1, 1).format('%%' * 10000000)"} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		_, err := evaluate(ctx, source, opts, endless())
		cancel()
		var e *Error
		if !errors.As(err, &e) || e.Kind != Canceled || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error of %s = %v, want kind %s", source, err, Canceled)
		}
	}
}

func TestMemoryQuota(t *testing.T) {
	opts := DefaultOptions()
	opts.MemoryQuota, opts.Delegates = 4<<20, true
	big := "'ab' * (2000000 + $)"
	for name, source := range map[string]string{
		"recursion": "def(f, [" + big + ", f($ + 1)].len()) -> f(1)",
		"context":   "def(f, let(x => " + big + ") -> f($ + 1)) -> f(1)",
		"operand":   "def(f, " + big + " + f($ + 1)) -> f(1)",
		"list":      "endless().select(" + big + ")",
		"iterators": "endless().select(let(x => " + big + ") -> [1].select($x))",
		"contexts":  "endless().select(let(x => " + big + ") -> let(y => 1))",
		"functions": "endless().select(let(x => " + big + ") -> lambda($x))",
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		_, err := evaluate(t.Context(), source, opts, endless())
		runtime.ReadMemStats(&after)
		var e *Error
		if !errors.As(err, &e) || e.Kind != Limit || !strings.Contains(e.Message, "memory quota") {
			t.Errorf("%s: error = %v, want the memory quota to be exceeded", name, err)
		}
		if used := after.HeapSys - min(before.HeapSys, after.HeapSys); used > 20*uint64(opts.MemoryQuota) {
			t.Errorf("%s: heap grew by %d bytes, want at most %d (20 times the quota)", name, used, 20*opts.MemoryQuota)
		}
	}
}

// TestSharedParts compares and hashes values with shared parts. It would take exponential time if each occurrence were
// visited.
func TestSharedParts(t *testing.T) {
	nested := func(leaf any) any {
		v := leaf
		for range 100 {
			d := NewDict()
			must.Do(t, cmp.Or(d.Set("a", v), d.Set("b", v)))
			s := must.Get(SetOf([]any{d}))(t)
			v = NewList([]any{d, s, d})
		}
		return v
	}
	a, b, other := nested(int64(1)), nested(1.0), nested(int64(2))
	if s, err := SetOf([]any{a, b, other}); err != nil || s.Len() != 2 {
		t.Errorf("SetOf = %d items, %v, want 2", s.Len(), err)
	}
	if !Equal(a, b) || Equal(a, other) {
		t.Error("Equal returned a wrong result for nested values")
	}
	if SizeOf(a) < 1<<60 {
		t.Errorf("SizeOf = %d, want at least 1<<60", SizeOf(a))
	}
}

func TestConcurrentEvaluation(t *testing.T) {
	x := must.Get(Compile("def(f, $ * $n) -> $.where($ > 1).select(f($) + len([$, {a => $}]))", delegates))(t)
	var wg sync.WaitGroup
	for n := range int64(8) {
		wg.Go(func() {
			for range 100 {
				in := New(Standard(n%2 == 0))
				in.Set("n", n)
				in.Set("$", NewList([]any{int64(1), int64(2), int64(3)}))
				v, err := x.EvaluateIn(t.Context(), in)
				if want := NewPlainList([]any{2*n + 2, 3*n + 2}); err != nil || !Equal(v, want) {
					t.Errorf("EvaluateIn with $n = %d = %v, %v, want %v", n, v, err, want)
				}
			}
		})
	}
	wg.Wait()
}

func TestLibraryLimits(t *testing.T) {
	opts := DefaultOptions()
	opts.MemoryQuota = 1 << 20
	const quota, bits = "memory quota of 1048576 bytes exceeded", "integer of more than 1048576 bits"
	for source, want := range map[string]string{
		"format('{:1000000000}', 1)":                              "1:1: " + quota,
		"format('{:.1000000000f}', 1)":                            "1:1: " + quota,
		"('{0}' * 10000).format('a' * 1000)":                      "1:17: " + quota,
		"('a' * 10000).replace(a, 'b' * 1000)":                    "1:15: " + quota,
		"('a' * 10000).replace({a => 'b' * 1000})":                "1:15: " + quota,
		"('a' * 10000).replace(regex(a), 'b' * 1000)":             "1:15: " + quota,
		"regex(a).replaceBy('a' * 10000, 'b' * 1000)":             "1:10: " + quota,
		"('a,' * 100000).split(',')":                              "1:17: " + quota,
		"regex(',').split('a,' * 100000)":                         "1:12: " + quota,
		"('a' * 100000).toCharArray()":                            "1:16: " + quota,
		"pow(2, 1000000000)":                                      "1:1: " + bits,
		"pow(2, 100000000000000000000000)":                        "1:1: " + bits,
		"shiftBitsLeft(1, 100000000000000000000000)":              "1:1: " + bits,
		"shiftBitsLeft(1, 9223372036854775807)":                   "1:1: " + bits,
		"pow(3, pow(2, 100000), pow(2, 100000) + 1)":              "1:1: pow of 100001 bits modulo 100001 bits",
		"regex('(' * 1000 + ')' * 1000)":                          "1:1: regular expression nested deeper than 200 levels",
		"regex('a' * 70000)":                                      "1:1: regular expression of more than 65536 bytes",
		"regex('(a+)+$').matches('a' * 60 + b)":                   "1:17: regular expression took more than 1s to match",
		"range(100).aggregate($1.append($2), []).len()":           "",
		"range(100).aggregate($1.select($).append($2), []).len()": "",
		"range(2000).aggregate($1.append($2), [])":                "1:26: iterator nested deeper than 1000 levels",
		"datetime(2020, 1, 1).format('%c' * 100000)":              "1:22: " + quota,
		"float('1' * 1000000)":                                    "1:1: number of more than 100000 digits",
		"int('1' * 1000000)":                                      "1:1: number of more than 100000 digits",
		"pow(3, -1, pow(2, 200000) + 1)":                          "1:1: pow of 1 bits modulo 200001 bits",
		"range(1000).select(regex(str($))).toList()":              "1:35: " + quota,
	} {
		_, err := evaluate(t.Context(), source, opts)
		expect.Equal(t, want, fmt.Sprint(orNothing(err)), source)
	}
}
