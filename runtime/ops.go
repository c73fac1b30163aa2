package lumi

import (
	"context"
	"sync"

	"github.com/lumi-idl/lumi/runtime/urn"
)

// ID is a provider's identifier of a resource, such as "sg-94b3a1f6". Only the provider interprets it.
type ID string

// State is a resource's actual or desired state. P points to the struct generated for its type.
type State[P Object] struct {
	// URN is the resource's URN. In Check and Name, its last part is a placeholder if programs do not name the resource.
	URN urn.URN
	// ID is the resource's id. It is empty while the resource does not exist.
	ID ID
	// Properties holds the decoded properties. Every required property is set, unless it is in Unknown. In the state of
	// an existing resource, a property is zero if it was added to the IDL later, or if a partially failed Create did not
	// report it as done. Secrets are in plain text; the runtime wraps them again. A property that the author copies a
	// secret to must be declared secret in the IDL.
	Properties P
	// Old holds the properties returned by Check when the resource was last deployed, or nil for a new resource. It is
	// set only in Check.
	Old P
	// Seed is the seed of generated names and other random-looking defaults. It is set only in Check.
	Seed Seed
	// Token is an idempotency token. It is the same for every attempt to create a resource, but its replacement has a
	// different one. Each Update and each Delete also has its own, the same for every attempt. It is set only in Create,
	// Find, Delete, and, in want, Update. Some engines leave it empty in Update and Delete.
	Token string
	// Unknown holds the paths of values that are not known yet. Their fields are zero. It is nil except in Check, Name,
	// and InspectChange.
	Unknown Paths
	// Refs holds the resources referred to by the properties.
	Refs References

	done *sync.Map
}

// Done records that Create or Update has applied the given properties. If the call then fails, the resource's state
// consists of the values of these and the out properties when the call returns, and the old values of all others. Use
// the generated property names, such as VPC_Tags; the call's error reports any other name. Done is safe for concurrent
// use.
func (s *State[P]) Done(properties ...string) {
	for _, name := range properties {
		if s.done != nil { // Other operations record nothing.
			s.done.Store(name, nil)
		}
	}
}

// Ops is implemented by the author of a provider for a resource type. For each type T, generated code declares an
// interface TProviderOps with the same methods, or the methods of [NamingOps] if programs do not name the resources.
//
// The methods of [Inspector], [Finder], [IdempotentCreator], [RepeatableChanger], and [Upgrader] are optional. The runtime
// looks for them on the author's type. Constructing a provider panics if one has the wrong signature or a misspelled name.
//
// An error that is, wraps, or joins a [Fault] reports invalid properties. An error that wraps a *[RetryError],
// [ErrNotFound], or a result of [Uncertain] has that meaning; see [Meaning]. Any other error means that the operation
// failed.
//
// Calls may be concurrent, except for calls for the same resource. If Create is declared idempotent, or Update and Delete
// repeatable, an earlier attempt at such a call may still be running, too.
type Ops[P Object] interface {
	// Check validates rules that types cannot express, and may set absent properties. Unknown values stay unknown, even
	// if Check sets them, so Check must not move elements of a list that contains unknown values.
	Check(ctx context.Context, want *State[P]) error

	// Create creates the resource, sets the out properties in want.Properties, and returns the id. If it fails after
	// creating the resource, it returns both the id and the error. The resource's state then consists of the out
	// properties, properties that require a replacement, and properties reported with [State.Done].
	Create(ctx context.Context, want *State[P]) (ID, error)

	// Get reads a resource by its id. old is the engine's state of the resource, or nil for an import, when only the
	// id is known. If the resource does not exist, Get returns [ErrNotFound].
	Get(ctx context.Context, id ID, old *State[P]) (P, error)

	// Update changes the resource from old to want. Out properties in want.Properties start with their old values;
	// Update sets those that change. It calls [State.Done] on want after each part of its work, so that the engine
	// knows the resource's state if a later part fails. An error before the first Done means that nothing changed.
	Update(ctx context.Context, old, want *State[P], diff *Diff) error

	// Delete deletes the resource. If the resource does not exist, it returns nil or [ErrNotFound].
	Delete(ctx context.Context, old *State[P]) error
}

// NamingOps is like [Ops], for resources that programs do not name.
type NamingOps[P Object] interface {
	Ops[P]
	// Name returns the name of a new resource, which becomes part of its URN. It must be deterministic.
	Name(ctx context.Context, want *State[P]) (string, error)
}

// Reference describes a resource that a property refers to.
type Reference struct {
	// ID is the resource's id. It is empty while the resource does not exist.
	ID ID
	// Properties holds the known properties of the resource, with secrets wrapped. It may be zero.
	Properties Bag
}

// References maps URNs to the resources that a request refers to. Resources that do not exist yet may be missing.
type References map[urn.URN]Reference
