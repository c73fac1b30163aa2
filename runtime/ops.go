package lumi

import (
	"context"
	"sync"

	"github.com/lumi-idl/lumi/runtime/urn"
)

// ID is what a provider calls a resource, such as "sg-94b3a1f6". Only the provider can make sense of it.
type ID string

// State is a resource as it is, or as a program wants it. P points to the struct that is generated for its type.
type State[P Object] struct {
	// URN is the resource's name. In Check and Name, that of a resource which programs do not name ends in a substitute.
	URN urn.URN
	// ID is the resource's id, empty while it does not exist.
	ID ID
	// Properties are decoded and complete: every required property is set, except those listed in Unknown. In the state of
	// an existing resource, properties that were added to the IDL since then are zero, and so are those that a Create which
	// failed half way did not report as done. Secrets are in the clear. They are wrapped again on the way out, where they
	// were; where the author moved one from one property to another, the IDL should declare that secret.
	Properties P
	// Old, in Check, are the properties that Check returned when the resource was last deployed. It is nil for a new
	// resource.
	Old P
	// Seed, in Check, is what generated names and other random defaults are derived from.
	Seed Seed
	// Token, in Create and Find, identifies the intention to create one resource: it is the same for every attempt, and
	// another for a replacement.
	Token string
	// Unknown are the properties, and the parts of such, whose values are not known yet. Their fields are zero. It is nil
	// except in Check, Name and InspectChange.
	Unknown Paths
	// Refs are the resources that the capabilities among the properties refer to.
	Refs References

	done *sync.Map
}

// Done records that Create or Update has done its work for these properties, so that the resource now has them as they
// are in Properties. What a failed call leaves behind is made of that: properties that are done, with their values when
// the call returns; out properties; and otherwise those that the resource had before. Properties are given by the names
// that are generated for them, such as VPC_Tags; any other name becomes a part of the error. Done can be called
// concurrently.
func (s *State[P]) Done(properties ...string) {
	for _, name := range properties {
		if s.done != nil { // In other operations there is nothing to record.
			s.done.Store(name, nil)
		}
	}
}

// Ops is what the author of a provider implements for a resource type. Generated code has an interface of the same
// methods for each, called TProviderOps; where programs do not name the resources, that is [NamingOps].
//
// What few types need is optional: [Inspector], [Finder], [IdempotentCreator] and [Upgrader]. The runtime looks for the
// methods of these on the author's type. It panics when the provider is constructed if one of them has another signature,
// or a name that is misspelled.
//
// An error that is a [Fault], or wraps or joins one, says that the properties are wrong; one that wraps a [RetryError],
// [ErrNotFound] or what [Uncertain] returns says what that does. [Meaning] decides. Any other error says that the
// operation failed. Calls come concurrently, for the same resource one after another.
type Ops[P Object] interface {
	// Check says what is wrong with the properties that types cannot say, and may fill in those that are absent. What is
	// unknown stays so, whatever Check sets there; so it must leave the elements of a list in their places if Unknown has
	// any of them.
	Check(ctx context.Context, want *State[P]) error

	// Create makes the resource and returns its id. It sets the out properties in want.Properties. If it fails after
	// something was made, it returns the id together with the error. The resource then has the out properties, those whose
	// change replaces it, and those that were reported with [State.Done].
	Create(ctx context.Context, want *State[P]) (ID, error)

	// Get reads a resource by its id. Old is what the engine knows of the resource, nil if it is imported, so that there is
	// nothing but the id. For one that does not exist Get returns [ErrNotFound].
	Get(ctx context.Context, id ID, old *State[P]) (P, error)

	// Update changes the resource from old to want. The out properties in want.Properties are those of old; it sets
	// those that change. It calls [State.Done] on want for each part of its work, once that is done: if it then fails, the
	// engine knows what the resource has. An error before the first Done says that the resource is as it was.
	Update(ctx context.Context, old, want *State[P], diff *Diff) error

	// Delete removes the resource. That it is gone already is not an error, and neither is [ErrNotFound].
	Delete(ctx context.Context, old *State[P]) error
}

// NamingOps is [Ops] for resources that programs do not name.
type NamingOps[P Object] interface {
	Ops[P]
	// Name chooses the name that becomes a part of the resource's URN.
	Name(ctx context.Context, want *State[P]) (string, error)
}

// Reference is what is known of a resource that a capability refers to.
type Reference struct {
	// ID is the resource's id, empty while it does not exist.
	ID ID
	// Properties are all that is known of the resource's properties. Secrets are wrapped. It may be zero.
	Properties Bag
}

// References are the resources that the capabilities in a request refer to. One that does not exist yet may be missing.
type References map[urn.URN]Reference
