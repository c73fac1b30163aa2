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
// Package serve runs provisioners, package serve/plugin calls them, and package providertest tests them. See
// docs/provisioners.md for a guide and runtime/lumirpc/provisioner.proto for the protocol.
package provisioner

import (
	"context"
	"encoding/json"

	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Provisioner deploys the resources of the types that Lumi.yaml maps to it. An engine may call each method in a different
// process, so Provision can pass information to Status only in the token. All methods must be idempotent, since an engine
// repeats calls after a crash.
//
// Errors should contain the tool's own message. An engine retries a call after a [lumi.RetryError], and fails the
// deployment after any other error. Secrets of the change are masked in errors and in slog output.
//
// [lumi.RetryError]: https://pkg.go.dev/github.com/lumi-idl/lumi/runtime#RetryError
type Provisioner interface {
	// Plan returns a description of the effects of Provision. It must not have side effects.
	Plan(ctx context.Context, c *Change) (*Plan, error)
	// Provision starts a change and returns a token for Status, or "" if no change is necessary. It may return before
	// the change is complete. An engine that lost the token may call it again after the change is complete; the status
	// for the new token must have the same metadata.
	Provision(ctx context.Context, c *Change) (token string, err error)
	// Status returns the status of a change, given any token ever returned by Provision. For any other token, the error
	// wraps lumi.ErrNotFound.
	Status(ctx context.Context, token string) (*Status, error)
}

// Change is a change of the resources of a module that one provisioner deploys.
type Change struct {
	// Environment and Module are the names of the environment and the module, such as "dev" and "network".
	Environment, Module string
	// New holds the desired state of the resources, in dependency order, and Old their current state. Resources that are
	// only in Old must be deleted. After a failure, some of them may not exist.
	New, Old []*Resource
	// Context holds other resources that resources in New refer to directly.
	Context []*Resource
	// Task is the task of the [Plan] to run, or "" to make the change itself.
	Task string
}

// Resource is a resource of a [Change].
type Resource struct {
	// Key identifies the resource and the deployment that last changed it, such as "site:aws:rds:Database::main:7".
	Key string
	URN urn.URN
	// Type is the type in the URN. It is "lumi:index:Module" for a version of the whole module.
	Type tokens.Type
	// ID is the provider's id for the resource. It is set only in Context.
	ID string
	// Properties holds the program's properties. In Context, it also holds computed properties.
	Properties Properties
	// Metadata is the resource's metadata returned by Status.
	Metadata Properties
	// Dependencies holds the URNs of the resources that this one depends on, sorted.
	Dependencies []urn.URN
}

// Properties maps property names to values. A value is nil, a bool, float64, string, []any, or map[string]any, or a special
// value: [Secret], [Reference], [Interpolation], [JSON], or [Part]. Null fields of objects are dropped.
type Properties = map[string]any

// Secret is a secret value in properties or metadata.
type Secret struct{ Value any }

// MarshalJSON implements [json.Marshaler]. The encoding marks the value as a secret, so that secrets in metadata of the
// author's own types stay secret.
func (s Secret) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{wire.Signature: wire.Secret, "value": s.Value})
}

// Reference refers to a resource or, if Property is set, to a property that is known once the resource is provisioned.
type Reference struct {
	URN      urn.URN
	Property string
}

// Interpolation is the concatenation of parts, some of which are unknown.
type Interpolation struct{ Parts []any }

// JSON is the JSON encoding of a value that is not fully known.
type JSON struct{ Value any }

// Part is a part of an unknown value Of.
type Part struct {
	Of any
	// Path is the path of the part in Of, such as "a[0].b".
	Path string
}

// Plan describes the effects of a change.
type Plan struct {
	// Text is the tool's human-readable plan. It must not contain secrets.
	Text string
	// Tasks lists tasks to run after the change, such as a migration. Provision is called for each, in this order, with
	// the same change and Task set.
	Tasks []string
}

// Status is the status of a change.
type Status struct {
	State State
	// Message is the tool's message about a running or failed change, such as what it waits for or why it failed.
	Message string
	// Metadata maps the keys of created and changed resources to their metadata if State is [Done]. References to their
	// properties read it. Values are as in [Properties], or any others that package json can marshal.
	Metadata map[string]Properties
}

// State is the state of a change.
type State string

// The states of a change.
const (
	Running State = "running"
	Failed  State = "failed"
	Done    State = "done"
)
