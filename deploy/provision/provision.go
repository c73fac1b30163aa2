// Package provision calls resource providers for the engine. It converts between LumiGL values and property bags, and
// manages plugin processes.
//
//	pool := provision.NewPool(provision.PoolOptions{Command: command})
//	defer pool.Close()
//	caller := &provision.Caller{Providers: pool, Configuration: configuration}
//	p, err := plan.Make(ctx, plan.Request{Provider: caller, …})
//	made, err := caller.Create(ctx, provision.CreateRequest{Desired: …, Token: token})
//
// # Values
//
// In a bag, a reference to a resource is represented by its URN. Secrets, unknown values, assets, and archives are
// encoded as described in docs/protocol.md. Values that are not computed yet are unknown. Numbers are rounded to the
// nearest float64, as in JavaScript, so integers above 2^53 lose precision. Null properties are absent.
//
// In responses, URNs that the request referenced are converted back to references, except in outputs, assets, archives,
// and properties declared as strings.
package provision

import (
	"context"
	"sync"
	"time"

	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Providers returns the providers of resource types. It must be safe for concurrent use.
type Providers interface {
	// Provider returns the provider of a type and the version of its plugin, or "" if it has no plugin. configuration
	// configures the type's package. It is an object or absent.
	Provider(ctx context.Context, t tokens.Type, configuration lumigl.Value) (p lumi.ResourceProvider, version string, err error)
}

// Caller calls providers on behalf of the engine. It implements [plan.Provider] and is safe for concurrent use.
//
// Its methods return the errors of [lumi.ResourceProvider], except that a *[lumi.PartialError] is converted to a
// *[PartialError]. Secrets of the request are masked in error messages.
type Caller struct {
	Providers Providers
	// Configuration returns the configuration of a package. It is an object or absent.
	Configuration func(pkg string) lumigl.Value
	// Timeout is the time limit of Call, and of Get without properties. The default is no limit.
	Timeout time.Duration

	descriptions sync.Map // *[lumi.Description] by type
}

var _ plan.Provider = (*Caller)(nil)

// With returns a Caller with the same providers and another configuration.
func (c *Caller) With(configuration func(pkg string) lumigl.Value) *Caller {
	return &Caller{Providers: c.Providers, Configuration: configuration, Timeout: c.Timeout}
}

// Abilities describes how to recover from a call with an unknown result.
type Abilities struct {
	// Find is set if the type's provider implements Find. Idempotent is set if Create can be repeated with the same
	// token. Repeatable is set if Update and Delete can be, even while an earlier attempt is running.
	Find, Idempotent, Repeatable bool
	// Version is the version of the plugin, or "" if there is none.
	Version string
}

// CreateRequest is a request to create a resource with the properties returned by Check.
type CreateRequest struct {
	plan.Desired
	// Token is the same for all attempts to create the resource.
	Token string
}

// UpdateRequest is a request to change a resource in place.
type UpdateRequest struct {
	plan.InspectChangeRequest
	// Token is the same for all attempts to make the change.
	Token string
}

// DeleteRequest is a request to delete a resource.
type DeleteRequest struct {
	plan.Existing
	// Token is the same for all attempts to delete the resource.
	Token string
}

// PartialError reports that a Create or an Update was only partially completed.
type PartialError struct {
	ID string
	// Inputs and Outputs hold the resource's properties after the failed call.
	Inputs, Outputs lumigl.Value
	// Err is the cause of the failure.
	Err error
}

// Error returns the message of Err.
func (e *PartialError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *PartialError) Unwrap() error { return e.Err }
