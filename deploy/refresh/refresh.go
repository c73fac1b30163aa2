// Package refresh compares stored resources with the real ones. It calls only Describe, Get, and InspectChange of
// providers, so it changes nothing:
//
//	read, err := refresh.Read(ctx, refresh.Request{Graph: g, Resources: refresh.Resources(g, module), Provider: provider})
//	for _, r := range read { … }                  // show r.Drifted, r.Ignored, and r.Err
//	actual, stale := refresh.Apply(g, read)       // the graph as it really is
//
// An actual resource has the real properties as its checked properties and outputs. Its inputs stay, since they say what
// the program asked for. The planner compares it with the program because [graph.Resource.Drifted] is not empty.
package refresh

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Request is the input of [Read].
type Request struct {
	Graph *graph.Graph
	// Resources lists the resources to read.
	Resources []*graph.Resource
	// Provider returns the provider of a resource.
	Provider func(*graph.Resource) plan.Provider
	// Ignore lists properties that never count as drifted: a resource type followed by a path, such as
	// "aws:ec2:Instance.tags.scanner".
	Ignore []string
	// Parallelism is the maximum number of resources to read at once.
	Parallelism int
	// Timeout is the time limit for a resource.
	Timeout time.Duration
}

// Result is the result of reading a resource.
type Result struct {
	// Stored is the resource in the graph. Actual is the resource to store instead; nil if there is nothing to store.
	Stored, Actual *graph.Resource
	// Drifted lists the paths whose real values differ, sorted. If the resource no longer exists, it is "id". Ignored
	// lists those that differ but are ignored by [Request.Ignore] or the option "ignoreChanges".
	Drifted, Ignored []string
	// Err is the reason why the resource could not be read or compared, or nil.
	Err error
}

// Resources returns the existing resources of a module's kept versions and failed deployments, newest version first. It
// omits look-ups, calls, and the resources of provisioners, which cannot be read.
func Resources(g *graph.Graph, module string) (all []*graph.Resource) {
	seen, kept := map[*graph.Resource]bool{}, g.Kept(module)
	for _, v := range slices.Backward(g.Versions(module)) {
		if !v.Partial && !slices.Contains(kept, v) {
			continue
		}
		for r := range v.Resources() {
			if !seen[r] && r.ID != "" && r.Provisioner == "" && !r.IsRead() {
				all = append(all, r)
			}
			seen[r] = true
		}
	}
	return all
}

// Read reads resources and compares them with the stored ones. The results are in the order of the resources. It returns
// an error only if ctx is done.
func Read(ctx context.Context, r Request) ([]Result, error) {
	results := make([]Result, len(r.Resources))
	places := make(chan int)
	var wg sync.WaitGroup
	for range min(r.Parallelism, len(results)) {
		wg.Go(func() {
			for i := range places {
				limited, cancel := context.WithTimeoutCause(ctx, r.Timeout, fmt.Errorf("timed out after %s", r.Timeout))
				results[i] = r.read(limited, r.Resources[i])
				if results[i].Err != nil && limited.Err() != nil {
					results[i].Err = context.Cause(limited)
				}
				cancel()
			}
		})
	}
	for i := range results {
		places <- i
	}
	close(places)
	wg.Wait()
	return results, context.Cause(ctx)
}

func (r *Request) read(ctx context.Context, stored *graph.Resource) Result {
	result := Result{Stored: stored}
	provider, references := r.Provider(stored), plan.ReferencesOf(r.Graph, stored)
	types, err := provider.Describe(ctx, []tokens.Type{stored.Type()})
	if err != nil {
		return Result{Stored: stored, Err: err}
	}
	c := comparison{Result: &result, description: types[0]}
	c.inputs, c.outputs, err = provider.Get(ctx, plan.Existing{
		URN: stored.URN, ID: stored.ID, Properties: stored.Properties(), References: references, Graph: r.Graph,
	})
	if errors.Is(err, lumi.ErrNotFound) {
		gone := *stored
		gone.ID, gone.Drifted = "", []string{"id"}
		result.Actual, result.Drifted = &gone, gone.Drifted
		return result
	}
	if err == nil {
		c.complete()
		err = c.compare(ctx, provider, references, ignoredPaths(r.Ignore, stored.Type()))
	}
	result.Err = err
	return result
}

// Apply returns the graph with the actual resources of results. It leaves out, and returns, the results for resources
// that have changed since they were read.
func Apply(g *graph.Graph, results []Result) (*graph.Graph, []Result) {
	actual, stale := map[*graph.Resource]*graph.Resource{}, []Result(nil)
	for _, r := range results {
		if r.Actual == nil {
			continue
		}
		now := g.Find(r.Stored.URN, r.Stored.Deployment, r.Stored.ID)
		if now == nil || now != r.Stored && !now.LumiGL().Equal(r.Stored.LumiGL()) {
			stale = append(stale, r)
		} else {
			actual[now] = r.Actual
		}
	}
	if len(actual) == 0 {
		return g, stale
	}
	return g.Refresh(actual), stale
}
