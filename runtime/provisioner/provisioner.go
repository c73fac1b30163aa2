// Package provisioner defines the interface that provisioners implement. A provisioner is a plugin, an executable
// lumi-provisioner-NAME, that brings resources which another tool manages into a deployment.
//
//	type tool struct{}
//
//	func (tool) Provision(ctx context.Context, c *provisioner.Change) (token string, err error) {
//		… // hand c.New to the tool, which works out the changes
//		return run.ID, nil
//	}
//
//	func (tool) Status(ctx context.Context, token string) (*provisioner.Status, error) { … }
//
//	func (tool) Plan(ctx context.Context, c *provisioner.Change) (*provisioner.Plan, error) { … }
//
//	func main() { serve.MainProvisioner("tool", "1.0.0", tool{}) }
//
// Package serve runs it, package serve/plugin calls it, and package providertest tests it. docs/provisioners.md is the
// guide, and runtime/lumirpc/provisioner.proto the protocol.
package provisioner

import (
	"context"
	"encoding/json"

	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Provisioner changes the resources of the types that Lumi.yaml maps to it. An engine may call each method in a process of its
// own, so only the token connects Provision with Status. All methods must be idempotent: an engine repeats calls after a crash.
//
// An error should have the tool's own words. An engine repeats the call after a [lumi.RetryError], and fails the deployment
// after any other. Secrets of the change are masked in errors and in what package slog logs.
//
// [lumi.RetryError]: https://pkg.go.dev/github.com/lumi-idl/lumi/runtime#RetryError
type Provisioner interface {
	// Plan describes what Provision would do. It changes nothing.
	Plan(ctx context.Context, c *Change) (*Plan, error)
	// Provision starts a change, and returns the token that Status is called with, or "" if nothing has to change. It may
	// return before the change is complete. If it is repeated after the change is complete, the engine may have lost the first
	// token, so it needs one that leads to the same metadata.
	Provision(ctx context.Context, c *Change) (token string, err error)
	// Status returns the progress of a change, for any token that Provision ever returned. The error wraps lumi.ErrNotFound
	// for any other.
	Status(ctx context.Context, token string) (*Status, error)
}

// Change is a change of the resources in one module that a provisioner handles.
type Change struct {
	// Environment and Module are names, such as "dev" and "network".
	Environment, Module string
	// New has all resources that the provisioner handles in the module as they will be, each after those that it refers to,
	// and Old has them as they are. Resources only in Old must be deleted; after a failure some of them may not exist.
	New, Old []*Resource
	// Context has the resources of other provisioners and of providers that those in New refer to directly.
	Context []*Resource
	// Task is the task of a [Plan] to run, or "" for the change itself.
	Task string
}

// Resource is a resource of a [Change].
type Resource struct {
	// Key identifies the resource with the deployment that last changed it, such as "site:aws:rds:Database::main:7".
	Key string
	URN urn.URN
	// Type is that of the URN. That of a version of the module itself is "lumi:index:Module".
	Type tokens.Type
	// ID is the provider's id. Only resources in Context have one.
	ID string
	// Properties are those in the program and, in Context, also those that the provider computed.
	Properties Properties
	// Metadata is what Status returned for the resource.
	Metadata Properties
	// Dependencies has the URNs of the resources that it refers to or depends on otherwise, sorted.
	Dependencies []urn.URN
}

// Properties are properties by name. A value is a bool, float64, string, []any, map[string]any or nil, or one of the special
// values: [Secret], [Reference], [Interpolation], [JSON] and [Part]. Null members of objects are left out.
type Properties = map[string]any

// Secret is a secret value, in properties or metadata.
type Secret struct{ Value any }

// MarshalJSON implements [json.Marshaler]. The text marks the value as secret, so that secrets in metadata remain secret inside
// the author's own types.
func (s Secret) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{wire.Signature: wire.Secret, "value": s.Value})
}

// Reference is a reference to a resource or, if Property is set, to a property that the resource will have once it has been
// provisioned.
type Reference struct {
	URN      urn.URN
	Property string
}

// Interpolation is a string joined from parts, some of which are not known yet.
type Interpolation struct{ Parts []any }

// JSON is the JSON text of a value that is not known yet.
type JSON struct{ Value any }

// Part is a part of a value that is not known yet.
type Part struct {
	Of any
	// Path is such as "a[0].b".
	Path string
}

// Plan describes what a change would do.
type Plan struct {
	// Text is the tool's own plan, for people. It must not contain secrets.
	Text string
	// Tasks are to run after the change, such as a migration: Provision is called once for each, in this order, with the same
	// change and Task set.
	Tasks []string
}

// Status is the progress of a change.
type Status struct {
	State State
	// Message says what a running change waits for, or why one has failed, in the tool's own words.
	Message string
	// Metadata has the metadata of resources that were created or changed, by [Resource.Key], if State is [Done]. References to
	// their properties read it. Values are as in [Properties], or anything that package json can marshal.
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
