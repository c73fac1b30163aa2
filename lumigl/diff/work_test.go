package diff

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// TestWorkBudget compares lists with budgets of every size. Deltas may be larger than necessary but must be correct.
func TestWorkBudget(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := newComparer(false, rapid.Int64Range(0, 300).Draw(rt, "work"))
		old, new := list(rt, 2), list(rt, 2)
		change, differ := c.values(old, new)
		if differ == old.Equal(new) {
			rt.Fatalf("values returned %t for values with Equal = %t", differ, old.Equal(new))
		}
		if !differ {
			return
		}
		a := &applier{}
		if got := a.value(old, &change, ""); a.err != nil || !got.Equal(new) {
			rt.Fatalf("applying the change to %+v = %+v, %v, want %+v", old, got, a.err, new)
		}
	})
}

func list(t *rapid.T, depth int) lumigl.Value {
	var all []lumigl.Value
	for range rapid.IntRange(0, 8).Draw(t, "length") {
		n := lumigl.IntOf(rapid.Int64Range(0, 4).Draw(t, "number"))
		switch {
		case depth > 0 && rapid.Bool().Draw(t, "list"):
			n = list(t, depth-1)
		case rapid.IntRange(0, 8).Draw(t, "absent") == 0:
			n = lumigl.Value{}
		case rapid.Bool().Draw(t, "object"):
			n = lumigl.ObjectOf(lumigl.Member{Key: "n", Value: n}, lumigl.Member{Key: "m", Value: lumigl.NullValue()})
		}
		all = append(all, n)
	}
	return lumigl.ListOf(all...)
}

func TestWriteError(t *testing.T) {
	old, new := &lumigl.Snapshot{}, &lumigl.Snapshot{Serial: 1}
	d := must.Get(Compare(old, new, Options{}))(t)
	for name, err := range map[string]error{
		"text": d.WriteText(full{}, TextOptions{}),
		"stat": d.WriteStat(full{}, TextOptions{}),
		"json": d.WriteJSON(full{}),
	} {
		if !errors.Is(err, errFull) {
			t.Errorf("%s to a full disk = %v, want %v", name, err, errFull)
		}
	}
}

type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }
