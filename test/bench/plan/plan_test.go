//go:build unix

// Package plan_test measures the cost of planning with both graphs in memory: without changes, and with a change to every
// hundredth resource.
package plan_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/bench/cputime"
)

const disk tokens.Type = "bench:compute:Disk"

// provider is a provider of disks that counts its calls.
type provider struct {
	plan.Provider
	calls int
}

func (p *provider) Describe(_ context.Context, types []tokens.Type) ([]plan.Description, error) {
	all := make([]plan.Description, len(types))
	for i, t := range types {
		all[i] = plan.Description{Type: t, Named: true, Replaces: []string{"name"}, Outputs: []string{"arn"}}
	}
	return all, nil
}

func (p *provider) Check(_ context.Context, r plan.CheckRequest) (lumigl.Value, error) {
	p.calls++
	return r.Properties, nil
}

func (p *provider) Name(context.Context, plan.Desired) (string, error) {
	return "", fmt.Errorf("disks are named by programs")
}

func (p *provider) Get(context.Context, plan.Existing) (inputs, outputs lumigl.Value, err error) {
	return inputs, outputs, nil
}

func (p *provider) InspectChange(context.Context, plan.InspectChangeRequest) (plan.Difference, error) {
	p.calls++
	return plan.Difference{Changes: []plan.Change{{Path: "size"}}}, nil
}

// desired returns a program with the given number of disks. Every other disk refers to the previous one and its ARN. Every
// step-th disk has a different size; if step is 0, all sizes are equal.
func desired(b *testing.B, disks, step int) *lumigl.Snapshot {
	s := &lumigl.Snapshot{Package: "bench"}
	var last *lumigl.Vertex
	for i := range disks {
		name := fmt.Sprintf("disk-%06d", i)
		v, err := s.Add(urn.URN("urn:lumi:prod::bench:index::" + string(disk) + "::" + name))
		if err != nil {
			b.Fatal(err)
		}
		size := int64(10)
		if step > 0 && i%step == 1 {
			size = 20
		}
		members := []lumigl.Member{
			{Key: "encrypted", Value: lumigl.BoolOf(true)},
			{Key: "name", Value: lumigl.TextOf(name)},
			{Key: "size", Value: lumigl.IntOf(size)},
			{Key: "tags", Value: lumigl.ObjectOf(
				lumigl.Member{Key: "env", Value: lumigl.TextOf("prod")}, lumigl.Member{Key: "team", Value: lumigl.TextOf("storage")},
			)},
			{Key: "zone", Value: lumigl.TextOf("us-west-2a")},
		}
		if i%2 == 1 {
			members = append(members,
				lumigl.Member{Key: "source", Value: lumigl.ReferenceTo(last)},
				lumigl.Member{Key: "sourceArn", Value: lumigl.PropertyOf(last, "arn")})
		}
		v.Properties = lumigl.ObjectOf(members...)
		last = v
	}
	text, err := lumigl.Append(nil, s)
	if err != nil {
		b.Fatal(err)
	}
	loaded, err := lumigl.ParseSnapshot(string(text))
	if err != nil {
		b.Fatal(err)
	}
	return loaded
}

// deployed returns the graph that results from deploying s.
func deployed(b *testing.B, s *lumigl.Snapshot) *graph.Graph {
	p := makePlan(b, request(&graph.Graph{Environment: "prod", Lineage: "bench"}, s, &provider{}))
	planned := p.Transition.Graph.Newest("bench")
	now := make(map[string]*graph.Resource, planned.Len())
	resolve := func(v *lumigl.Vertex, property string) (lumigl.Value, bool) { return now[v.Key()].Output(property) }
	var resources []*graph.Resource
	for r := range planned.Resources() {
		made := *r
		made.ID = "id-" + r.URN.Name()
		inputs, err := expr.Evaluate(r.Inputs, resolve)
		if err != nil {
			b.Fatal(err)
		}
		made.Inputs, made.Checked = inputs, inputs
		made.Outputs = lumigl.ObjectOf(lumigl.Member{Key: "arn", Value: lumigl.TextOf("arn:" + made.ID)})
		now[string(r.URN)] = &made
		resources = append(resources, &made)
	}
	t, err := (&graph.Graph{Environment: "prod", Lineage: "bench"}).Deploy(graph.Update{
		Version: graph.NewVersion(planned.VersionID, resources),
	})
	if err != nil {
		b.Fatal(err)
	}
	return t.Graph
}

