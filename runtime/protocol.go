package lumi

import (
	"context"

	"github.com/lumi-idl/lumi/runtime/urn"
)

// ResourceProvider serves one resource type. Generated providers implement it. Requests are read-only: implementations
// must not modify their bags, or retain them after the call.
//
// Methods return an *[InvalidError] if the properties in the request are invalid; a *[ReplaceError], a *[PartialError],
// or an error wrapping [ErrNotFound] where documented; an *[OutputError] if the author's code returned properties that
// cannot be sent; an *[UncertainError] if a Create, Update, or Delete may or may not have taken effect; ctx.Err() if
// the context was done before the author's code was called; and otherwise the author's error, possibly wrapped. They do
// not recover panics of the author's code.
type ResourceProvider interface {
	// Describe returns a description of the type.
	Describe(context.Context) (*Description, error)
	// Check validates a program's properties and returns them together with values set by the provider.
	Check(context.Context, *CheckRequest) (*CheckResponse, error)
	// Name returns the name of a new resource.
	Name(context.Context, *NameRequest) (*NameResponse, error)
	// Create creates a resource. If the resource exists despite a failure, the error is a *[PartialError].
	Create(context.Context, *CreateRequest) (*CreateResponse, error)
	// Find looks up a resource after a Create with an uncertain outcome. The error wraps [ErrNotFound] if the resource
	// does not exist, and [errors.ErrUnsupported] if the type does not support Find.
	Find(context.Context, *FindRequest) (*FindResponse, error)
	// Get reads a resource by its id. The error wraps [ErrNotFound] if the resource does not exist.
	Get(context.Context, *GetRequest) (*GetResponse, error)
	// InspectChange returns the changes that an update would make, and whether they require a replacement.
	InspectChange(context.Context, *InspectChangeRequest) (*InspectChangeResponse, error)
	// Update updates a resource. The error is a *[ReplaceError] if the change requires a replacement, in which case
	// Update changes nothing, and a *[PartialError] after a partial update.
	Update(context.Context, *UpdateRequest) (*UpdateResponse, error)
	// Delete deletes a resource. It succeeds if the resource does not exist.
	Delete(context.Context, *DeleteRequest) (*DeleteResponse, error)
}

// CheckRequest is the request of Check.
type CheckRequest struct {
	URN urn.URN
	// Properties holds the properties set by the program. It may contain unknown values.
	Properties Bag
	// Old holds the properties returned by Check when the resource was last deployed. It is zero for a new resource.
	Old Bag
	// Seed is the seed of generated names. See [State.Seed].
	Seed       Seed
	References References
}

// CheckResponse is the response to a valid [CheckRequest].
type CheckResponse struct {
	// Properties holds the properties of the request and values set by the provider. Unknown values are still unknown.
	Properties Bag
}

// NameRequest is the request of Name. The last part of the URN is a placeholder.
type NameRequest struct {
	URN urn.URN
	// Properties holds the properties returned by Check. It may contain unknown values.
	Properties Bag
	References References
}

// NameResponse is the response to a [NameRequest].
type NameResponse struct {
	// Name is the last part of the resource's URN. It is not empty and contains no control characters.
	Name string
}

// CreateRequest is the request of Create.
type CreateRequest struct {
	URN urn.URN
	// Properties holds the properties returned by Check.
	Properties Bag
	// Token is an idempotency token. See [State.Token].
	Token      string
	References References
}

// CreateResponse is the response to a [CreateRequest].
type CreateResponse struct {
	// ID is never empty.
	ID ID
	// Properties holds the computed properties. All others have the requested values.
	Properties Bag
}

// FindRequest is the request of Find. It repeats the fields of the [CreateRequest] whose resource is to be found.
type FindRequest CreateRequest

// FindResponse is the response to a [FindRequest].
type FindResponse struct {
	// ID is never empty.
	ID ID
}

// Purpose is the reason for reading a resource.
type Purpose string

// The purposes of reading a resource.
const (
	// Refresh compares a resource with its stored state.
	Refresh Purpose = "refresh"
	// Import adopts an existing resource, given only its id.
	Import Purpose = "import"
)

// GetRequest is the request of Get.
type GetRequest struct {
	ID      ID
	Purpose Purpose
	// URN may be empty if the purpose is Import.
	URN urn.URN
	// Old holds all properties of the resource. See [InspectChangeRequest]. It is zero if the purpose is Import.
	Old        Bag
	References References
}

// GetResponse is the response to a [GetRequest].
type GetResponse struct {
	// Properties holds all properties of the resource except [In] properties.
	Properties Bag
}

// InspectChangeRequest is the request of InspectChange.
type InspectChangeRequest struct {
	URN urn.URN
	ID  ID
	// Old holds all properties of the existing resource: the requested properties, including [In] properties, and the
	// computed properties.
	Old Bag
	// New holds the properties returned by Check. It may contain unknown values.
	New        Bag
	References References
}

// InspectChangeResponse is the response to an [InspectChangeRequest].
type InspectChangeResponse struct {
	// Changes lists the changes that are not ignored, in path order.
	Changes []Change
	// Replaces holds the sorted paths whose changes require a replacement. If it is empty, an update is enough.
	Replaces []Path
	// DeleteBeforeReplace is set if the old resource must be deleted before the new one is created.
	DeleteBeforeReplace bool
	// Properties holds the properties to update to: the new ones, with the old value wherever a change is ignored.
	Properties Bag
}

// UpdateRequest is the request of Update.
type UpdateRequest struct {
	URN urn.URN
	ID  ID
	// Old holds all properties of the existing resource: the requested properties, including [In] properties, and the
	// computed properties.
	Old Bag
	// New holds the properties returned by InspectChange.
	New        Bag
	References References
	// Token is an idempotency token. See [State.Token].
	Token string
}

// UpdateResponse is the response to an [UpdateRequest].
type UpdateResponse struct {
	// Properties holds all computed properties, whether changed or not.
	Properties Bag
}

// DeleteRequest is the request of Delete.
type DeleteRequest struct {
	URN urn.URN
	ID  ID
	// Properties holds all properties of the resource.
	Properties Bag
	References References
	// Token is an idempotency token. See [State.Token].
	Token string
}

// DeleteResponse is the response to a [DeleteRequest].
type DeleteResponse struct{}

// PartialError reports that Create or Update failed after completing part of its work.
type PartialError struct {
	// ID is the id of the existing resource.
	ID ID
	// Properties holds all properties of the resource that can be encoded.
	Properties Bag
	// Err is the cause. It may be nil.
	Err error
}

// Error returns a message with the text of the cause, if any.
func (e *PartialError) Error() string {
	if e == nil || e.Err == nil {
		return "partially done"
	}
	return "partially done: " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *PartialError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}
