// Package refresh_test measures how long it takes to compare resources with a cloud in which each Get takes 20 ms.
package refresh_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/refresh"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// cloud has resources that have all drifted. The other methods of a provider are not called.
type cloud struct{ plan.Provider }

func (cloud) Describe(_ context.Context, types []tokens.Type) ([]plan.Description, error) {
	return make([]plan.Description, len(types)), nil
}

func (cloud) Get(_ context.Context, r plan.Existing) (inputs, outputs lumigl.Value, err error) {
	time.Sleep(20 * time.Millisecond)
	return r.Properties.With("size", lumigl.IntOf(2)), lumigl.ObjectOf(), nil
}

func (cloud) InspectChange(context.Context, plan.InspectChangeRequest) (plan.Difference, error) {
	return plan.Difference{Changes: []plan.Change{{Path: "size"}}}, nil
}

func BenchmarkRefresh(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprintf("resources=%d", n), func(b *testing.B) {
			var all []*graph.Resource
			for i := range n {
				u := urn.URN(fmt.Sprintf("urn:lumi:prod::bench:index::bench:compute:Disk::%d", i))
				all = append(all, &graph.Resource{URN: u, Deployment: 1, ID: fmt.Sprint(i), Checked: lumigl.ObjectOf(lumigl.Member{Key: "size", Value: lumigl.IntOf(1)})})
			}
			v := graph.NewVersion(graph.VersionID{Module: "bench", Deployment: 1}, all)
			t, err := (&graph.Graph{Environment: "prod"}).Deploy(graph.Update{Version: v})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				found, err := refresh.Read(b.Context(), refresh.Request{
					Graph: t.Graph, Resources: refresh.Resources(t.Graph, "bench"), Provider: func(*graph.Resource) plan.Provider { return cloud{} },
					Parallelism: 16, Timeout: time.Minute,
				})
				if actual, stale := refresh.Apply(t.Graph, found); err != nil || len(stale) > 0 || actual == t.Graph {
					b.Fatalf("Read() failed: %v, or found no drift", err)
				}
			}
		})
	}
}
