package execute

import (
	"context"
	"time"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/policy"
	"github.com/lumi-idl/lumi/deploy/provision"
	"github.com/lumi-idl/lumi/deploy/run/journal"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Options contains the fields of run.Options with the same names.
type Options struct {
	Parallelism  int
	StopOnError  bool
	Timeout      time.Duration
	Retries      int
	Backoff      time.Duration
	Poll         time.Duration
	Provisioners map[string]plan.Provisioner
}

// Order is the loaded request of a deployment.
type Order struct {
	// Desired is the desired state of the module. It is nil if the module is removed.
	Desired *lumigl.Snapshot
	// Configuration is the provider configuration by package. Caller uses it to call providers.
	Configuration lumigl.Value
	Caller        *provision.Caller
	// Policy is the policy that was approved along with the plan, or nil. Cleanup is the content of the resulting cleanups,
	// which obey it, too.
	Policy  *policy.Policy
	Cleanup store.Content
}

// Planner loads and plans a single deployment.
type Planner interface {
	// Load returns the order. It must be called before the other methods.
	Load(context.Context) (Order, error)
	// Plan returns a plan against the given resource graph. It returns an *[AskError] if the plan exceeds the approved
	// plan.
	Plan(context.Context, *graph.Graph) (*plan.Plan, error)
	// Renamed returns the renamed properties of each resource type.
	Renamed(context.Context) (map[tokens.Type][]graph.Renamed, error)
	// Actual returns a function that replaces the module's resources in a resource graph with their actual state, which it
	// reads. It returns nil if the request does not ask for that.
	Actual(context.Context, *graph.Graph) (func(*graph.Graph) *graph.Graph, error)
	// HandlerOf returns the name of the provisioner for a type. CheckHandler returns an error if the type of an
	// existing resource is no longer handled by the provisioner or provider that created the resource.
	HandlerOf(tokens.Type) string
	CheckHandler(*graph.Resource) error
}

// Names of the built-in provisioners.
const (
	// Providers is the provisioner that calls resource providers.
	Providers = "providers"
	// Module is the provisioner that adds a module's new version to the resource graph.
	Module = "module"
)

// AskError causes a deployment to wait for an answer, in state ASK. Message is the question.
type AskError struct{ Message string }

// Error returns the message.
func (e *AskError) Error() string { return e.Message }

// execution is a single run of a deployment by this process.
type execution struct {
	*job.Held
	Options
	Order
	planner Planner
	journal *journal.Journal
	// graph is the resource graph that the plan is based on.
	graph *graph.Graph
	plan  *plan.Plan
	// watch evaluates the policy before each step.
	watch *policy.Watch
	// moves maps the future URNs of resources to be moved to their current URNs.
	moves map[urn.URN]urn.URN
	// users returns the resources that refer to a given resource. It is set after the first task, for cleanups.
	users func(*graph.Resource) []*graph.Resource
	progress
}

// isCommitted reports whether the resource graph already contains the module's new version, so that only deletions
// remain.
func (x *execution) isCommitted(g *graph.Graph) bool {
	newest := g.Newest(x.Job.Module)
	if x.Job.Kind == store.Destroy {
		return newest == nil
	}
	return newest != nil && newest.Deployment == graph.Deployment(x.Job.Number)
}

// configurationOf returns the configuration for deleting a resource. The new version's configuration of a package takes
// precedence over the configuration in the resource's version.
func (x *execution) configurationOf(g *graph.Graph, r *graph.Resource) lumigl.Value {
	return lumigl.Merged(g.Configuration(r), x.Configuration)
}

// callerOf returns the caller used to delete a resource.
func (x *execution) callerOf(r *graph.Resource) *provision.Caller {
	pkg := r.Type().Package()
	configuration := x.configurationOf(x.graph, r)
	if configuration.Get(pkg).Equal(x.Configuration.Get(pkg)) {
		return x.Caller
	}
	return x.Caller.With(configuration.Get)
}

// allow evaluates the policy before a step takes place in its final form. It returns a *[plan.Error] if the step violates
// a mandatory rule.
func (x *execution) allow(s, final *plan.Step) error {
	advice, err := x.watch.Before(s, final)
	for i := range advice {
		x.show("warn", string(s.URN), advice[i].Violation())
	}
	return err
}

// show sends a message about a resource to Events without storing it.
func (x *execution) show(level, u, message string) {
	x.Show(store.Event{Time: time.Now().UTC(), Deployment: x.Job.ID, Name: job.Name(x.Job), URN: u, Level: level, Message: message})
}
