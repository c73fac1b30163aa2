package lumi

import (
	"context"
	"sync"

	"github.com/lumi-idl/lumi/runtime/urn"
)

// ID is a provider's identifier of a resource, such as "sg-94b3a1f6". It is opaque to everyone else.
type ID string

// State is a resource's actual or desired state. P points to the struct generated for its type.
type State[P Object] struct {
	// URN is the resource's name. In Check and Name, the URN of a resource that programs do not name ends in a
	// placeholder.
	URN urn.URN
	// ID is the resource's id. It is empty while the resource does not exist.
	ID ID
	// Properties are decoded and complete: every required property is set, except those listed in Unknown. In the state
	// of an existing resource, properties added to the IDL later are zero, as are properties that a partially failed
	// Create did not report as done. Secrets are in plain text and are wrapped again afterward. If the author copies a
	// secret to another property, declare that property secret in the IDL.
	Properties P
	// Old, in Check, holds the properties that Check returned when the resource was last deployed. It is nil for a new
	// resource.
	Old P
	// Seed, in Check, is the seed of generated names and other random defaults.
	Seed Seed
	// Token, in Create and Find, identifies the intent to create one resource. It is the same for every attempt, but
	// not for a replacement.
	Token string
	// Unknown holds the paths of properties and parts whose values are not known yet. Their fields are zero. It is nil
	// except in Check, Name, and InspectChange.
	Unknown Paths
	// Refs holds the resources that properties refer to.
	Refs References

	done *sync.Map
}

// Done records that Create or Update has finished these properties: the resource now has the values in Properties. If
// the call then fails, the resource's state consists of the properties reported as done and the out properties, with
// their values when the call returns, and the old values of all others. Use the generated property names, such as
// VPC_Tags; any other name is added to the error. Done is safe for concurrent use.
func (s *State[P]) Done(properties ...string) {
	for _, name := range properties {
		if s.done != nil { // Other operations record nothing.
			s.done.Store(name, nil)
		}
	}
}

// Ops is implemented by the author of a provider for a resource type. Generated code declares an interface with the
// same methods for each type, called TProviderOps. For resources that programs do not name, it has the methods of
// [NamingOps].
//
// Further methods are optional: [Inspector], [Finder], [IdempotentCreator], and [Upgrader]. The runtime looks for them
// on the author's type and panics at construction if one has the wrong signature or a misspelled name.
//
// An error that is, wraps, or joins a [Fault] reports invalid properties. An error that wraps a [RetryError],
// [ErrNotFound] or a result of [Uncertain] has that meaning; see [Meaning]. Any other error means that the operation
// failed. Calls are concurrent, but sequential for any one resource.
type Ops[P Object] interface {
	// Check validates rules that types cannot express, and may set absent properties. Unknown values stay unknown even
	// if Check sets them, so Check must not move list elements if Unknown contains any of them.
	Check(ctx context.Context, want *State[P]) error

	// Create creates the resource, returns its id, and sets the out properties in want.Properties. If it fails after
	// creating something, it returns both the id and the error. The resource's state then consists of the out
	// properties, properties that require a replacement, and properties reported with [State.Done].
	Create(ctx context.Context, want *State[P]) (ID, error)

	// Get reads a resource by its id. Old is the engine's state of the resource, or nil for an import, when only the
	// id is known. If the resource does not exist, Get returns [ErrNotFound].
	Get(ctx context.Context, id ID, old *State[P]) (P, error)

	// Update changes the resource from old to want. Out properties in want.Properties start with their old values;
	// Update sets the ones that change. It calls [State.Done] on want after each part of its work, so that the engine
	// knows the resource's state if a later part fails. An error before the first Done means that nothing changed.
	Update(ctx context.Context, old, want *State[P], diff *Diff) error

	// Delete deletes the resource. It is not an error if the resource is already gone; [ErrNotFound] is also accepted.
	Delete(ctx context.Context, old *State[P]) error
}

// NamingOps is [Ops] for resources that programs do not name.
type NamingOps[P Object] interface {
	Ops[P]
	// Name returns the name that becomes part of the resource's URN.
	Name(ctx context.Context, want *State[P]) (string, error)
}

// Reference describes a resource that a property refers to.
type Reference struct {
	// ID is the resource's id. It is empty while the resource does not exist.
	ID ID
	// Properties holds the known properties of the resource, with secrets wrapped. It may be zero.
	Properties Bag
}

// References holds the resources referred to in a request, by URN. Resources that do not exist yet may be missing.
type References map[urn.URN]Reference
