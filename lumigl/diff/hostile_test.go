package diff_test

import (
	"io"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/diff"
)

// TestHostile compares documents for which a comparison is expensive. It measures memory instead of time, which depends
// on the machine.
func TestHostile(t *testing.T) {
	const n = 100_000
	random := rand.New(rand.NewPCG(1, 2))
	numbers := func(f func(i int) int64) lumigl.Value {
		all := make([]lumigl.Value, n)
		for i := range all {
			all[i] = lumigl.IntOf(f(i))
		}
		return lumigl.ListOf(all...)
	}
	up := numbers(func(i int) int64 { return int64(i) })
	order := random.Perm(n)
	objects := func(offset int) lumigl.Value {
		all := make([]lumigl.Value, n)
		for i := range all {
			all[i] = lumigl.ObjectOf(
				lumigl.Member{Key: "a", Value: lumigl.IntOf(int64(i))},
				lumigl.Member{Key: "b", Value: lumigl.IntOf(int64(i + offset))})
		}
		return lumigl.ListOf(all...)
	}
	for _, test := range []struct {
		name     string
		old, new lumigl.Value
	}{
		{"others", up, numbers(func(i int) int64 { return int64(n + i) })},
		{"reversed", up, numbers(func(i int) int64 { return int64(n - i) })},
		{"shuffled", up, numbers(func(i int) int64 { return int64(order[i]) })},
		{"few kinds", numbers(func(int) int64 { return random.Int64N(3) }), numbers(func(int) int64 { return random.Int64N(3) })},
		{"objects", objects(0), objects(1)},
		{"deep", nested(900, 1), nested(900, 2)},
		{"wide and deep", lumigl.ListOf(nested(900, 1), up, nested(900, 3)), lumigl.ListOf(up, nested(900, 2), nested(900, 4))},
		{"gone", up, lumigl.ListOf()},
	} {
		t.Run(test.name, func(t *testing.T) {
			old, new := holding(t, test.old), holding(t, test.new)
			var d *diff.Delta
			used := allocated(func() { d = compare(t, old, new) })
			const most = 256 << 20
			if used > most {
				t.Errorf("Compare allocated %d MiB, want at most %d", used>>20, most>>20)
			}
			if err := diff.Verify(d); err != nil {
				t.Fatal(err)
			}
			used = allocated(func() {
				if err := d.WriteText(io.Discard, diff.TextOptions{Context: 1}); err != nil {
					t.Error(err)
				}
			})
			if used > most {
				t.Errorf("WriteText allocated %d MiB, want at most %d", used>>20, most>>20)
			}
		})
	}
}

// nested returns nested lists with one additional element at each level.
func nested(depth int, leaf int64) lumigl.Value {
	v := lumigl.IntOf(leaf)
	for i := range depth {
		v = lumigl.ListOf(lumigl.IntOf(int64(i)), v, lumigl.TextOf("beside"))
	}
	return v
}

func holding(t interface{ Fatal(...any) }, v lumigl.Value) *lumigl.Snapshot {
	s := &lumigl.Snapshot{}
	r, err := s.Add("urn:lumi:prod::my/cluster:index::aws:x:P::p")
	if err != nil {
		t.Fatal(err)
	}
	r.Properties = lumigl.ObjectOf(lumigl.Member{Key: "v", Value: v})
	return s
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
