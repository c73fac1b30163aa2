package diff

import (
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/match"
)

// Kind is the kind of a change.
type Kind uint8

// Kinds of changes. The last four apply only to resources.
const (
	// Added marks a new value.
	Added Kind = iota + 1
	// Removed marks a deleted value.
	Removed
	// Changed marks a value that was replaced by another.
	Changed
	// Unknown marks a value that is not known until the resource is deployed. It may turn out to be unchanged.
	Unknown
	// Inside marks an object or a list with changed parts.
	Inside
	// Created marks a new resource.
	Created
	// Deleted marks a deleted resource.
	Deleted
	// Updated marks a resource that changed in place.
	Updated
	// Replaced marks a resource replaced under the same URN, because its id or a property that requires replacement
	// changed.
	Replaced
)

var kindNames = [...]string{
	Added: "added", Removed: "removed", Changed: "changed", Unknown: "unknown", Inside: "inside",
	Created: "created", Deleted: "deleted", Updated: "updated", Replaced: "replaced",
}

// String returns the kind in lower case.
func (k Kind) String() string {
	if int(k) < len(kindNames) && k > 0 {
		return kindNames[k]
	}
	return "none"
}

// Delta lists the differences between two documents.
type Delta struct {
	// Header lists changed top-level fields.
	Header []Change
	// Resources lists the changed resources or, in general graphs, vertices. Resources in the new document come first,
	// in its order. They are followed by deleted resources, dependents first and otherwise in reverse order.
	Resources []Resource
	// Moves is copied from [Options.Recognized] if that is set. Otherwise, it lists guesses: pairs of deleted and
	// created resources with the same type and properties and no conflicting ids. Guesses ignore extensions.
	Moves []Move
	// Named is copied from [Options.Recognized]. New is an unnamed resource, and Old is its counterpart.
	Named []Move
	// Unchanged is the number of unchanged resources.
	Unchanged int

	old, new lumigl.Document
	// reason explains why resources are considered to have moved.
	reason string
}

// Resource is a changed resource.
type Resource struct {
	Kind Kind
	Key  string
	// Old is nil for a created resource. New is nil for a deleted one.
	Old, New *lumigl.Vertex
	// Changes lists the changed fields of a resource, such as "type", "id", and "properties", or the changed properties
	// of a vertex in a general graph. It is empty for created and deleted resources.
	Changes []Change

	// others lists further values that contain secrets to mask.
	others []lumigl.Value
}

// Change is a change of a value, object member, or list element.
type Change struct {
	Kind Kind
	// Key is the key of an object member, or "" for a list element.
	Key string
	// From and To are the old and new indices in a list, or NoIndex if the element is missing there. Both are NoIndex
	// for object members.
	From, To int
	// Old is absent for an added value. New is absent for a removed value.
	Old, New lumigl.Value
	// Changes lists the changed parts if Kind is Inside, in key order for an object and in list order for a list.
	Changes []Change
	// Replaces reports whether the change requires replacing the resource.
	Replaces bool
}

// NoIndex is the index of an element that is missing from a list.
const NoIndex = -1

// Move is a resource present in both documents under different keys.
type Move = match.Pair

// Empty reports whether the documents are equal.
func (d *Delta) Empty() bool { return len(d.Header) == 0 && len(d.Resources) == 0 }

// Count returns the number of changed resources of the given kind.
func (d *Delta) Count(kind Kind) int {
	n := 0
	for i := range d.Resources {
		if d.Resources[i].Kind == kind {
			n++
		}
	}
	return n
}

// isElement reports whether a list element changed, rather than an object member.
func (c *Change) isElement() bool { return c.From != NoIndex || c.To != NoIndex }

// isSecret reports whether the old or new value is a secret.
func (c *Change) isSecret() bool { return c.Old.IsSecret() || c.New.IsSecret() }
