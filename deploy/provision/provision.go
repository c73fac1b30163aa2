// Package provision calls resource providers for the engine: it turns LumiGL values into bags of properties and back, and
// keeps the processes of plugins.
//
//	pool := provision.NewPool(provision.PoolOptions{Command: command})
//	defer pool.Close()
//	caller := &provision.Caller{Providers: pool, Configuration: configuration}
//	p, err := plan.Make(ctx, plan.Request{Provider: caller, …})
//	made, err := caller.Create(ctx, provision.CreateRequest{Desired: …, Token: token})
//
// # Values
//
// In a bag, a reference to a resource is its URN, and a secret, an unknown value, an asset or an archive the object or text
// that docs/protocol.md describes. What has yet to be computed is unknown, and a resource that does not exist yet is sent as
// its URN alone. A number is the nearest float64, as in JavaScript, so integers above 2^53 lose digits. A property that is
// null is absent.
//
// On the way back, a URN that the request referred to is a reference again, except in outputs, in assets and archives, and
// in properties that are declared as strings.
package provision

import (
	"context"
	"sync"

	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Providers finds the providers of resource types. Its method may be called concurrently.
type Providers interface {
	// Provider returns the provider of a type, configured with the configuration of its package: an object, or absent.
	// Version is that of its plugin, or "".
	Provider(ctx context.Context, t tokens.Type, configuration lumigl.Value) (p lumi.ResourceProvider, version string, err error)
}

// Caller calls providers. It is the [plan.Provider] of the engine. Its methods may be called concurrently.
//
// Errors are those of [lumi.ResourceProvider], except that a *[lumi.PartialError] is a *[PartialError]. Their messages have
// no secret of the request.
type Caller struct {
	Providers Providers
	// Configuration returns the configuration of a package: an object, or absent.
	Configuration func(pkg string) lumigl.Value

	descriptions sync.Map // of types, as *[lumi.Description]
}

var _ plan.Provider = (*Caller)(nil)

// With returns a caller with another configuration.
func (c *Caller) With(configuration func(pkg string) lumigl.Value) *Caller {
	return &Caller{Providers: c.Providers, Configuration: configuration}
}

// Abilities are how a type can recover from an uncertain Create.
type Abilities struct {
	// Find is set if the type has Find, and Idempotent if Create can be repeated with the same token.
	Find, Idempotent bool
	// Version is that of the plugin, or "".
	Version string
}

// CreateRequest asks for a resource with the properties that Check returned.
type CreateRequest struct {
	plan.Desired
	// Token is the same for every attempt to create the resource.
	Token string
}

// PartialError reports that Create or Update failed after a part of its work.
type PartialError struct {
	ID string
	// Inputs and Outputs are what the resource has now.
	Inputs, Outputs lumigl.Value
	// Err is what went wrong.
	Err error
}

// Error returns what went wrong.
func (e *PartialError) Error() string { return e.Err.Error() }

// Unwrap returns what went wrong.
func (e *PartialError) Unwrap() error { return e.Err }
