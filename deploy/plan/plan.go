// Package plan plans deployments: what has to happen, and in which order, so that a module becomes what its program
// describes.
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
//		return err // an *Error has all that is wrong with the program
//	}
//	err = show.WriteText(os.Stdout, p, show.Options{Waits: waits})
//
// The graph that is expected is the one after the deployments that this one waits for, as their own plans have it in
// Transition. Once they are done, the plan is made again for the graph as it is. It may run if
// again.Continues(p.Effects()) is nil.
//
// To run a plan, run its tasks one after another, and the steps of each in parallel as far as their After allows:
//
//	again, err := p.Again(ctx, step, gone) // with inputs that are known by now; it may do less, never more
//	again.New.ID, again.New.Outputs = …    // what the provider made of it
//	p.Record(step, again)
//
// In the end, [Plan.Commit] returns the graph with the resources as they turned out to be, and [graph.Graph.Overlay] the one
// after a failure. The example deploys two modules like this.
//
// [Compare] shows what would change where there are no providers to ask.
//
// The package is pure: it reads no files and knows no store. It follows docs/engine.md, and docs/plan.md shows what users
// see of a plan.
package plan

import (
	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl/match"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Purpose is what a plan is for.
type Purpose uint8

// The purposes of plans.
const (
	ToDeploy  Purpose = iota // makes a new version of a module
	ToCleanUp                // removes versions that nothing leads to
	ToDestroy                // removes a module
)

// Plan is what a deployment, a cleanup or the removal of a module will do.
type Plan struct {
	Purpose             Purpose
	Environment, Module string
	Deployment          graph.Deployment
	// Steps has a step for each resource that the module has or will no longer have, those that stay the same included. Each
	// comes after those that it waits for.
	Steps []*Step
	// Tasks groups the steps, in the order in which they run.
	Tasks []Task
	// Transition is what becomes of the resource graph.
	Transition *graph.Transition
	// Cleanups has what the cleanups will delete that follow, in their order.
	Cleanups []Cleanup
	// Moves has pairs of a deleted and a created resource that are probably the same: the program should have an alias.
	Moves []match.Pair
	// Replace is that of the request, with URNs as the program has them: they stay when the plan is made again.
	Replace []urn.URN
	// Digest identifies what the plan does. It is empty if secrets could not be compared. It does not depend on secrets or
	// on numbers of deployments.
	Digest string

	before      *graph.Graph
	provisioner func(tokens.Type) string
	// planner made the plan, and decides steps again. items has the places of those that have inputs to deploy.
	planner *planner
	items   map[*Step]int32
}

// Cleanup is what a cleanup will remove.
type Cleanup struct {
	Module   string
	Versions []graph.VersionID
	Deleted  []*graph.Resource
}

// Task is a part of a deployment that one provisioner runs. The steps in it run in parallel as far as their After allows.
type Task struct {
	// Number counts from 1.
	Number      int
	Provisioner string
	// Steps is empty for the task of the module's own vertex.
	Steps []*Step
}
