package query_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/query"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// TestConcurrentUse queries an index with an expression from several goroutines and compares the results. Neither has
// been used before, so that the race detector covers lazy initialization.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	const expression = `properties.exists(k, k == "size") || dependencies.exists(d, name.matches("^d"))`
	parse := func() (*lumigl.Graph, *query.Index, *query.Expression) {
		s := must.Get(lumigl.ParseSnapshot(snapshot))(t)
		e := must.Get(query.Compile(expression))(t)
		return s.Base(), query.New(s.Base()), e
	}
	want := answers(parse())
	if strings.Count(want, "\n") < 20 {
		t.Fatalf("answers =\n%s\nwant at least 20 lines", want)
	}
	g, x, e := parse()
	got := make([]string, 8)
	var all sync.WaitGroup
	for i := range got {
		all.Go(func() { got[i] = answers(g, x, e) })
	}
	all.Wait()
	for _, got := range got {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("concurrent answers mismatch (-want +got):\n%s", diff)
		}
	}
}

// answers returns the results of all methods of an index as text.
func answers(g *lumigl.Graph, x *query.Index, e *query.Expression) string {
	var b strings.Builder
	picked, err := x.Select(e)
	fmt.Fprintln(&b, "selected:", keys(picked), err)
	fmt.Fprintln(&b, "roots:", keys(x.Roots()))
	fmt.Fprintln(&b, "leaves:", keys(x.Leaves()))
	for _, inverted := range []bool{false, true} {
		fmt.Fprintln(&b, "tops:", keys(x.Tops(inverted)))
	}
	for _, name := range []string{"main", "VPC", "mian", ""} {
		v, err := x.Find(name)
		fmt.Fprintln(&b, "found:", v != nil, err)
	}
	for v := range g.Vertices() {
		for _, transitive := range []bool{false, true} {
			fmt.Fprintln(&b, "below:", keys(x.Dependencies(v, transitive)), "above:", keys(x.Dependents(v, transitive)))
		}
		fmt.Fprintln(&b, "around:", keys(x.Around(v, 1, true, true)))
		for to := range g.Vertices() {
			paths, all := x.Paths(v, to, func(*lumigl.Vertex) bool { return true }, 10)
			fmt.Fprintln(&b, "paths:", len(paths), all)
		}
	}
	return b.String()
}
