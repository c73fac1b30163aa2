// Package provisioner defines the interface that provisioners implement. A provisioner is a plugin, an executable
// lumi-provisioner-NAME, that deploys resources with another tool.
//
//	type tool struct{}
//
//	func (tool) Provision(ctx context.Context, c *provisioner.Change) (token string, err error) {
//		… // pass c.New to the tool, which determines the changes
//		return run.ID, nil
//	}
//
//	func (tool) Status(ctx context.Context, token string) (*provisioner.Status, error) { … }
//
//	func (tool) Plan(ctx context.Context, c *provisioner.Change) (*provisioner.Plan, error) { … }
//
//	func main() { serve.MainProvisioner("tool", "1.0.0", tool{}) }
//
// Package serve runs it, package serve/plugin calls it, and package providertest tests it. See docs/provisioners.md for a
// guide and runtime/lumirpc/provisioner.proto for the protocol.
package provisioner

import (
	"context"
	"encoding/json"

	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Provisioner changes the resources of the types that Lumi.yaml maps to it. An engine may call each method in a
// different process, so only the token connects Provision with Status. All methods must be idempotent: an engine
// repeats calls after a crash.
//
// Errors should contain the tool's own message. An engine repeats the call after a [lumi.RetryError], and fails the
// deployment after any other error. Secrets of the change are masked in errors and in slog output.
//
// [lumi.RetryError]: https://pkg.go.dev/github.com/lumi-idl/lumi/runtime#RetryError
type Provisioner interface {
	// Plan describes what Provision would do. It changes nothing.
	Plan(ctx context.Context, c *Change) (*Plan, error)
	// Provision starts a change and returns a token for Status, or "" if nothing has to change. It may return before
	// the change is complete. If it is repeated after the change is complete, because the engine may have lost the
	// first token, the new token must yield the same metadata.
	Provision(ctx context.Context, c *Change) (token string, err error)
	// Status returns the progress of a change. It accepts every token that Provision has returned. For any other, the
	// error wraps lumi.ErrNotFound.
	Status(ctx context.Context, token string) (*Status, error)
}

// Change is a change of a module's resources that one provisioner handles.
type Change struct {
	// Environment and Module are names, such as "dev" and "network".
	Environment, Module string
	// New holds the desired state of all of the module's resources that the provisioner handles, in dependency order.
	// Old holds their current state. Resources only in Old must be deleted; after a failure, some of them may not
	// exist.
	New, Old []*Resource
	// Context holds the other resources that New refers to directly.
	Context []*Resource
	// Task is the task of a [Plan] to run, or "" for the change itself.
	Task string
}

// Resource is a resource of a [Change].
type Resource struct {
	// Key identifies the resource and the deployment that last changed it, such as "site:aws:rds:Database::main:7".
	Key string
	URN urn.URN
	// Type is the type in the URN. It is "lumi:index:Module" for a version of the module itself.
	Type tokens.Type
	// ID is the provider's id. Only resources in Context have one.
	ID string
	// Properties holds the program's properties and, in Context, also computed ones.
	Properties Properties
	// Metadata is the resource's metadata, as returned by Status.
	Metadata Properties
	// Dependencies holds the sorted URNs of the resources that it refers to or otherwise depends on.
	Dependencies []urn.URN
}

// Properties maps property names to values. A value is a bool, float64, string, []any, map[string]any, or nil, or a
// special value: [Secret], [Reference], [Interpolation], [JSON], or [Part]. Null members of objects are dropped.
type Properties = map[string]any

// Secret is a secret value, in properties or metadata.
type Secret struct{ Value any }

// MarshalJSON implements [json.Marshaler]. The encoding keeps metadata secret even within the author's own types.
func (s Secret) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{wire.Signature: wire.Secret, "value": s.Value})
}

// Reference refers to a resource or, if Property is set, to a property that the resource will have once provisioned.
type Reference struct {
	URN      urn.URN
	Property string
}

// Interpolation is a string joined from parts, some of which are unknown.
type Interpolation struct{ Parts []any }

// JSON is the JSON text of a value that is unknown or has unknown parts.
type JSON struct{ Value any }

// Part is a part of an unknown value.
type Part struct {
	Of any
	// Path is a path such as "a[0].b".
	Path string
}

// Plan describes the effect of a change.
type Plan struct {
	// Text is the tool's own, human-readable plan. It must not contain secrets.
	Text string
	// Tasks are run after the change, such as a migration: Provision is called once for each, in this order, with the
	// same change and Task set.
	Tasks []string
}

// Status is the progress of a change.
type Status struct {
	State State
	// Message describes what a running change waits for, or why one failed, in the tool's own words.
	Message string
	// Metadata holds the metadata of created and changed resources, by [Resource.Key], if State is [Done]. References
	// to their properties read it. Values are as in [Properties], or anything that package json can marshal.
	Metadata map[string]Properties
}

// State is the state of a change.
type State string

// The states.
const (
	Running State = "running"
	Failed  State = "failed"
	Done    State = "done"
)
