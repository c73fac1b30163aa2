package lumi

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/runtime/internal/readable"
	"github.com/lumi-idl/lumi/runtime/internal/signed"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Diff is how the properties that a program wants differ from those that a resource has. Properties that a program
// cannot set are not compared.
type Diff struct {
	// changes are all that were found, of which dropped, if it is not nil, has those that are ignored.
	changes []Change
	dropped []bool
	// changed are the paths of the changes that are not ignored, and around has the paths of all and those that contain one.
	changed  Paths
	around   map[Path]extent
	replaces Paths
	ignored  Paths
	// deleteFirst is what DeleteBeforeReplace sets.
	deleteFirst bool
	// path leads to the values that are being compared, until ctx is done.
	path []step
	ctx  context.Context
}

// extent is the changes from first up to end, of which some are left that are not ignored.
type extent struct{ first, end, left int }

// Change is one difference: the outermost place where a value was added or removed, the innermost where it is another.
type Change struct {
	Kind ChangeKind
	// Path is where the value stands.
	Path Path
	// Old and New are the values. Old is nil where the value was added, New where it was removed. Both are nil where
	// Secret is set.
	Old, New *structpb.Value
	// Unknown says that the new value is not known yet, so that it may turn out to be the old one.
	Unknown bool
	// Secret says that one of the values is a secret.
	Secret bool
}

// ChangeKind says what happened to a value.
type ChangeKind string

// The kinds of changes.
const (
	Added    ChangeKind = "added"
	Removed  ChangeKind = "removed"
	Modified ChangeKind = "modified"
)

// Compare makes the diff of two bags. Values that are wrapped as secrets are compared, but not kept.
func Compare(old, want Bag) *Diff { return compare(context.Background(), old.message, want.message) }

// compare ends early when ctx is done.
func compare(ctx context.Context, old, want *structpb.Struct) *Diff {
	d := &Diff{ctx: ctx, around: map[Path]extent{}}
	d.objects(old.GetFields(), want.GetFields())
	d.around[""] = extent{0, len(d.changes), len(d.changes)}
	return d
}

// Changes lists the differences, in the order of their paths.
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

// Empty reports whether nothing differs.
func (d *Diff) Empty() bool { return d.around[""].left == 0 }

// Changed reports whether the value at p, or any part of it, differs.
func (d *Diff) Changed(p Path) bool { return d.around[p].left > 0 || d.changed.Has(p) }

// Replace says that the change of the value at p needs a new resource in place of the old. It has no effect where
// nothing changed.
func (d *Diff) Replace(p Path) {
	if d.Changed(p) {
		d.replaces = d.replaces.add(p)
	}
}

// Replaces lists the paths whose changes need a new resource, sorted.
func (d *Diff) Replaces() []Path {
	return slices.DeleteFunc(d.replaces.Sorted(), func(p Path) bool { return !d.Changed(p) })
}

// Ignore says that the change of the value at p, or of any part of it, makes no difference: it is dropped, and the resource
// keeps the old value. It is for values that differ only in how they are written. It has no effect if nothing changed
// there. An element that only one of two lists has can be ignored only together with the list.
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

// isElement reports whether an element of a list was added or removed.
func (c Change) isElement() bool {
	return c.Kind != Modified && strings.HasSuffix(string(c.Path), "]") && !strings.HasSuffix(string(c.Path), `"]`)
}

// DeleteBeforeReplace says that the old resource must be deleted before a new one is created in its place, such as for a
// name that only one of them can have. It has no effect on an update.
func (d *Diff) DeleteBeforeReplace() { d.deleteFirst = true }

// kept returns the properties that are wanted, with old ones at the places whose changes are ignored.
func (d *Diff) kept(old, want *structpb.Struct) *structpb.Struct {
	if len(d.ignored) == 0 {
		return want
	}
	k := &keeper{ignored: d.ignored, inside: d.ignored.around()}
	return &structpb.Struct{Fields: k.fields(old.GetFields(), want.GetFields())}
}

// keeper makes a bag of old and new values.
type keeper struct {
	// ignored are the paths of old values, and inside all that contain one.
	ignored, inside Paths
	path            []step
}

func (k *keeper) fields(old, want map[string]*structpb.Value) map[string]*structpb.Value {
	fields := maps.Clone(want)
	if fields == nil {
		fields = map[string]*structpb.Value{}
	}
	for name, v := range old {
		if v = k.value(step{name: name, index: keyStep}, v, want[name]); v != nil {
			fields[name] = v
		}
	}
	for name, v := range want {
		if _, both := old[name]; !both && k.value(step{name: name, index: keyStep}, nil, v) == nil {
			delete(fields, name)
		}
	}
	return fields
}

