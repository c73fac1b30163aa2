package lumi

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/internal/property"
	"github.com/lumi-idl/lumi/runtime/internal/readable"
	"github.com/lumi-idl/lumi/runtime/internal/signed"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Diff lists the differences between the current and desired properties of a resource. Computed properties are not
// compared.
type Diff struct {
	// changes holds all changes found. dropped, if not nil, marks the ignored ones by index.
	changes []Change
	dropped []bool
	// changed holds the paths of changes that are not ignored. around maps the path of each change, and each parent of
	// such a path, to the changes at or below it.
	changed  Paths
	around   map[Path]extent
	replaces Paths
	ignored  Paths
	// deleteFirst is set after a call of DeleteBeforeReplace.
	deleteFirst bool
	// path is the path of the values being compared. ctx cancels the comparison.
	path []step
	ctx  context.Context
}

// extent is a range of changes: those with indexes in [first, end), of which left are not ignored.
type extent struct{ first, end, left int }

// Change is a single difference. An addition or removal is reported at the outermost path it affects, a modification at
// the innermost.
type Change struct {
	Kind ChangeKind
	// Path locates the value.
	Path Path
	// Old and New are the values before and after the change. Old is nil if the value was added, New if it was removed.
	// Both are nil if Secret is set.
	Old, New *structpb.Value
	// Unknown is set if the new value is not known yet. It may turn out to equal the old value.
	Unknown bool
	// Secret is set if either value is a secret.
	Secret bool
}

// ChangeKind is the kind of a change.
type ChangeKind string

// The kinds of changes.
const (
	Added    ChangeKind = "added"
	Removed  ChangeKind = "removed"
	Modified ChangeKind = "modified"
)

// Compare returns the diff from old to want. Secret values are compared but not retained.
func Compare(old, want Bag) *Diff { return compare(context.Background(), old.Object(), want.Object()) }

// compare is like [Compare], but returns an incomplete diff once ctx is done.
func compare(ctx context.Context, old, want *property.Value) *Diff {
	d := &Diff{ctx: ctx, around: map[Path]extent{}}
	d.objects(old, want)
	d.around[""] = extent{0, len(d.changes), len(d.changes)}
	return d
}

// Changes returns the changes that are not ignored, in path order.
func (d *Diff) Changes() []Change {
	if d.dropped == nil {
		return d.changes
	}
	left := make([]Change, 0, d.around[""].left)
	for i, c := range d.changes {
		if !d.dropped[i] {
			left = append(left, c)
		}
	}
	return left
}

// Empty reports whether d contains no changes other than ignored ones.
func (d *Diff) Empty() bool { return d.around[""].left == 0 }

// Changed reports whether d contains a change at or below p, or of a value that contains p.
func (d *Diff) Changed(p Path) bool { return d.around[p].left > 0 || d.changed.Has(p) }

// Replace declares that a change at p requires a replacement. It has no effect if nothing changed at p.
func (d *Diff) Replace(p Path) {
	if d.Changed(p) {
		d.replaces = d.replaces.add(p)
	}
}

// Replaces returns the sorted paths whose changes require a replacement.
func (d *Diff) Replaces() []Path {
	return slices.DeleteFunc(d.replaces.Sorted(), func(p Path) bool { return !d.Changed(p) })
}

// Ignore drops the changes at and below p, where the resource keeps its old value. Use it for values that differ only in
// notation. It has no effect if nothing changed at p. An added or removed list element can be ignored only together with
// its list.
func (d *Diff) Ignore(p Path) {
	in := d.around[p]
	if in.left == 0 {
		return
	}
	if d.dropped == nil {
		d.dropped = make([]bool, len(d.changes))
	}
	for i := in.first; i < in.end; i++ {
		at := d.changes[i].Path
		if d.dropped[i] || p == at && d.changes[i].isElement() {
			continue
		}
		d.dropped[i], d.ignored = true, d.ignored.add(p)
		delete(d.changed, at)
		for outer := range at.containers {
			e := d.around[outer]
			e.left--
			d.around[outer] = e
		}
	}
}

// isElement reports whether the change added or removed a list element.
func (c Change) isElement() bool {
	return c.Kind != Modified && strings.HasSuffix(string(c.Path), "]") && !strings.HasSuffix(string(c.Path), `"]`)
}

// DeleteBeforeReplace declares that the old resource must be deleted before its replacement is created, for instance
// because a name must be unique. It has no effect unless the resource is replaced.
func (d *Diff) DeleteBeforeReplace() { d.deleteFirst = true }

// kept returns want with the old values wherever a change is ignored.
func (d *Diff) kept(old, want *property.Value) *property.Value {
	if len(d.ignored) == 0 {
		return want
	}
	k := &keeper{ignored: d.ignored, inside: d.ignored.around()}
	object := k.object(old, want)
	return &object
}

// keeper merges old values into a bag of new ones at ignored paths.
type keeper struct {
	// ignored holds the paths at which the old value is kept, and inside those paths and their parents.
	ignored, inside Paths
	path            []step
}

func (k *keeper) object(old, want *property.Value) property.Value {
	var fields []property.Field
	for p := range property.Pairs(old, want) {
		if v := k.value(step{name: p.Name, index: keyStep}, p.A, p.B); v.Kind() != property.Absent {
			fields = append(fields, property.Field{Name: p.Name, Value: v})
		}
	}
	return property.ObjectOf(fields...)
}

