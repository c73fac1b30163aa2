package lumigl_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// network is a graph in which an instance depends on a subnet and a security group. Both depend on a VPC.
const network = `{"vertices": {
	"instance": {"subnet": {"#ref": "subnet"}, "groups": [{"#ref": "group"}]},
	"subnet":   {"vpc": {"#ref": "vpc"}},
	"group":    {"vpc": {"#ref": "vpc"}},
	"vpc":      {}
}}`

func ExampleIndex_Walk() {
	g, err := lumigl.ParseGraph(network)
	if err != nil {
		fmt.Println(err)
		return
	}
	x := lumigl.NewIndex(g)
	// With higher parallelism, subnet and group would be visited concurrently.
	err = x.Walk(context.Background(), lumigl.WalkOptions{Parallelism: 1}, func(_ context.Context, v *lumigl.Vertex) error {
		if v.Key() == "group" {
			return errors.New("cannot create group")
		}
		fmt.Println("create", v.Key())
		return nil
	})
	fmt.Println(err)
	// Output:
	// create vpc
	// create subnet
	// cannot create group
}

func ExampleWalkOptions_reverse() {
	g, err := lumigl.ParseGraph(network)
	if err != nil {
		fmt.Println(err)
		return
	}
	o := lumigl.WalkOptions{Parallelism: 1, Reverse: true}
	err = lumigl.NewIndex(g).Walk(context.Background(), o, func(_ context.Context, v *lumigl.Vertex) error {
		fmt.Println("delete", v.Key())
		return nil
	})
	fmt.Println(err)
	// Output:
	// delete instance
	// delete group
	// delete subnet
	// delete vpc
	// <nil>
}

func ExampleIndex_Ready() {
	g, err := lumigl.ParseGraph(network)
	if err != nil {
		fmt.Println(err)
		return
	}
	x := lumigl.NewIndex(g)
	done := map[*lumigl.Vertex]bool{g.Vertex("vpc"): true}
	for _, v := range x.Ready(func(v *lumigl.Vertex) bool { return done[v] }) {
		fmt.Println(v.Key())
	}
	// Output:
	// subnet
	// group
}

// randomReferences generates a graph. Unless cyclic is set, vertices refer only to vertices added before them.
func randomReferences(t *rapid.T, cyclic bool) *lumigl.Graph {
	g := &lumigl.Graph{}
	var all []*lumigl.Vertex
	for i := range rapid.IntRange(1, 12).Draw(t, "vertices") {
		v := must.Get(g.Add(fmt.Sprint("v", i)))(t)
		all = append(all, v)
	}
	order := rapid.Permutation(all).Draw(t, "order")
	for i, v := range order {
		targets := order[:i]
		if cyclic {
			targets = all
		}
		v.Properties = object(t, targets, 2)
	}
	return g
}

// Each vertex is visited once after its dependencies, or not at all if a dependency failed. Visits are limited by the
// parallelism.
func TestWalkConcurrent(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := randomReferences(rt, false)
		o := lumigl.WalkOptions{
			Parallelism: rapid.IntRange(0, 4).Draw(rt, "parallelism"),
			Reverse:     rapid.Bool().Draw(rt, "reverse"),
			StopOnError: rapid.Bool().Draw(rt, "stop"),
		}
		fails := map[*lumigl.Vertex]bool{}
		for v := range g.Vertices() {
			fails[v] = rapid.IntRange(0, 5).Draw(rt, "fails") == 0
		}
		x := lumigl.NewIndex(g)
		before := x.Dependencies
		if o.Reverse {
			before = x.Dependents
		}
		var mutex sync.Mutex
		var running atomic.Int32
		visited := map[*lumigl.Vertex]error{}
		err := x.Walk(context.Background(), o, func(_ context.Context, v *lumigl.Vertex) error {
			if now := running.Add(1); o.Parallelism > 0 && int(now) > o.Parallelism {
				rt.Errorf("%d visits run concurrently, want at most %d", now, o.Parallelism)
			}
			defer running.Add(-1)
			mutex.Lock()
			defer mutex.Unlock()
			for _, w := range before(v, true) {
				if err, ok := visited[w]; !ok || err != nil {
					rt.Errorf("Walk visited %s before a visit of %s succeeded", v.Key(), w.Key())
				}
			}
			if _, again := visited[v]; again {
				rt.Errorf("Walk visited %s twice", v.Key())
			}
			visited[v] = nil
			if fails[v] {
				visited[v] = errors.New(v.Key())
			}
			return visited[v]
		})
		var want []error
		for v := range g.Vertices() {
			if visited[v] != nil {
				want = append(want, visited[v])
			}
			failed := slices.ContainsFunc(before(v, true), func(w *lumigl.Vertex) bool { return fails[w] })
			if _, ok := visited[v]; ok == failed && (ok || !o.StopOnError || err == nil) {
				rt.Errorf("Walk visited %s = %v, want %v", v.Key(), ok, !ok)
			}
		}
		if fmt.Sprint(err) != fmt.Sprint(errors.Join(want...)) {
			rt.Errorf("Walk = %v, want %v", err, want)
		}
	})
}

