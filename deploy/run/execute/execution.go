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

// Options holds the run.Options of the same names.
type Options struct {
	Parallelism  int
	StopOnError  bool
	Timeout      time.Duration
	Retries      int
	Backoff      time.Duration
	Poll         time.Duration
	Provisioners map[string]plan.Provisioner
}

// Order is the request of a deployment.
type Order struct {
	// Desired is the desired state of the module, or nil.
	Desired *lumigl.Snapshot
	// Configuration is the configuration by package. Caller calls providers with it.
	Configuration lumigl.Value
	Caller        *provision.Caller
}

// Planner loads and plans a deployment.
type Planner interface {
	// Load returns the order. It is called before the other methods.
	Load(context.Context) (Order, error)
	// Plan returns the plan for a resource graph. It returns an *[AskError] if the plan exceeds the approved one.
	Plan(context.Context, *graph.Graph) (*plan.Plan, error)
	// Renamed returns the renamed properties by type.
	Renamed(context.Context) (map[tokens.Type][]graph.Renamed, error)
	// HandlerOf returns the name of the provisioner of a type. CheckHandler returns an error unless the provisioner or
	// provider that created a resource still handles its type.
	HandlerOf(tokens.Type) string
	CheckHandler(*graph.Resource) error
}

// Names of the built-in provisioners.
const (
	// Providers calls resource providers.
	Providers = "providers"
	// Module adds a module's new version to the resource graph.
	Module = "module"
)

// AskError puts a deployment into the state ASK, with a question as its message.
type AskError struct{ Message string }

// Error returns the message.
func (e *AskError) Error() string { return e.Message }

// execution is the run of a deployment by this process.
type execution struct {
	*job.Held
	Options
	Order
	planner Planner
	journal *journal.Journal
	// graph is the resource graph at the time of planning.
	graph *graph.Graph
	plan  *plan.Plan
	// moves maps future URNs of resources that the plan moves to their current ones.
	moves map[urn.URN]urn.URN
	// users returns the resources that refer to a given one, for cleanups; set after the first task.
	users func(*graph.Resource) []*graph.Resource
	progress
}

// isCommitted reports whether the module's new version is already in the resource graph, so that only deletions remain.
func (x *execution) isCommitted(g *graph.Graph) bool {
	newest := g.Newest(x.Job.Module)
	if x.Job.Kind == store.Destroy {
		return newest == nil
	}
	return newest != nil && newest.Deployment == graph.Deployment(x.Job.Number)
}

// configurationOf returns the configuration for deleting a resource: from the new version if it configures the package,
// otherwise from the version of the resource.
func (x *execution) configurationOf(g *graph.Graph, r *graph.Resource) lumigl.Value {
	var all lumigl.ObjectBuilder
	all.SetAll(g.Configuration(r))
	all.SetAll(x.Configuration)
	return all.Object()
}

// callerOf returns the caller for deleting a resource.
func (x *execution) callerOf(r *graph.Resource) *provision.Caller {
	pkg := r.Type().Package()
	configuration := x.configurationOf(x.graph, r)
	if configuration.Get(pkg).Equal(x.Configuration.Get(pkg)) {
		return x.Caller
	}
	return x.Caller.With(configuration.Get)
}

// show shows a message about a resource without storing it.
func (x *execution) show(u, message string) {
	x.Show(store.Event{Time: time.Now().UTC(), Deployment: x.Job.ID, Name: job.Name(x.Job), URN: u, Level: "info", Message: message})
}
