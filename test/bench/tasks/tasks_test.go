//go:build unix

// Package tasks_test measures the overhead of running a task graph.
package tasks_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/memory"
	"github.com/lumi-idl/lumi/internal/dag"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
	"github.com/lumi-idl/lumi/taskgraph/run"
	"github.com/lumi-idl/lumi/taskgraph/schedule"
	"github.com/lumi-idl/lumi/test/bench/cputime"
)

// workers is the number of concurrent tasks.
const workers = 16

type nothing struct{}

func (nothing) Execute(context.Context, run.Work) error { return nil }

// request returns a request to run 100 tasks on each of the given number of nodes. All but the first 10 tasks depend on
// two others.
func request(nodes int) run.Request {
	r := run.Request{Type: taskgraph.DefaultType}
	for i := range 100 {
		attributes := map[string]any{"type": "shell", "parameters": map[string]any{"cmd": fmt.Sprint("install package-", i)}}
		if i >= 10 {
			attributes["requires"] = []any{fmt.Sprint("task-", i-7), fmt.Sprint("task-", i-10)}
		}
		r.Tasks = append(r.Tasks, taskgraph.Task{ID: fmt.Sprint("task-", i), Attributes: attributes})
	}
	for i := range nodes {
		r.Inventory.Nodes = append(r.Inventory.Nodes, inventory.Node{Name: fmt.Sprintf("node-%03d", i), Local: true})
	}
	return r
}

// graph returns the dependency graph of the task runs in a request.
func graph(b *testing.B, r run.Request) dag.Graph {
	specs, err := taskgraph.Check(taskgraph.Merge([]taskgraph.Layer{{Tasks: r.Tasks}}, false), nil)
	if err != nil {
		b.Fatal(err)
	}
	s, err := schedule.New(schedule.Input{Tasks: specs, Nodes: r.Inventory.Nodes, All: true})
	if err != nil {
		b.Fatal(err)
	}
	return s.Graph
}

// engine executes a request with the real engine and an in-memory store.
func engine(b *testing.B, r run.Request) {
	s := memory.New()
	if err := s.Write(b.Context(), "prod", func(tx store.Tx) error { return tx.PutEnvironment(store.Environment{Name: "prod"}) }); err != nil {
		b.Fatal(err)
	}
	e := run.New(run.Options{Store: s, Environment: "prod", Executor: nothing{}, Parallelism: workers})
	d, err := e.Start(b.Context(), r)
	if err == nil {
		d, err = e.Run(b.Context(), d.ID)
	}
	if err != nil || d.State != store.Done {
		b.Fatalf("Run = %v, %v, want state %v", d, err, store.Done)
	}
}

// waiting starts all runs in topological order. Each run waits for its dependencies to close their channels.
func waiting(b *testing.B, g dag.Graph) {
	var x run.Executor = nothing{}
	var group errgroup.Group
	group.SetLimit(workers)
	done := make([]chan struct{}, g.Len())
	order := make([]int32, g.Len())
	for v := range order {
		done[v], order[v] = make(chan struct{}), int32(v)
	}
	for _, v := range g.Sort(order) {
		group.Go(func() error {
			for _, to := range g.Out(v) {
				<-done[to]
			}
			defer close(done[v])
			return x.Execute(b.Context(), run.Work{})
		})
	}
	if err := group.Wait(); err != nil {
		b.Fatal(err)
	}
}

// bare starts each run when its counter of pending dependencies reaches zero.
func bare(b *testing.B, g dag.Graph) {
	var x run.Executor = nothing{}
	var group errgroup.Group
	group.SetLimit(workers)
	var mutex sync.Mutex
	ready := dag.NewReady(g)
	queue := make(chan int32, g.Len())
	push := func(v int32) { queue <- v }
	for v := range int32(g.Len()) {
		if ready.Has(v) {
			push(v)
		}
	}
	for range g.Len() {
		v := <-queue
		group.Go(func() error {
			if err := x.Execute(b.Context(), run.Work{}); err != nil {
				return err
			}
			mutex.Lock()
			defer mutex.Unlock()
			ready.Done(v, push)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkRun compares the engine on 10,000 task runs with the engine on 20,000, and with two errgroups over the same
// graph that store nothing. It reports median CPU times, including garbage collection. Each iteration runs every case, so
// that the ratios are meaningful even on a busy machine.
func BenchmarkRun(b *testing.B) {
	small, large := request(100), request(200)
	smallGraph := graph(b, small)
	stages := []struct {
		name string
		run  func()
	}{
		{"bare", func() { bare(b, smallGraph) }},
		{"waiting", func() { waiting(b, smallGraph) }},
		{"run", func() { engine(b, small) }},
		{"run-20000", func() { engine(b, large) }},
	}
	times := map[string][]float64{}
	for b.Loop() {
		for _, s := range stages {
			runtime.GC()
			before := cputime.Now(b)
			s.run()
			times[s.name] = append(times[s.name], (cputime.Now(b) - before).Seconds())
		}
	}
	b.ReportMetric(0, "ns/op") // the sum of different runs is meaningless
	for _, s := range stages {
		b.ReportMetric(cputime.Median(times[s.name])*1000, s.name+"-cpu-ms")
	}
	b.ReportMetric(cputime.Median(times["run"])/cputime.Median(times["bare"]), "run/bare")
	b.ReportMetric(cputime.Median(times["run"])/cputime.Median(times["waiting"]), "run/waiting")
	b.ReportMetric(cputime.Median(times["run-20000"])/cputime.Median(times["run"]), "20000/10000")
}

func BenchmarkEngine(b *testing.B) {
	r := request(100)
	b.ReportAllocs()
	for b.Loop() {
		engine(b, r)
	}
}
