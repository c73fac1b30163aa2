package plan

import (
	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Request asks for the plan of a deployment.
type Request struct {
	// Graph is the resource graph as it will be after the deployments that this one waits for.
	Graph *graph.Graph
	// Deployment is the number that the deployment has or would get.
	Deployment graph.Deployment
	// Desired is the desired state of the module. It must be valid, and must not change while the plan is in use.
	Desired *lumigl.Snapshot
	// Provider is asked about resources that differ.
	Provider Provider
	// Provisioner returns the name of the provisioner that handles a type; that of modules is [lumigl.ModuleType].
	Provisioner func(tokens.Type) string
	// Targets limits the plan to these resources and what they depend on. If it is empty, all are planned.
	Targets []urn.URN
	// Replace has resources of the program that are replaced even if nothing differs. One that does not exist yet is created,
	// and one that this deployment has replaced already is not replaced again.
	Replace []urn.URN
	// Interrupt has the modules that may be interrupted.
	Interrupt []string
	// Parallelism is how many calls of the provider run at once: 16 if it is 0.
	Parallelism int
}
