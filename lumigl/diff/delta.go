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
	// Changed marks a value replaced by another.
	Changed
	// Unknown marks a value that is unknown until the resource has been deployed. It may remain the same.
	Unknown
	// Inside marks an object or list with changed parts.
	Inside
	// Created marks a new resource.
	Created
	// Deleted marks a deleted resource.
	Deleted
	// Updated marks a resource with changes.
	Updated
	// Replaced marks a resource replaced under the same URN: its id or a property that requires replacement changed.
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
	// Header lists the changed top-level fields.
	Header []Change
	// Resources lists the changed resources or, in general graphs, vertices: first those in the new document in its
	// order, then the deleted ones, dependents first and otherwise in reverse order.
	Resources []Resource
	// Moves is copied from [Options.Recognized], if set. Otherwise, it lists guesses: deleted and created resources
	// with the same type and properties and without conflicting ids, regardless of extensions.
	Moves []Move
	// Named is copied from [Options.Recognized]: New is an unnamed resource, and Old its counterpart.
	Named []Move
	// Unchanged is the number of unchanged resources.
	Unchanged int

	old, new lumigl.Document
	// reason explains why resources are considered moved.
	reason string
}

// Resource is a changed resource.
type Resource struct {
	Kind Kind
	Key  string
	// Old is nil for a created resource, and New for a deleted one.
	Old, New *lumigl.Vertex
	// Changes lists the changed fields, such as "type", "id", and "properties", or in general graphs the changed
	// properties. It is empty for created and deleted resources.
	Changes []Change

	// others lists further values whose secrets are masked.
	others []lumigl.Value
}

// Change is a change of a member of an object or an element of a list.
type Change struct {
	Kind Kind
	// Key is the key in an object.
	Key string
	// From and To are the old and new indices in a list, or NoIndex if there is none. Both are NoIndex for members of
	// objects.
	From, To int
	// Old is absent for an added value, and New for a removed one.
	Old, New lumigl.Value
	// Changes lists the changed parts if Kind is Inside: by key for an object, in order for a list.
	Changes []Change
	// Replaces reports whether this change caused the resource's replacement.
	Replaces bool
}

// NoIndex is the index of a value missing from the list.
const NoIndex = -1

// Move is a resource present in both documents under different keys.
type Move = match.Pair

// Empty reports whether the documents are equal.
func (d *Delta) Empty() bool { return len(d.Header) == 0 && len(d.Resources) == 0 }

// Count returns the number of changed resources of a kind.
func (d *Delta) Count(kind Kind) int {
	n := 0
	for i := range d.Resources {
		if d.Resources[i].Kind == kind {
			n++
		}
	}
	return n
}

// isElement reports whether the change is in a list.
func (c *Change) isElement() bool { return c.From != NoIndex || c.To != NoIndex }

// isSecret reports whether the old or new value is a secret.
func (c *Change) isSecret() bool { return c.Old.IsSecret() || c.New.IsSecret() }
