package run

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/queue"
	"github.com/lumi-idl/lumi/deploy/run/execute"
	"github.com/lumi-idl/lumi/deploy/run/journal"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

func (e *Engine) provisioner(t tokens.Type) string {
	if e.Provisioner != nil {
		if name, err := e.Provisioner(t); name != "" && err == nil {
			return name
		}
	}
	if t == lumigl.ModuleType {
		return execute.Module
	}
	return execute.Providers
}

// planFor plans a request. approved holds the effects of its approved plan, if any.
func (e *Engine) planFor(
	ctx context.Context, g *graph.Graph, d queue.Entry, r Request, approved []plan.Effect,
) (p *plan.Plan, err error) {
	if err := e.checkProvisioners(r); err != nil {
		return nil, err
	}
	names, err := e.renamed(ctx, d.Module, r)
	if err != nil {
		return nil, err
	}
	g = g.WithNames(d.Module, names)
	if r.Desired == nil {
		p, err = plan.MakeDestroy(g, r.Destroy, e.provisioner)
	} else {
		p, err = plan.Make(ctx, plan.Request{
			Graph: g, Deployment: d.ID, Desired: r.Desired, Provider: e.caller(d.Module, r), Provisioner: e.provisioner,
			Targets: r.Targets, Replace: r.Replace, Interrupt: r.Interrupt, UniqueNames: r.UniqueNames,
			Reads: plan.Reads(approved), Incarnations: plan.Incarnations(approved), Parallelism: e.Parallelism,
		})
	}
	if err != nil {
		return nil, err
	}
	return p, e.checkHandlers(p)
}

// Plan plans requests, each against the resource graph expected after the deployments before it. It returns a
// *[plan.Error] with the faults of all requests. A request that waits for one that cannot be deployed is not planned
// and adds no faults.
func (e *Engine) Plan(ctx context.Context, requests ...Request) ([]Planned, error) {
	var g *graph.Graph
	var rows []store.Job
	var last int64
	var now time.Time
	err := e.Journal.Read(ctx, func(t *journal.Tx) error {
		environment, err := t.Environment(e.Environment)
		if err != nil {
			return err
		}
		last, now = environment.Last, t.Now()
		rows, g, err = t.QueueAndGraph()
		return err
	})
	if err != nil {
		return nil, err
	}
	f := forecast{Engine: e, graph: g, queue: e.Entries(now, rows), rows: rows, expected: g, failed: map[string]bool{}}
	var all []Planned
	var wrong plan.Error
	for i, r := range requests {
		if len(r.Replace) > 0 { // Users of the module are deployed next.
			r.Interrupt = slices.Concat(r.Interrupt, deployed(requests[i+1:]))
		}
		p, err := f.plan(ctx, r, last+1)
		if refused, ok := errors.AsType[*plan.Error](err); ok {
			wrong.Faults = append(wrong.Faults, refused.Faults...)
		} else if err != nil {
			return nil, err
		}
		if all = append(all, p); !p.Idle {
			last++
		}
	}
	if len(wrong.Faults) > 0 {
		return nil, &wrong
	}
	return all, nil
}

// deployed returns the names of the modules that requests deploy.
func deployed(requests []Request) (modules []string) {
	for _, r := range requests {
		if r.Desired != nil {
			modules = append(modules, r.Desired.Package)
		}
	}
	return modules
}

// forecast plans a sequence of deployments.
type forecast struct {
	*Engine
	graph *graph.Graph
	queue queue.Queue
	// rows lists the queued deployments not yet included in expected. failed contains the names of deployments that
	// cannot be planned.
	rows     []store.Job
	expected *graph.Graph
	failed   map[string]bool
}