func request(g *graph.Graph, s *lumigl.Snapshot, p plan.Provider) plan.Request {
	next := graph.Deployment(1)
	if v := g.Newest("bench"); v != nil {
		next = v.Deployment + 1
	}
	return plan.Request{
		Graph: g, Deployment: next, Desired: s, Provider: p,
		Provisioner: func(tokens.Type) string { return "providers" },
	}
}

func makePlan(b *testing.B, r plan.Request) *plan.Plan {
	p, err := plan.Make(context.Background(), r)
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// work holds the graph of an environment and two programs: unchanged is the deployed one, and changed differs from it in
// the size of every hundredth disk.
type work struct {
	graph     *graph.Graph
	unchanged *lumigl.Snapshot
	changed   *lumigl.Snapshot
	disks     int
}

func newWork(b *testing.B, disks int) *work {
	w := &work{unchanged: desired(b, disks, 0), changed: desired(b, disks, 100), disks: disks}
	w.graph = deployed(b, desired(b, disks, 0))
	return w
}

// planUnchanged plans the deployed program, which must not call the provider for any resource.
func (w *work) planUnchanged(b *testing.B) {
	var p provider
	for _, s := range makePlan(b, request(w.graph, w.unchanged, &p)).Steps {
		if s.Kind != plan.Same {
			b.Fatalf("step for %s = %s, want %s: %v", s.URN, s.Kind, plan.Same, s.Reasons)
		}
	}
	if p.calls > 0 {
		b.Fatalf("planning unchanged resources made %d provider calls, want 0", p.calls)
	}
}

func (w *work) planChanged(b *testing.B) {
	var p provider
	r := request(w.graph, w.changed, &p)
	r.Parallelism = 1 // the provider's call counter is not synchronized
	updates := 0
	for _, s := range makePlan(b, r).Steps {
		if s.Kind == plan.Update {
			updates++
		}
	}
	if updates != w.disks/100 {
		b.Fatalf("plan has %d updates, want %d", updates, w.disks/100)
	}
}

// BenchmarkPlan reports the median CPU time in seconds, including garbage collection. Each iteration runs every case, so
// that the ratios are meaningful even on a busy machine. The targets are at most 0.1 s for 10,000 unchanged resources,
// 1.2 s for 100,000, and 1.5 times as long with a change to every hundredth.
func BenchmarkPlan(b *testing.B) {
	sizes := []int{10_000, 100_000}
	works := map[int]*work{}
	for _, disks := range sizes {
		works[disks] = newWork(b, disks)
	}
	unchanged, changed := map[int][]float64{}, map[int][]float64{}
	measure := func(plan func(*testing.B)) float64 {
		runtime.GC()
		before := cputime.Now(b)
		plan(b)
		return (cputime.Now(b) - before).Seconds()
	}
	for b.Loop() {
		for _, disks := range sizes {
			w := works[disks]
			unchanged[disks] = append(unchanged[disks], measure(w.planUnchanged))
			changed[disks] = append(changed[disks], measure(w.planChanged))
		}
	}
	b.ReportMetric(0, "ns/op") // the sum of different cases is meaningless
	for _, disks := range sizes {
		b.ReportMetric(cputime.Median(unchanged[disks]), fmt.Sprintf("%d-cpu-s", disks))
		b.ReportMetric(cputime.Median(changed[disks])/cputime.Median(unchanged[disks]), fmt.Sprintf("%d-changed/unchanged", disks))
	}
	b.ReportMetric(cputime.Median(unchanged[100_000])/cputime.Median(unchanged[10_000]), "100000/10000")
}

func BenchmarkUnchanged(b *testing.B) { single(b, (*work).planUnchanged) }

func BenchmarkChanged(b *testing.B) { single(b, (*work).planChanged) }

func single(b *testing.B, plan func(*work, *testing.B)) {
	w := newWork(b, 100_000)
	b.ReportAllocs()
	for b.Loop() {
		plan(w, b)
	}
}