// value returns old if the change at step s is ignored, and otherwise want with the old values of its ignored parts. If
// old is kept in place of a value that contains a secret, it is wrapped as a secret.
func (k *keeper) value(s step, old, want *property.Value) property.Value {
	k.path = append(k.path, s)
	defer func() { k.path = k.path[:len(k.path)-1] }()
	p := render(k.path, notHidden, nil)
	_, inside := k.inside[p]
	switch {
	case k.ignored.Has(p) && !old.IsNull() && containsSecret(want):
		return signed.Secret(*old)
	case k.ignored.Has(p):
		return old.OrAbsent()
	case !inside || !haveParts(old, want):
		return want.OrAbsent()
	case old.Kind() == property.Object:
		return k.object(old, want)
	}
	list := slices.Clone(want.Elements())
	for i := range min(len(old.Elements()), len(list)) {
		list[i].Value = k.value(step{index: i}, old.Element(i), want.Element(i))
	}
	return property.ListOf(list)
}

// String formats one change per line, with secrets masked.
func (d *Diff) String() string {
	var b strings.Builder
	replaces := Paths{}
	for _, p := range d.Replaces() {
		replaces = replaces.add(p)
	}
	inside := replaces.around() // paths with a part that requires a replacement
	for _, c := range d.Changes() {
		b.WriteString(c.String())
		if _, ok := inside[c.Path]; ok || replaces.Has(c.Path) {
			b.WriteString(" (replaces)")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// String formats the change on one line, with secrets masked.
func (c Change) String() string {
	switch c.Kind {
	case Added:
		return "+ " + string(c.Path) + ": " + c.showNew()
	case Removed:
		return "- " + string(c.Path) + ": " + c.show(c.Old)
	}
	return "~ " + string(c.Path) + ": " + c.show(c.Old) + " -> " + c.showNew()
}

// showNew formats the new value. An unknown value is not masked, even if it is a secret.
func (c Change) showNew() string {
	if c.Unknown {
		return readable.Unknown
	}
	return c.show(c.New)
}

func (c Change) show(m *structpb.Value) string {
	v := property.FromMessage(m)
	switch {
	case signed.IsUnknown(&v):
		return readable.Unknown
	case c.Secret:
		return wire.Masked
	}
	const longest = 80
	return readable.Shorten(readable.JSON(&v, ""), longest)
}

func (d *Diff) objects(old, want *property.Value) {
	for p := range property.Pairs(old, want) {
		d.at(step{name: p.Name, index: keyStep}, func() { d.values(p.A, p.B) })
	}
}

// at calls compare for the part at step s, and records the extent of the changes found. The path is rendered only if
// there are any.
func (d *Diff) at(s step, compare func()) {
	if d.ctx.Err() != nil {
		return
	}
	d.path = append(d.path, s)
	first := len(d.changes)
	compare()
	if len(d.changes) > first {
		p := render(d.path, notHidden, nil)
		d.around[p] = extent{first, len(d.changes), len(d.changes) - first}
		if d.changes[first].Path == "" { // The change is to the part itself.
			d.changes[first].Path = p
			d.changed = d.changed.add(p)
		}
	}
	d.path = d.path[:len(d.path)-1]
}

// values compares two values at the current path. Either may be absent.
func (d *Diff) values(old, want *property.Value) {
	old, wasSecret := signed.Reveal(old)
	want, isSecret := signed.Reveal(want)
	kind, isSecret := Modified, wasSecret || isSecret
	switch {
	case old.IsNull() && want.IsNull():
		return
	case old.IsNull():
		kind, old = Added, nil
	case want.IsNull():
		kind, want = Removed, nil
	case !haveParts(old, want):
		if property.Equal(old, want) {
			return
		}
	case isSecret || signed.Signature(old) != "" || signed.Signature(want) != "":
		if same(old, want) {
			return
		}
	default:
		d.parts(old, want)
		return
	}
	d.add(kind, old, want, isSecret)
}

// add appends a change without a path, which at sets. It omits the values if they are or contain secrets.
func (d *Diff) add(kind ChangeKind, old, want *property.Value, secret bool) {
	c := Change{Kind: kind, Unknown: signed.IsUnknown(want), Secret: secret || containsSecret(old) || containsSecret(want)}
	if !c.Secret {
		c.Old, c.New = old.Message(), want.Message()
	}
	d.changes = append(d.changes, c)
}

func (d *Diff) parts(old, want *property.Value) {
	if old.Kind() == property.Object {
		d.objects(old, want)
		return
	}
	olds, wants := len(old.Elements()), len(want.Elements())
	for i := range max(olds, wants) {
		d.at(step{index: i}, func() {
			was, wasSecret := signed.Reveal(old.Element(i))
			is, isSecret := signed.Reveal(want.Element(i))
			switch { // Extra elements are changes even if they are null, since an any may contain nulls.
			case i >= wants:
				d.add(Removed, was, nil, wasSecret)
			case i >= olds:
				d.add(Added, nil, is, isSecret)
			default:
				d.values(old.Element(i), want.Element(i))
			}
		})
	}
}

// containsSecret reports whether a value contains a secret.
func containsSecret(v *property.Value) bool {
	contains := func(f property.Field) bool { return containsSecret(&f.Value) }
	return signed.IsSecret(v) || slices.ContainsFunc(v.Fields(), contains) || slices.ContainsFunc(v.Elements(), contains)
}
