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
func Compare(old, want Bag) *Diff { return compare(context.Background(), old.message, want.message) }

// compare is like [Compare], but returns an incomplete diff once ctx is done.
func compare(ctx context.Context, old, want *structpb.Struct) *Diff {
	d := &Diff{ctx: ctx, around: map[Path]extent{}}
	d.objects(old.GetFields(), want.GetFields())
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
func (d *Diff) kept(old, want *structpb.Struct) *structpb.Struct {
	if len(d.ignored) == 0 {
		return want
	}
	k := &keeper{ignored: d.ignored, inside: d.ignored.around()}
	return &structpb.Struct{Fields: k.fields(old.GetFields(), want.GetFields())}
}

// keeper merges old values into a bag of new ones at ignored paths.
type keeper struct {
	// ignored holds the paths at which the old value is kept, and inside those paths and their parents.
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

// value returns old if the change at step s is ignored, and otherwise want with the old values of its ignored parts. If
// old is kept in place of a value that contains a secret, it is wrapped as a secret.
func (k *keeper) value(s step, old, want *structpb.Value) *structpb.Value {
	k.path = append(k.path, s)
	defer func() { k.path = k.path[:len(k.path)-1] }()
	p := render(k.path, notHidden, nil)
	_, inside := k.inside[p]
	switch {
	case k.ignored.Has(p) && !signed.IsNull(old) && containsSecret(want):
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

// add appends a change without a path, which at sets. It removes the values if they contain secrets.
func (d *Diff) add(c Change) {
	if c.Secret || containsSecret(c.Old) || containsSecret(c.New) {
		c.Secret, c.Old, c.New = true, nil, nil
	}
	d.changes = append(d.changes, c)
}

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
	// Extra elements are changes even if they are null, since an any may contain nulls.
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

// containsSecret reports whether a value contains a secret.
func containsSecret(v *structpb.Value) bool {
	if signed.IsSecret(v) {
		return true
	}
	for _, field := range v.GetStructValue().GetFields() {
		if containsSecret(field) {
			return true
		}
	}
	return slices.ContainsFunc(v.GetListValue().GetValues(), containsSecret)
}
