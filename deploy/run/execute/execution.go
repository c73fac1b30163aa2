package execute

import (
	"context"
	"time"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/provision"
	"github.com/lumi-idl/lumi/deploy/run/journal"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Options are those of [run.Options] in package run.
type Options struct {
	Parallelism  int
	StopOnError  bool
	Timeout      time.Duration
	Retries      int
	Backoff      time.Duration
	Poll         time.Duration
	Provisioners map[string]plan.Provisioner
}

// Order is what a deployment was asked to do.
type Order struct {
	// Desired is the desired state of the module, or nil.
	Desired *lumigl.Snapshot
	// Configuration has that of packages, by name, and Caller calls providers with it.
	Configuration lumigl.Value
	Caller        *provision.Caller
}

// Planner knows what a deployment was asked to do, and plans it.
type Planner interface {
	// Load returns the order. It is called first.
	Load(context.Context) (Order, error)
	// Plan returns the plan for a resource graph. The error is an *[AskError] if it does more than what was agreed to.
	Plan(context.Context, *graph.Graph) (*plan.Plan, error)
	// Renamed returns the properties that have other names now, by type.
	Renamed(context.Context) (map[tokens.Type][]graph.Renamed, error)
	// HandlerOf returns the name of the provisioner of a type, and CheckHandler an error unless the one that made a resource
	// still handles its type.
	HandlerOf(tokens.Type) string
	CheckHandler(*graph.Resource) error
}

// The names of the provisioners that are built in.
const (
	// Providers is the one that calls resource providers.
	Providers = "providers"
	// Module is the one that makes a module's new version known.
	Module = "module"
)

// AskError puts a deployment into the state ASK, with a question as its message.
type AskError struct{ Message string }

// Error returns the message.
func (e *AskError) Error() string { return e.Message }

// execution is the run of a deployment by this process, from its claim until it is done, fails, asks or is stopped.
type execution struct {
	*job.Held
	Options
	Order
	planner Planner
	journal *journal.Journal
	// graph is the resource graph that the plan was made for.
	graph *graph.Graph
	plan  *plan.Plan
	// moves has the URNs in the resource graph of resources that the plan moves, by those that they will have.
	moves map[urn.URN]urn.URN
	// users finds what refers to a resource that a cleanup deletes, once its first task is done.
	users func(*graph.Resource) []*graph.Resource
	progress
}

// isCommitted reports whether the module's new version is in the resource graph already, so that only deletions are left.
func (x *execution) isCommitted(g *graph.Graph) bool {
	newest := g.Newest(x.Job.Module)
	if x.Job.Kind == store.Destroy {
		return newest == nil
	}
	return newest != nil && newest.Deployment == graph.Deployment(x.Job.Number)
}

// configurationOf returns the configuration that a resource is deleted with: that of the new version where it has one of the
// package, and otherwise that of the version that made the resource.
func (x *execution) configurationOf(g *graph.Graph, r *graph.Resource) lumigl.Value {
	var all lumigl.ObjectBuilder
	all.SetAll(g.Configuration(r))
	all.SetAll(x.Configuration)
	return all.Object()
}

// callerOf returns the caller that a resource of the graph is deleted with.
func (x *execution) callerOf(r *graph.Resource) *provision.Caller {
	pkg := r.Type().Package()
	configuration := x.configurationOf(x.graph, r)
	if configuration.Get(pkg).Equal(x.Configuration.Get(pkg)) {
		return x.Caller
	}
	return x.Caller.With(configuration.Get)
}

// say shows a message about a resource, which is not stored.
func (x *execution) say(u, message string) {
	x.Show(store.Event{Time: time.Now().UTC(), Deployment: x.Job.ID, Name: job.Name(x.Job), URN: u, Level: "info", Message: message})
}
