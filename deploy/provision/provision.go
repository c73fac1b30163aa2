// Package provision calls resource providers for the engine: it converts LumiGL values to property bags and back, and
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
// In a bag, a reference to a resource is its URN. Secrets, unknown values, assets, and archives are encoded as
// described in docs/protocol.md. Values not computed yet are unknown. Numbers are converted to the nearest float64, as
// in JavaScript, so integers above 2^53 lose digits. Null properties are absent.
//
// In responses, URNs referenced in the request become references again, except in outputs, in assets and archives, and
// in properties declared as strings.
package provision

import (
	"context"
	"sync"

	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Providers finds the providers of resource types. It must be safe for concurrent use.
type Providers interface {
	// Provider returns the provider of a type and the version of its plugin, or "". configuration is the configuration
	// of the type's package: an object, or absent.
	Provider(ctx context.Context, t tokens.Type, configuration lumigl.Value) (p lumi.ResourceProvider, version string, err error)
}

// Caller calls providers. It is the [plan.Provider] of the engine and safe for concurrent use.
//
// It returns the errors of [lumi.ResourceProvider], but converts a *[lumi.PartialError] to a *[PartialError]. Secrets
// of the request are masked in messages.
type Caller struct {
	Providers Providers
	// Configuration returns the configuration of a package: an object, or absent.
	Configuration func(pkg string) lumigl.Value

	descriptions sync.Map // *[lumi.Description] by type
}

var _ plan.Provider = (*Caller)(nil)

// With returns a caller with another configuration.
func (c *Caller) With(configuration func(pkg string) lumigl.Value) *Caller {
	return &Caller{Providers: c.Providers, Configuration: configuration}
}

// Abilities describes how a type can recover from an uncertain Create.
type Abilities struct {
	// Find means that the type implements Find, Idempotent that Create can be repeated with the same token.
	Find, Idempotent bool
	// Version is the version of the plugin, or "".
	Version string
}

// CreateRequest asks to create a resource with the properties returned by Check.
type CreateRequest struct {
	plan.Desired
	// Token is the same for every attempt to create the resource.
	Token string
}

// PartialError reports that Create or Update failed partway.
type PartialError struct {
	ID string
	// Inputs and Outputs hold the current properties of the resource.
	Inputs, Outputs lumigl.Value
	// Err is the cause.
	Err error
}

// Error returns the message of the cause.
func (e *PartialError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *PartialError) Unwrap() error { return e.Err }
