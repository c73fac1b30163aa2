package yaql

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/test/kit/must"
)

// randomValue returns a hashable value from a small range, so that equal values of different types are likely.
func randomValue(r *rand.Rand, depth int) any {
	items := func() []any {
		var all []any
		for range r.IntN(3) {
			all = append(all, randomValue(r, depth-1))
		}
		return all
	}
	n := 10
	if depth > 0 {
		n = 13
	}
	switch r.IntN(n) {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2:
		return int64(r.IntN(3) - 1)
	case 3:
		return float64(r.IntN(5)-2) / 2
	case 4:
		return []string{"", "a", "1", "()"}[r.IntN(4)]
	case 5:
		return normInt(new(big.Int).Lsh(big.NewInt(int64(r.IntN(2)*2-1)), uint(63+r.IntN(2))))
	case 6:
		return math.Ldexp(float64(r.IntN(2)*2-1), 63+r.IntN(2))
	case 7:
		return int64(math.MaxInt64 - r.IntN(2))
	case 8:
		return time.Unix(int64(r.IntN(2)), 0).In(time.FixedZone("", 3600*r.IntN(2)))
	case 9:
		return TimeSpan(r.IntN(2))
	case 10:
		return NewList(items())
	case 11:
		s, err := SetOf(items())
		if err != nil {
			panic(err)
		}
		return s
	}
	d := NewDict()
	for range r.IntN(12) {
		if err := d.Set(randomValue(r, depth-1), randomValue(r, depth-1)); err != nil {
			panic(err)
		}
	}
	return d
}

func TestHash(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	equal := 0
	for range 100_000 {
		a, b := randomValue(r, 2), randomValue(r, 2)
		x := must.Get(hashKey(a))(t)
		y := must.Get(hashKey(b))(t)
		if Equal(a, b) != (x == y) || Equal(a, b) != Equal(b, a) {
			t.Fatalf("Equal(%#v, %#v) = %v, Equal of the swapped values = %v, hash keys %#v and %#v", a, b, Equal(a, b), Equal(b, a), x, y)
		}
		if Equal(a, b) {
			equal++
		}
	}
	if equal < 1000 {
		t.Errorf("%d pairs are equal, want at least 1000", equal)
	}
}

func TestNumbers(t *testing.T) {
	huge := new(big.Int).Lsh(big.NewInt(1), 2000)
	for _, c := range []struct {
		a, b    any
		want    int
		ordered bool
	}{
		{int64(1<<53 + 1), float64(1 << 53), 1, true}, {float64(1 << 53), int64(1<<53 + 1), -1, true},
		{int64(math.MaxInt64), math.Ldexp(1, 63), -1, true}, {int64(math.MinInt64), -math.Ldexp(1, 63), 0, true},
		{huge, math.Inf(1), -1, true}, {huge, math.Inf(-1), 1, true}, {math.MaxFloat64, huge, -1, true},
		{new(big.Int).Neg(huge), int64(0), -1, true}, {int64(0), huge, -1, true}, {huge, huge, 0, true},
		{math.NaN(), int64(1), 0, false}, {huge, math.NaN(), 0, false}, {math.NaN(), math.NaN(), 0, false},
		{int64(-1), -1.5, 1, true},
	} {
		if got, ordered := compareNumbers(c.a, c.b); got != c.want && ordered || ordered != c.ordered {
			t.Errorf("compareNumbers(%v, %v) = %d, %v, want %d, %v", c.a, c.b, got, ordered, c.want, c.ordered)
		}
	}
	for _, op := range "+-*/%" {
		for _, a := range []int64{0, 1, -1, 7, math.MaxInt64, math.MinInt64, math.MinInt64 + 1, 1 << 32} {
			for _, b := range []int64{0, 1, -1, -2, math.MaxInt64, math.MinInt64, 1 << 32} {
				small, err := arithmetic(byte(op), a, b)
				large, err2 := bigArithmetic(byte(op), big.NewInt(a), big.NewInt(b))
				if fmt.Sprint(small, err) != fmt.Sprint(large, err2) {
					t.Errorf("%d %c %d = %v, %v, want %v, %v", a, op, b, small, err, large, err2)
				}
			}
		}
	}
}

type machine struct{ name string }

func (*machine) YAQLType() string { return "machine" }

func TestHostTypes(t *testing.T) {
	RegisterType(NewType("machine", func(v any) bool { _, ok := v.(*machine); return ok }))
	name := Func("#property#name", "m machine", func(c *Call) (any, error) { return c.Arg(0).(*machine).name, nil })
	start := Method("start", "m machine, *rest any", func(c *Call) (any, error) {
		return NewList(append([]any{"started", c.Arg(0).(*machine).name}, c.Rest()...)), nil
	})
	in := New(Standard(false))
	in.Register(name, start, Func("crash", "", func(c *Call) (any, error) { return c.Arg(7), nil }))
	data := must.Get(FromGo(map[string]any{"m": &machine{"web"}, "x": json.Number("1.0"), "n": json.Number("1"), "u": uint64(math.MaxUint64),
		"f": []string{"not comparable"}, "nils": []any{(*List)(nil), (*big.Int)(nil)}}))(t)
	in.Set("$", data)
	for source, want := range map[string]string{
		"$.m.name": `"web"`, "[$.m].name": `["web"]`, "$.m.start(1)": `["started", "web", 1]`,
		"[$.n, $.x, $.u]": `[1, 1.0, 18446744073709551615]`, "$.m = $.m": "true", "{$.m => 1}[$.m]": "1",
		"1.start()": "1:3: no overload of method start of integer accepts ()", "$.m.size": `1:4: machine has no property "size"`,
		"$.nils": "[null, null]", "[$.f].distinct()": "1:6: object of this kind cannot be a key or an item of a set",
		"{a => crash()}":                    "1:1: panic: runtime error: index out of range [7] with length 0",
		"set(float(nan), float(nan)).len()": "2",
		"start($.m)":                        "1:1: unknown function start", "$.m + 1": "1:5: no overload of operator + accepts (machine, integer)",
	} {
		x := must.Get(Compile(source))(t)
		v, err := x.EvaluateIn(t.Context(), in)
		text, _ := AppendJSON(nil, v)
		if err != nil {
			text = []byte(err.Error())
		}
		if string(text) != want {
			t.Errorf("%s = %s, want %s", source, text, want)
		}
	}
}

func TestFromGoCycle(t *testing.T) {
	m := map[string]any{}
	m["m"] = []any{m, m}
	if _, err := FromGo(m); err == nil || err.Error() != "value nested deeper than 10000 levels" {
		t.Errorf("FromGo of cyclic data = %v, want an error", err)
	}
}
