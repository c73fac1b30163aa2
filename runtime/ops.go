package lumi

import (
	"context"

	"github.com/lumi-idl/lumi/runtime/urn"
)

// ID is what a provider calls a resource, such as "sg-94b3a1f6". Only the provider can make sense of it.
type ID string

// State is a resource as it is, or as a program wants it. P points to the struct that is generated for its type.
type State[P Object] struct {
	// URN is the resource's name.
	URN urn.URN
	// ID is the resource's id, empty while it does not exist.
	ID ID
	// Properties are decoded and complete: what is required is there, but for what Unknown has. In the state of an
	// existing resource, properties that were added to the IDL since then are zero. Secrets stand there in the clear. They
	// are wrapped again on the way out, where they stood; where the author moved one from one property to another, the IDL
	// should declare that secret.
	Properties P
	// Unknown are the properties, and the parts of such, whose values are not known yet. Their fields are zero. It is nil
	// but in Check, Name and InspectChange.
	Unknown Paths
	// Refs are the resources that the capabilities among the properties refer to.
	Refs References
}

// Ops is what the author of a provider implements for a resource type. Generated code has an interface of the same
// methods for each, called TProviderOps; where programs do not name the resources, that is [NamingOps].
//
// An error that is a [Fault], or wraps or joins one, says that the properties are wrong; one that wraps a [RetryError]
// or [ErrNotFound] says what that does. [Meaning] decides. Any other error says that the operation failed. Calls come
// concurrently, for the same resource one after another.
type Ops[P Object] interface {
	// Check says what is wrong with the properties that types cannot say, and may fill in those that are absent. What is
	// unknown stays so, whatever Check sets there; so it must leave the elements of a list in their places if Unknown has
	// any of them.
	Check(ctx context.Context, want *State[P]) error

	// Create makes the resource and returns its id. It sets the out properties in want.Properties. If it fails half way,
	// it returns an error and the id of what exists, and leaves in want.Properties what that has.
	Create(ctx context.Context, want *State[P]) (ID, error)

	// Get reads a resource of which nothing is known but the id. For one that does not exist it returns [ErrNotFound].
	Get(ctx context.Context, id ID) (P, error)

	// InspectChange may call diff.Replace for changes that need a new resource, beyond those that the IDL says. It is
	// called also if diff is empty.
	InspectChange(ctx context.Context, old, want *State[P], diff *Diff) error

	// Update changes the resource from old to want. The out properties in want.Properties are those of old; it sets
	// those that change. If it fails half way, it leaves in want.Properties what the resource has now, and returns
	// [Partial]; any other error says that the resource is as it was.
	Update(ctx context.Context, old, want *State[P], diff *Diff) error

	// Delete removes the resource. That it is gone already is no error; [ErrNotFound] is not either.
	Delete(ctx context.Context, old *State[P]) error
}

// NamingOps is [Ops] for resources that programs do not name.
type NamingOps[P Object] interface {
	Ops[P]
	// Name chooses the name that becomes a part of the resource's URN.
	Name(ctx context.Context, want *State[P]) (string, error)
}

// Partial is how an author's Update reports that it failed with a part of its work done, and that want.Properties holds
// what the resource has now. It is nil if err is nil.
func Partial(err error) error {
	if err == nil {
		return nil
	}
	return &partialError{err}
}

// partialError marks an error and adds nothing to it.
type partialError struct{ error }

func (e *partialError) Unwrap() error { return e.error }
