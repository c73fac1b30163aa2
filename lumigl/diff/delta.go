package diff

import (
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/match"
)

// Kind says what happened to a value or a resource.
type Kind uint8

// The kinds of changes. The last four are of resources only.
const (
	// Added is for a value that was not there before.
	Added Kind = iota + 1
	// Removed is for a value that is there no longer.
	Removed
	// Changed is for a value that is another now.
	Changed
	// Unknown is for a value that is not known any more, until the resource has been deployed. It may turn out to be what
	// it was.
	Unknown
	// Inside is for an object or a list that is still there, and of which some parts differ.
	Inside
	// Created is for a resource that was not there before.
	Created
	// Deleted is for a resource that is there no longer.
	Deleted
	// Updated is for a resource of which something differs.
	Updated
	// Replaced is for a resource that had to make way for another under its URN: one of the properties differs that cannot
	// change, or the provider's id.
	Replaced
)

var kindNames = [...]string{
	Added: "added", Removed: "removed", Changed: "changed", Unknown: "unknown", Inside: "inside",
	Created: "created", Deleted: "deleted", Updated: "updated", Replaced: "replaced",
}

// String returns the name of the kind in lower case.
func (k Kind) String() string {
	if int(k) < len(kindNames) && k > 0 {
		return kindNames[k]
	}
	return "none"
}

// Delta is how two documents differ.
type Delta struct {
	// Header has what differs beside the resources, by the keys of top-level fields.
	Header []Change
	// Resources are those that differ: first those that are in the new document, in its order, then the deleted ones, each
	// before those that it referred to, and otherwise the last first. Of a general graph they are the vertices. In a circle of
	// these there is no such order.
	Resources []Resource
	// Moves are guesses: a resource was deleted, and another created with the same type and properties and no other id. What
	// tools noted about them, their extensions, does not count. With [Options.Recognized], they are the moves there.
	Moves []Move
	// Named are from [Options.Recognized]: New is an unnamed resource, and Old the one that it was recognized as.
	Named []Move
	// Unchanged is the number of resources that do not differ.
	Unchanged int

	old, new lumigl.Document
	// reason is why the moves are taken for that.
	reason string
}

// Resource is how a resource differs.
type Resource struct {
	Kind Kind
	Key  string
	// Old is nil for a created resource, New for a deleted one.
	Old, New *lumigl.Vertex
	// Changes have what differs, by "type", "id", "properties" and "extensions". For a general graph's vertex they are
	// what differs in its properties. Resources that were created or deleted have none.
	Changes []Change

	// others have secrets too, of which the content is not shown.
	others []lumigl.Value
}

// Change is how a part of an object or a list differs.
type Change struct {
	Kind Kind
	// Key is where the value stands in an object.
	Key string
	// From and To are where the value stood and stands in a list, and NoIndex where it did not or does not. Both are
	// NoIndex for members of objects.
	From, To int
	// Old is absent where the value was added, New where it was removed.
	Old, New lumigl.Value
	// Changes are the parts that differ, if Kind is Inside: of an object, by key; of a list, in order.
	Changes []Change
	// Replaces says that this is why the resource was replaced.
	Replaces bool
}

// NoIndex is the place of what is in no list.
const NoIndex = -1

// Move is a resource that is in both documents, under different keys.
type Move = match.Pair

// Empty reports whether nothing differs.
func (d *Delta) Empty() bool { return len(d.Header) == 0 && len(d.Resources) == 0 }

// Count is the number of resources of a kind.
func (d *Delta) Count(kind Kind) int {
	n := 0
	for i := range d.Resources {
		if d.Resources[i].Kind == kind {
			n++
		}
	}
	return n
}

// isElement reports whether the change is of a list.
func (c *Change) isElement() bool { return c.From != NoIndex || c.To != NoIndex }

// isSecret reports whether what was there or what is there is a secret.
func (c *Change) isSecret() bool { return c.Old.IsSecret() || c.New.IsSecret() }