// plan plans a request with its prospective deployment number. The result has no plan if the request waits for a
// deployment that cannot be planned.
func (f *forecast) plan(ctx context.Context, r Request, number int64) (p Planned, err error) {
	added, err := f.entryOf(r, number)
	if err != nil {
		return p, err
	}
	q, _, err := f.queue.Add(added, f.graph)
	if err != nil {
		return p, plan.AsError(err)
	}
	needed, _ := neededFor(added.Name(), q, f.graph)
	var left []store.Job
	for _, d := range f.rows {
		if !needed[job.Name(d)] {
			left = append(left, d)
		} else if f.expected, err = f.after(ctx, d, f.expected); err != nil {
			return p, err
		}
	}
	f.rows = left
	for name := range needed {
		if f.failed[name] {
			f.queue, f.failed[added.Name()] = q, true
			return p, nil
		}
	}
	queued := func(e queue.Entry) bool { return e.Module == added.Module && !e.IsCleanup() }
	wasQueued := slices.ContainsFunc(f.queue, queued)
	p.Waits = q.Waits(slices.IndexFunc(q, func(e queue.Entry) bool { return e.Name() == added.Name() }), f.graph)
	if err = f.checkProvisioners(r); err == nil { // describing types requires valid provisioners
		p.request, err = f.markSecrets(ctx, added.Module, r)
	}
	g := f.expected
	if err == nil && r.Refresh {
		if p.reading, err = f.read(ctx, g, f.graph, added.Module, p.request); err == nil {
			g = p.reading.actual
		}
	}
	if err == nil {
		p.Plan, err = f.planFor(ctx, g, added, p.request, nil)
	}
	if err != nil {
		f.queue, f.failed[added.Name()] = q, true
		return p, err
	}
	p.request.Replace = p.Replace // the URNs in p.Replace are valid for a retry
	p.request.Policy, p.Findings = f.Policy.Text(), f.Policy.Evaluate(p.Plan)
	isNamed := !p.IsFor(f.expected, p.Deployment)
	if p.Idle = !wasQueued && !p.HasChanges() && !isNamed && !p.ClearsDrift(); !p.Idle {
		f.queue, f.expected = q, p.Transition.Graph
	}
	return p, nil
}

// markSecrets returns the request with all properties declared as secret by their types marked as secrets, since the
// desired state is stored. Programs already mark them, but other producers of graphs may not.
func (e *Engine) markSecrets(ctx context.Context, module string, r Request) (Request, error) {
	if r.Desired == nil {
		return r, nil
	}
	types, err := e.describe(ctx, module, r)
	if err != nil {
		return r, err
	}
	desired := r.Desired.Clone()
	for v := range desired.Vertices() {
		properties, changed := plan.WrapSecrets(v.Properties, types[v.Type].Secrets)
		if v.Properties = properties; changed {
			r.Desired = desired
		}
	}
	return r, nil
}

// renamed returns the renamed properties of resource types in the program. Both current and former types are keys.
func (e *Engine) renamed(ctx context.Context, module string, r Request) (map[tokens.Type][]graph.Renamed, error) {
	if r.Desired == nil {
		return nil, nil
	}
	types, err := e.describe(ctx, module, r)
	if err != nil {
		return nil, err
	}
	renamed := map[tokens.Type][]graph.Renamed{}
	for v := range r.Desired.Vertices() {
		names := types[v.Type].Renamed
		if len(names) == 0 {
			continue
		}
		renamed[v.Type] = names
		for _, e := range v.Options.Get("aliases").Elements() {
			alias, _ := e.Text()
			if former := urn.URN(alias).Type(); former != "" {
				renamed[former] = names
			}
		}
	}
	return renamed, nil
}

// describe returns the descriptions of the resource types in the desired state.
func (e *Engine) describe(ctx context.Context, module string, r Request) (map[tokens.Type]plan.Description, error) {
	types := map[tokens.Type]plan.Description{}
	for v := range r.Desired.Vertices() {
		if v.Type != lumigl.ModuleType {
			types[v.Type] = plan.Description{}
		}
	}
	all, err := e.caller(module, r).Describe(ctx, slices.Sorted(maps.Keys(types)))
	if wrong, ok := errors.AsType[*plan.ConfigurationError](err); ok {
		return nil, wrong.At(r.Desired, err.Error())
	}
	for _, d := range all {
		types[d.Type] = d
	}
	return types, err
}

// neededFor returns the names of a deployment and of all deployments that it waits for, transitively. blocked reports
// whether one of them has failed or needs an answer.
func neededFor(name string, q queue.Queue, g *graph.Graph) (needed map[string]bool, blocked bool) {
	needed = map[string]bool{name: true}
	for i, e := range slices.Backward(q) { // Later running deployments do not wait for others.
		if !needed[e.Name()] {
			continue
		}
		for _, w := range q.Waits(i, g) {
			needed[w.For.Name()] = true
			blocked = blocked || w.For.Failed
		}
	}
	return needed, blocked
}

// after returns the resource graph expected after a deployment. It returns g if the deployment cannot be planned.
func (e *Engine) after(ctx context.Context, d store.Job, g *graph.Graph) (*graph.Graph, error) {
	if d.Kind == store.Cleanup {
		return g.Cleanup(d.Module).Graph, nil
	}
	r, approved, err := e.RequestOf(ctx, d)
	if err != nil {
		return nil, err
	}
	p, err := e.planFor(ctx, g, entry(d), r, approved)
	if wrong := (*plan.Error)(nil); errors.As(err, &wrong) {
		return g, nil
	} else if err != nil {
		return nil, err
	}
	return p.Transition.Graph, nil
}
