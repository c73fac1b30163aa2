// Package plan computes deployment plans: the ordered steps that bring a module to the state described by its program.
//
//	desired state ──┐                                             ┌─▶ steps, in tasks for provisioners
//	                ├─▶ read ──▶ pair ──▶ decide ──▶ assemble ────┼─▶ the resource graph afterward
//	resource graph ─┘               ▲      ▲                      └─▶ cleanups, suggested moves, digest
//	                                └──────┴── Provider
//
// [Make] plans a deployment, [MakeCleanup] a cleanup, and [MakeDestroy] the removal of a module:
//
//	p, err := plan.Make(ctx, plan.Request{
//		Graph: expected, Deployment: 7, Desired: desired, Provider: provider, Provisioner: provisioner,
//	})
//	if err != nil {
//		return err // an *Error lists all problems of the program
//	}
//	err = show.WriteText(os.Stdout, p, show.Options{Waits: waits})
//
// The expected graph results from the deployments that this one waits for; it is in the Transition of their plans. When
// they are done, the module is planned again for the actual graph. That plan may run if again.Continues(p.Effects()) is
// nil.
//
// To run a plan, run its tasks sequentially, and the steps of each task in parallel as far as their After allows:
//
//	again, err := p.Again(ctx, step, gone) // with the inputs now known; does the same or less
//	again.New.ID, again.New.Outputs = …    // from the provider
//	p.Record(step, again)
//
// Finally, [Plan.Commit] returns the graph with the actual resources. After a failure, use [graph.Graph.Overlay]
// instead. The package example deploys two modules this way.
//
// [Compare] shows changes without asking providers.
//
// The package does no I/O except through its Provider. See docs/engine.md for the design and docs/plan.md for the
// output.
package plan

import (
	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl/match"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Purpose distinguishes deployments, cleanups, and removals.
type Purpose uint8

// The purposes of plans.
const (
	ToDeploy  Purpose = iota // makes a new version of a module
	ToCleanUp                // removes unreferenced versions
	ToDestroy                // removes a module
)

// Plan is the plan of a deployment, a cleanup, or the removal of a module.
type Plan struct {
	Purpose             Purpose
	Environment, Module string
	Deployment          graph.Deployment
	// Steps has a step for each current or future resource of the module, including unchanged ones. Each step comes
	// after the steps it waits for.
	Steps []*Step
	// Tasks groups the steps, in execution order.
	Tasks []Task
	// Transition is the transition of the resource graph.
	Transition *graph.Transition
	// Cleanups lists the cleanups that follow, in order.
	Cleanups []Cleanup
	// Moves lists pairs of a deleted and a created resource that are probably the same: the program should add an
	// alias.
	Moves []match.Pair
	// Replace is copied from the request, with the program's URNs, which are stable when the module is planned again.
	Replace []urn.URN
	// Digest identifies the effects of the plan; empty if secrets could not be compared. It does not depend on secrets
	// or deployment numbers.
	Digest string

	before      *graph.Graph
	provisioner func(tokens.Type) string
	// planner re-decides steps. items maps steps with inputs to deploy to their items.
	planner *planner
	items   map[*Step]int32
}

// Cleanup lists what a cleanup will remove.
type Cleanup struct {
	Module   string
	Versions []graph.VersionID
	Deleted  []*graph.Resource
}

// Task is a part of a deployment run by one provisioner. Its steps run in parallel as far as their After allows.
type Task struct {
	// Number counts from 1.
	Number      int
	Provisioner string
	// Steps is empty for the task of the module itself.
	Steps []*Step
}
