package graph_test

import (
	"fmt"
	"testing"

	"github.com/lumi-idl/lumi/deploy/graph"
)

// BenchmarkDeploy deploys a module with 100,000 unchanged resources while another module uses an older version.
func BenchmarkDeploy(b *testing.B) {
	var w world
	if _, err := w.run("deploy a =foo()\ndeploy b a.foo()"); err != nil {
		b.Fatal(err)
	}
	resources := make([]*graph.Resource, 100_000)
	for i := range resources {
		resources[i] = w.made("a", fmt.Sprint("r", i), "")
	}
	next := func() *graph.Version {
		w.deployment++
		return graph.NewVersion(graph.VersionID{Module: "a", Deployment: w.deployment}, resources)
	}
	before, err := w.g.Deploy(graph.Update{Version: next()})
	if err != nil {
		b.Fatal(err)
	}
	v := next()
	for b.Loop() {
		t, err := before.Graph.Deploy(graph.Update{Version: v})
		if err != nil || len(t.Deleted) > 0 {
			b.Fatalf("Deploy() = %+v, %v, want no deletions", t, err)
		}
	}
}
