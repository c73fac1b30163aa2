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
// The expected graph is the result of the deployments that this one waits for, found in the Transition of their plans.
// When they are done, plan the module again with the actual graph. The new plan may run if again.Continues(p.Effects())
// returns nil.
//
// To run a plan, run its tasks in order. Within a task, run steps in parallel, subject to their After:
//
//	again, err := p.Again(ctx, step, gone) // resolves inputs that are now known; never does more
//	again.New.ID, again.New.Outputs = …    // from the provider
//	p.Record(step, again)
//
// Finally, [Plan.Commit] returns the graph with the actual resources. After a failure, use [graph.Graph.Overlay]
// instead. The package example deploys two modules this way.
//
// [Compare] compares snapshots without a provider.
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

// Purpose is the purpose of a plan.
type Purpose uint8

// The possible purposes of a plan.
const (
	ToDeploy  Purpose = iota // creates a new version of a module
	ToCleanUp                // removes unreferenced versions
	ToDestroy                // removes a module
)

// Plan is a plan to deploy, clean up, or destroy a module.
type Plan struct {
	Purpose             Purpose
	Environment, Module string
	Deployment          graph.Deployment
	// Steps contains a step for each current or future resource of the module, including unchanged ones. A step comes
	// after the steps that it waits for.
	Steps []*Step
	// Tasks lists the tasks in execution order. Steps that do not require a provisioner are in no task.
	Tasks []Task
	// Transition is the expected transition of the resource graph.
	Transition *graph.Transition
	// Cleanups lists the subsequent cleanups, in order.
	Cleanups []Cleanup
	// Moves suggests aliases: each pair consists of a deleted and a created resource that are probably the same.
	Moves []match.Pair
	// Replace is the request's Replace with URNs as used in the program, which do not change when the module is planned
	// again.
	Replace []urn.URN
	// Digest is a hash of the effects of the plan, or empty if secrets could not be compared. It does not depend on
	// secrets or deployment numbers.
	Digest string

	before      *graph.Graph
	provisioner func(tokens.Type) string
	// planner re-decides steps. items maps steps that deploy inputs to the index of their items.
	planner *planner
	items   map[*Step]int32
}

// Cleanup describes the effect of a cleanup.
type Cleanup struct {
	Module   string
	Versions []graph.VersionID
	Deleted  []*graph.Resource
}

// Task is a part of a plan run by one provisioner. Its steps run in parallel, subject to their After.
type Task struct {
	// Number is the position of the task in the plan, starting at 1.
	Number      int
	Provisioner string
	// Steps is empty for the task of the module itself.
	Steps []*Step
}
