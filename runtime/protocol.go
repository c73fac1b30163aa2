package lumi

import (
	"context"

	"github.com/lumi-idl/lumi/runtime/urn"
)

// ResourceProvider serves one type of resource. Generated providers implement it. Its requests are read only: no bag in
// them is changed, nor kept after the call.
//
// Every error is one of these: a *[InvalidError] if the properties in the request are wrong, a *[ReplaceError] or a
// *[PartialError] where a method says so, an error that wraps [ErrNotFound] where a method says so, a *[OutputError] if
// the author's code computed what cannot be sent, a *[UncertainError] if nobody knows whether a Create, Update or Delete
// took effect, that of the context if it was done before it came to the author's code, and otherwise the author's error,
// perhaps wrapped. A panic of the author's code is not caught.
type ResourceProvider interface {
	// Describe returns what the IDL and the author say about the type.
	Describe(context.Context) (*Description, error)
	// Check judges the properties that a program wants, and returns them with what the provider fills in.
	Check(context.Context, *CheckRequest) (*CheckResponse, error)
	// Name returns the name of a new resource.
	Name(context.Context, *NameRequest) (*NameResponse, error)
	// Create makes a resource. If a part of it exists after a failure, the error is a *[PartialError].
	Create(context.Context, *CreateRequest) (*CreateResponse, error)
	// Find looks for what a Create made whose outcome is uncertain. If there is nothing, the error wraps [ErrNotFound]; if
	// resources of the type cannot be found, [errors.ErrUnsupported].
	Find(context.Context, *FindRequest) (*FindResponse, error)
	// Get reads a resource by its id. If there is none, the error wraps [ErrNotFound].
	Get(context.Context, *GetRequest) (*GetResponse, error)
	// InspectChange says what an update would change, and whether it takes a new resource.
	InspectChange(context.Context, *InspectChangeRequest) (*InspectChangeResponse, error)
	// Update changes a resource. If that takes a new resource the error is a *[ReplaceError], and nothing was changed. If
	// only a part was changed, it is a *[PartialError].
	Update(context.Context, *UpdateRequest) (*UpdateResponse, error)
	// Delete removes a resource. It is no error if there is none.
	Delete(context.Context, *DeleteRequest) (*DeleteResponse, error)
}

// CheckRequest asks whether a resource can be as a program wants it.
type CheckRequest struct {
	URN urn.URN
	// Properties are those that the program gave. Values in them may be unknown.
	Properties Bag
	// Old are the properties that Check returned when the resource was last deployed, zero for a new resource.
	Old Bag
	// Seed is what generated names are derived from. See [State.Seed].
	Seed       Seed
	References References
}

// CheckResponse is the answer to a [CheckRequest] without faults.
type CheckResponse struct {
	// Properties are those of the request, with what the provider filled in. What was unknown still is.
	Properties Bag
}

// NameRequest asks for the name of a resource. The last part of the URN is a placeholder.
type NameRequest struct {
	URN urn.URN
	// Properties are those that Check returned. Values in them may be unknown.
	Properties Bag
	References References
}

// NameResponse is the answer to a [NameRequest].
type NameResponse struct {
	// Name can be the last part of a URN: it is not empty, and has no control characters.
	Name string
}

// CreateRequest asks for a new resource.
type CreateRequest struct {
	URN urn.URN
	// Properties are those that Check returned.
	Properties Bag
	// Token is the same for every attempt to create the resource, and another for its replacement.
	Token      string
	References References
}

// CreateResponse is the answer to a [CreateRequest].
type CreateResponse struct {
	// ID is never empty.
	ID ID
	// Properties are those that the provider computed. All others are as requested.
	Properties Bag
}

// FindRequest asks for the resource that a Create with the same fields made.
type FindRequest CreateRequest

// FindResponse is the answer to a [FindRequest].
type FindResponse struct {
	// ID is never empty.
	ID ID
}

// Purpose says why a resource is read.
type Purpose string

// The purposes of reading a resource.
const (
	// Refresh is to see whether a resource is still as it was stored.
	Refresh Purpose = "refresh"
	// Import is to take over a resource of which only the id is known.
	Import Purpose = "import"
)

// GetRequest asks how a resource is.
type GetRequest struct {
	ID      ID
	Purpose Purpose
	// URN may be empty if the purpose is Import.
	URN urn.URN
	// Old are all properties of the resource, as in an [InspectChangeRequest]. It is zero if the purpose is Import.
	Old        Bag
	References References
}

// GetResponse is the answer to a [GetRequest].
type GetResponse struct {
	// Properties are all that the resource has, but for those that are never read back.
	Properties Bag
}

// InspectChangeRequest asks how an existing resource differs from what a program wants.
type InspectChangeRequest struct {
	URN urn.URN
	ID  ID
	// Old are all properties of the existing resource: those that were asked for, also if they are never read back, and
	// those that were computed.
	Old Bag
	// New are the properties that the program wants, as Check returned them. Values in them may be unknown.
	New        Bag
	References References
}

// InspectChangeResponse is the answer to an [InspectChangeRequest].
type InspectChangeResponse struct {
	// Changes are all differences, in the order of their paths.
	Changes []Change
	// Replaces are the paths whose changes need a new resource, sorted. If there are none, an update will do.
	Replaces []Path
	// DeleteBeforeReplace says that the old resource must be deleted before the new one is created.
	DeleteBeforeReplace bool
	// Properties are those to update the resource to: the new ones, with old values where a change is ignored.
	Properties Bag
}

// UpdateRequest asks to change a resource in place.
type UpdateRequest struct {
	URN urn.URN
	ID  ID
	// Old are all properties of the existing resource: those that were asked for, also if they are never read back, and
	// those that were computed.
	Old Bag
	// New are the properties that InspectChange returned.
	New        Bag
	References References
}

// UpdateResponse is the answer to an [UpdateRequest].
type UpdateResponse struct {
	// Properties are those that the provider computes, whether they changed or not.
	Properties Bag
}

// DeleteRequest asks to remove a resource.
type DeleteRequest struct {
	URN urn.URN
	ID  ID
	// Properties are all that the resource has.
	Properties Bag
	References References
}

// DeleteResponse is the answer to a [DeleteRequest].
type DeleteResponse struct{}

// PartialError says that Create or Update failed after it had done a part of its work.
type PartialError struct {
	// ID is that of the resource that exists now.
	ID ID
	// Properties are all that the resource has now, as far as they can be encoded.
	Properties Bag
	// Err is what went wrong. It may be nil.
	Err error
}

// Error returns what went wrong.
func (e *PartialError) Error() string {
	if e == nil || e.Err == nil {
		return "partially done"
	}
	return "partially done: " + e.Err.Error()
}

// Unwrap returns what went wrong.
func (e *PartialError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}
