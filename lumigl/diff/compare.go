package diff

import (
	"errors"
	"slices"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/match"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Options configures a comparison. Zero-valued fields use defaults.
type Options struct {
	// Replaces lists the properties that require replacement when they change.
	Replaces Replaces
	// Recognized lists resources known to have another key in each document. If it is nil, Compare guesses moves.
	Recognized *Recognized
}

// Recognized lists resources present in both documents under different keys.
type Recognized struct {
	// Moves is copied to Delta.Moves. Reason completes the sentence "Perhaps moved, since …".
	Moves  []Move
	Reason string
	// Named is copied to Delta.Named.
	Named []Move
}

// Replaces lists property paths by resource type. A path consists of property names joined by dots, such as "name" or
// "rules.port". If rules is a list, "rules.port" applies to all of its elements.
type Replaces map[tokens.Type][]string

// ErrForms is the error returned by [Compare] for a general graph and a snapshot.
var ErrForms = errors.New("cannot compare a snapshot with a general graph")

// Compare returns the differences between two documents. It ignores source positions and the order of resources and
// object keys. Both documents must be valid (see [lumigl.Document]) and must not be modified while the delta is in use.
// The only error is [ErrForms].
func Compare(old, new lumigl.Document, o Options) (*Delta, error) {
	_, wasSnapshot := old.(*lumigl.Snapshot)
	if _, isSnapshot := new.(*lumigl.Snapshot); wasSnapshot != isSnapshot {
		return nil, ErrForms
	}
	d := &Delta{old: old, new: new}
	c := newComparer(wasSnapshot, match.Work(new.Base().Len()))
	d.Header = c.objects(header(old), header(new))
	c.vertices(d)
	for i := range d.Resources {
		o.Replaces.mark(&d.Resources[i])
	}
	known := o.Recognized
	if known == nil {
		known = d.guess()
	}
	d.Moves, d.Named, d.reason = known.Moves, known.Named, known.Reason
	return d, nil
}

// guess returns pairs of deleted and created resources that are equal.
func (d *Delta) guess() *Recognized {
	var deleted, created []*lumigl.Vertex
	for i := range d.Resources {
		switch r := &d.Resources[i]; r.Kind {
		case Deleted:
			deleted = append(deleted, r.Old)
		case Created:
			created = append(created, r.New)
		}
	}
	guess := &Recognized{Moves: match.Recognize(deleted, created)}
	guess.Reason = "same type and properties"
	if !d.isSnapshot() {
		guess.Reason = "same properties"
	}
	return guess
}

type comparer struct {
	snapshot bool
	// The budget of the Hasher also limits the search for small differences between lists.
	match.Hasher
	// members and elements are stacks used as scratch memory.
	members  []lumigl.Member
	elements []lumigl.Value
}

func newComparer(snapshot bool, work int64) *comparer {
	return &comparer{snapshot: snapshot, Hasher: match.Hasher{Work: work}}
}

func (c *comparer) vertices(d *Delta) {
	was, is := d.old.Base(), d.new.Base()
	olds := slices.AppendSeq(make([]*lumigl.Vertex, 0, was.Len()), was.Vertices())
	next := 0 // likely index of the next old vertex
	found := 0
	for v := range is.Vertices() {
		if len(d.Resources) == cap(d.Resources) {
			// Double the capacity; append would grow a long slice by only a quarter.
			d.Resources = slices.Grow(d.Resources, len(d.Resources)+1)
		}
		var old *lumigl.Vertex
		if next < len(olds) && olds[next].Key() == v.Key() {
			old = olds[next]
			next++
		} else if old = was.Vertex(v.Key()); old == nil {
			d.Resources = append(d.Resources, Resource{Kind: Created, Key: v.Key(), New: v})
			continue
		} else if next+1 < len(olds) && olds[next+1] == old {
			next += 2
		}
		found++
		if same(old, v) {
			d.Unchanged++
			continue
		}
		d.Resources = append(d.Resources, Resource{Kind: Updated, Key: v.Key(), Old: old, New: v, Changes: c.bodies(old, v)})
	}
	if found == len(olds) {
		return
	}
	gone := slices.DeleteFunc(olds, func(old *lumigl.Vertex) bool { return is.Vertex(old.Key()) != nil })
	d.Resources = slices.Grow(d.Resources, len(gone))
	for _, old := range slices.Backward(match.Sorted(gone)) {
		d.Resources = append(d.Resources, Resource{Kind: Deleted, Key: old.Key(), Old: old})
	}
}

// same reports whether two vertices with the same key are equal.
func same(a, b *lumigl.Vertex) bool {
	return a.Type == b.Type && a.ID == b.ID && sameBag(a.Properties, b.Properties) && a.Options.Equal(b.Options) &&
		a.Extensions.Equal(b.Extensions)
}

// sameBag reports whether two property objects are equal. An absent object equals an empty one.
func sameBag(a, b lumigl.Value) bool { return a.Equal(b) || a.Len() == 0 && b.Len() == 0 }

func (c *comparer) bodies(old, new *lumigl.Vertex) []Change {
	if !c.snapshot {
		return c.objects(bag(old.Properties), bag(new.Properties))
	}
	var changes []Change
	for _, part := range [...]struct {
		key      string
		old, new lumigl.Value
	}{
		{"extensions", old.Extensions, new.Extensions},
		{"id", textOf(old.ID), textOf(new.ID)},
		{"options", old.Options, new.Options},
		{"properties", bag(old.Properties), bag(new.Properties)},
		{"type", textOf(string(old.Type)), textOf(string(new.Type))},
	} {
		if change, differ := c.member(part.key, part.old, part.new); differ {
			changes = append(changes, change)
		}
	}
	return changes
}

// body returns the contents of a vertex that are compared.
func (d *Delta) body(v *lumigl.Vertex) lumigl.Value {
	if d.isSnapshot() {
		return resourceValue(v)
	}
	return bag(v.Properties)
}

// values returns the change from old to new, and false if they are equal.
func (c *comparer) values(old, new lumigl.Value) (Change, bool) {
	change := Change{Kind: Changed, From: NoIndex, To: NoIndex, Old: old, New: new}
	if old.Kind() != new.Kind() || areWhole(old, new) {
		if old.Equal(new) {
			return change, false
		}
		if new.IsUnknown() {
			change.Kind = Unknown
		}
		return change, true
	}
	switch old.Kind() {
	case lumigl.Object:
		change.Kind, change.Changes = Inside, c.objects(old, new)
		return change, len(change.Changes) > 0
	case lumigl.List:
		change.Kind, change.Changes = Inside, c.lists(old, new)
		return change, len(change.Changes) > 0
	}
	if new.IsUnknown() {
		change.Kind = Unknown
	}
	return change, !old.Equal(new)
}

// objects returns the changes between two objects, sorted by key.
func (c *comparer) objects(old, new lumigl.Value) []Change {
	var changes []Change
	mark := len(c.members)
	a := c.sorted(old)
	b := c.sorted(new)
	for len(a) > 0 || len(b) > 0 {
		var was, is lumigl.Value
		var key string
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Key < b[0].Key:
			key, was, a = a[0].Key, a[0].Value, a[1:]
		case len(a) == 0 || b[0].Key < a[0].Key:
			key, is, b = b[0].Key, b[0].Value, b[1:]
		default:
			key, was, is, a, b = a[0].Key, a[0].Value, b[0].Value, a[1:], b[1:]
		}
		if change, differ := c.member(key, was, is); differ {
			changes = append(changes, change)
		}
	}
	c.members = c.members[:mark]
	return changes
}

// member returns the change of a member, and false if its values are equal. Either value may be absent.
func (c *comparer) member(key string, old, new lumigl.Value) (Change, bool) {
	var change Change
	differ := true
	switch {
	case !old.Exists():
		differ = new.Exists()
		change = Change{Kind: Added, From: NoIndex, To: NoIndex, New: new}
	case !new.Exists():
		change = Change{Kind: Removed, From: NoIndex, To: NoIndex, Old: old}
	default:
		change, differ = c.values(old, new)
	}
	change.Key = key
	return change, differ
}

// sorted returns the members of v sorted by key. The result is valid until objects returns.
func (c *comparer) sorted(v lumigl.Value) []lumigl.Member {
	start := len(c.members)
	for key, value := range v.Members() {
		c.members = append(c.members, lumigl.Member{Key: key, Value: value})
	}
	all := c.members[start:]
	sortMembers(all)
	return all
}