func TestWalkStops(t *testing.T) {
	g := must.Get(lumigl.ParseGraph(network))(t)
	cause := errors.New("interrupted")
	for name, test := range map[string]struct {
		at      string // vertex during whose visit the walk stops
		options lumigl.WalkOptions
		cancel  bool
		err     error
		visited string
		want    string
	}{
		"failure":              {"subnet", lumigl.WalkOptions{StopOnError: true}, false, errors.New("full"), "vpc subnet", "full"},
		"failure, going on":    {"subnet", lumigl.WalkOptions{}, false, errors.New("full"), "vpc subnet group", "full"},
		"canceled":             {"vpc", lumigl.WalkOptions{}, true, nil, "vpc", "interrupted"},
		"canceled and failed":  {"subnet", lumigl.WalkOptions{}, true, errors.New("full"), "vpc subnet", "full\ninterrupted"},
		"canceled in reverse":  {"instance", lumigl.WalkOptions{Reverse: true}, true, nil, "instance", "interrupted"},
		"canceled at the end":  {"instance", lumigl.WalkOptions{}, true, nil, "vpc subnet group instance", ""},
		"canceled at the last": {"group", lumigl.WalkOptions{}, true, errors.New("full"), "vpc subnet group", "full"},
	} {
		ctx, cancel := context.WithCancelCause(context.Background())
		var visited []string
		test.options.Parallelism = 1
		err := lumigl.NewIndex(g).Walk(ctx, test.options, func(_ context.Context, v *lumigl.Vertex) error {
			visited = append(visited, v.Key())
			if v.Key() != test.at {
				return nil
			}
			if test.cancel {
				cancel(cause)
			}
			return test.err
		})
		cancel(nil)
		if got := strings.Join(visited, " "); got != test.visited {
			t.Errorf("%s: Walk visited %s, want %s", name, got, test.visited)
		}
		t.Run(name, func(t *testing.T) { expect(t, err, test.want) })
	}
}

// Walk returns if a visit calls runtime.Goexit, as t.FailNow does.
func TestWalkGoexit(t *testing.T) {
	g := must.Get(lumigl.ParseGraph(network))(t)
	expect(t, lumigl.NewIndex(g).Walk(t.Context(), lumigl.WalkOptions{}, func(context.Context, *lumigl.Vertex) error {
		runtime.Goexit()
		return nil
	}), "the visit ended its goroutine")
}

func TestIndexCycle(t *testing.T) {
	for src, want := range map[string]string{
		`{"vertices": {"a": {"x": {"#ref": "a"}}}}`:                                                         "vertices form a dependency cycle: a → a",
		`{"vertices": {"a": {"x": {"#ref": "b"}}, "b": {"x": [{"#ref": "c"}]}, "c": {"x": {"#ref": "b"}}}}`: "vertices form a dependency cycle: b → c → b",
	} {
		x := lumigl.NewIndex(must.Get(lumigl.ParseGraph(src))(t))
		_, err := x.Sorted()
		expect(t, err, want)
		expect(t, x.Walk(context.Background(), lumigl.WalkOptions{}, func(context.Context, *lumigl.Vertex) error {
			t.Error("Walk visited a vertex of a cyclic graph")
			return nil
		}), want)
		var invalid *lumigl.InvalidError
		if !errors.As(err, &invalid) || invalid.Faults[0].Code != lumigl.CycleFault {
			t.Errorf("Sorted or Walk returned %#v, want an *InvalidError with code %s", err, lumigl.CycleFault)
		}
	}
}

// TestIndex compares an index with the results of a search along the references.
func TestIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := randomReferences(t, rapid.Bool().Draw(t, "cyclic"))
		x := lumigl.NewIndex(g)
		direct := func(v, w *lumigl.Vertex) bool {
			for target := range v.Properties.References() {
				if target == w {
					return true
				}
			}
			return false
		}
		var leads func(v, w *lumigl.Vertex, seen map[*lumigl.Vertex]bool) bool
		leads = func(v, w *lumigl.Vertex, seen map[*lumigl.Vertex]bool) bool {
			for target := range v.Properties.References() {
				if target == w || !seen[target] {
					seen[target] = true
					if target == w || leads(target, w, seen) {
						return true
					}
				}
			}
			return false
		}
		sorted, err := x.Sorted()
		for v := range g.Vertices() {
			if leads(v, v, map[*lumigl.Vertex]bool{}) != slices.Contains(x.Dependencies(v, true), v) {
				t.Fatalf("Dependencies(%s, true) is wrong about whether the vertex is on a cycle", v.Key())
			}
			for w := range g.Vertices() {
				all := leads(v, w, map[*lumigl.Vertex]bool{})
				if slices.Contains(x.Dependencies(v, false), w) != direct(v, w) || slices.Contains(x.Dependents(w, false), v) != direct(v, w) ||
					slices.Contains(x.Dependencies(v, true), w) != all || slices.Contains(x.Dependents(w, true), v) != all {
					t.Fatalf("Dependencies and Dependents are wrong about whether %s depends on %s", v.Key(), w.Key())
				}
				if err == nil && all && slices.Index(sorted, v) < slices.Index(sorted, w) {
					t.Fatalf("Sorted returned %s before its dependency %s", v.Key(), w.Key())
				}
			}
		}
		done := func(v *lumigl.Vertex) bool { return len(v.Key())%2 == 0 }
		for v := range g.Vertices() {
			ready := !done(v) && !slices.ContainsFunc(x.Dependencies(v, false), func(w *lumigl.Vertex) bool { return !done(w) })
			if slices.Contains(x.Ready(done), v) != ready {
				t.Fatalf("Ready contains %s = %t, want %t", v.Key(), !ready, ready)
			}
		}
	})
}