// value returns the old value if a change at the step is ignored, and otherwise the one that is wanted, with old parts.
// An old value in place of a secret becomes one.
func (k *keeper) value(s step, old, want *structpb.Value) *structpb.Value {
	k.path = append(k.path, s)
	defer func() { k.path = k.path[:len(k.path)-1] }()
	p := render(k.path, notHidden, nil)
	_, inside := k.inside[p]
	switch {
	case k.ignored.Has(p) && !signed.IsNull(old) && holdsSecret(want):
		return NewSecret(old)
	case k.ignored.Has(p):
		return old
	case !inside || !haveParts(old, want):
		return want
	case old.GetStructValue() != nil:
		fields := k.fields(old.GetStructValue().GetFields(), want.GetStructValue().GetFields())
		return structpb.NewStructValue(&structpb.Struct{Fields: fields})
	}
	list := slices.Clone(want.GetListValue().GetValues())
	olds := old.GetListValue().GetValues()
	for i := range min(len(olds), len(list)) {
		list[i] = k.value(step{index: i}, olds[i], list[i])
	}
	return structpb.NewListValue(&structpb.ListValue{Values: list})
}

// String shows one change a line, and no secret.
func (d *Diff) String() string {
	var b strings.Builder
	replaces := Paths{}
	for _, p := range d.Replaces() {
		replaces = replaces.add(p)
	}
	inside := replaces.around() // of which some part needs a replacement
	for _, c := range d.Changes() {
		b.WriteString(c.String())
		if _, ok := inside[c.Path]; ok || replaces.Has(c.Path) {
			b.WriteString(" (replaces)")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// String shows the change in one line, without the value of a secret.
func (c Change) String() string {
	switch c.Kind {
	case Added:
		return "+ " + string(c.Path) + ": " + c.showNew()
	case Removed:
		return "- " + string(c.Path) + ": " + c.show(c.Old)
	}
	return "~ " + string(c.Path) + ": " + c.show(c.Old) + " -> " + c.showNew()
}

// showNew says of a value that is not known yet just that, also where it will be a secret.
func (c Change) showNew() string {
	if c.Unknown {
		return readable.Unknown
	}
	return c.show(c.New)
}

func (c Change) show(v *structpb.Value) string {
	switch {
	case signed.IsUnknown(v):
		return readable.Unknown
	case c.Secret:
		return wire.Masked
	}
	const longest = 80
	return readable.Shorten(readable.JSON(v, ""), longest)
}

// objects compares the fields of two objects.
func (d *Diff) objects(old, want map[string]*structpb.Value) {
	keys := slices.Collect(maps.Keys(old))
	for key := range want {
		if _, both := old[key]; !both {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, cmp.Compare)
	for _, key := range keys {
		d.at(step{name: key, index: keyStep}, func() { d.values(old[key], want[key]) })
	}
}

// at compares a part. It renders the path once, however many changes there are inside.
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
		if d.changes[first].Path == "" { // The part itself changed.
			d.changes[first].Path = p
			d.changed = d.changed.add(p)
		}
	}
	d.path = d.path[:len(d.path)-1]
}

// values compares two values, of which either may be absent.
func (d *Diff) values(old, want *structpb.Value) {
	old, wasSecret := signed.Reveal(old)
	want, isSecret := signed.Reveal(want)
	c := Change{
		Kind: Modified, Old: old, New: want, Unknown: signed.IsUnknown(want), Secret: wasSecret || isSecret,
	}
	switch {
	case signed.IsNull(old) && signed.IsNull(want):
		return
	case signed.IsNull(old):
		c.Kind, c.Old = Added, nil
	case signed.IsNull(want):
		c.Kind, c.New = Removed, nil
	case !haveParts(old, want):
		if proto.Equal(old, want) {
			return
		}
	case c.Secret || signed.Signature(old) != "" || signed.Signature(want) != "":
		if same(old, want) {
			return
		}
	default:
		d.parts(old, want)
		return
	}
	d.add(c)
}

// add adds a change, whose path at sets.
func (d *Diff) add(c Change) {
	if c.Secret || holdsSecret(c.Old) || holdsSecret(c.New) {
		c.Secret, c.Old, c.New = true, nil, nil
	}
	d.changes = append(d.changes, c)
}

// parts compares two objects or two lists.
func (d *Diff) parts(old, want *structpb.Value) {
	if old.GetStructValue() != nil {
		d.objects(old.GetStructValue().GetFields(), want.GetStructValue().GetFields())
		return
	}
	olds, wants := old.GetListValue().GetValues(), want.GetListValue().GetValues()
	both := min(len(olds), len(wants))
	for i := range both {
		d.at(step{index: i}, func() { d.values(olds[i], wants[i]) })
	}
	// What follows is there also if it is null, which an any may hold.
	for i := both; i < len(olds); i++ {
		v, secret := signed.Reveal(olds[i])
		d.at(step{index: i}, func() { d.add(Change{Kind: Removed, Old: v, Secret: secret}) })
	}
	for i := both; i < len(wants); i++ {
		v, secret := signed.Reveal(wants[i])
		added := Change{Kind: Added, New: v, Unknown: signed.IsUnknown(v), Secret: secret}
		d.at(step{index: i}, func() { d.add(added) })
	}
}

// holdsSecret reports whether any part of a value is a secret.
func holdsSecret(v *structpb.Value) bool {
	if signed.IsSecret(v) {
		return true
	}
	for _, field := range v.GetStructValue().GetFields() {
		if holdsSecret(field) {
			return true
		}
	}
	return slices.ContainsFunc(v.GetListValue().GetValues(), holdsSecret)
}
