package diff

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/lumi-idl/lumi/internal/jsonpointer"
	"github.com/lumi-idl/lumi/lumigl"
)

// Verify returns an error unless applying the delta to the old document yields the new one.
func Verify(d *Delta) error {
	changes := make([]Change, len(d.Resources))
	for i := range d.Resources {
		r := &d.Resources[i]
		c := &changes[i]
		*c = Change{Kind: Inside, Key: r.Key, From: NoIndex, To: NoIndex, Changes: r.Changes}
		if r.Old != nil {
			c.Old = d.body(r.Old)
		}
		switch r.Kind {
		case Created:
			c.Kind, c.New = Added, d.body(r.New)
		case Deleted:
			c.Kind = Removed
		}
	}
	a := &applier{}
	got := lumigl.ListOf(a.objects(header(d.old), d.Header, ""), a.objects(d.vertices(d.old), changes, ""))
	if want := lumigl.ListOf(header(d.new), d.vertices(d.new)); a.err == nil && !got.Equal(want) {
		e := encoder{tag: lumigl.DefaultTag}
		return fmt.Errorf("applying the delta: got\n%s\nwant\n%s", e.encode(got), e.encode(want))
	}
	return a.err
}

// vertices returns the vertices of a document as an object.
func (d *Delta) vertices(doc lumigl.Document) lumigl.Value {
	var all lumigl.ObjectBuilder
	for v := range doc.Base().Vertices() {
		all.Set(v.Key(), d.body(v))
	}
	return all.Object()
}

// applier applies the changes of a delta. It records the first inconsistency.
type applier struct{ err error }

// objects returns an object with changes applied to its members.
func (a *applier) objects(old lumigl.Value, changes []Change, at string) lumigl.Value {
	if len(changes) == 0 {
		return old
	}
	changed := make(map[string]*Change, len(changes))
	for i := range changes {
		changed[changes[i].Key] = &changes[i]
	}
	var all lumigl.ObjectBuilder
	for key, v := range old.Members() {
		c := changed[key]
		if c == nil {
			all.Set(key, v)
			continue
		}
		delete(changed, key)
		if c.Kind == Added {
			a.mismatch(jsonpointer.Within(at, key), "there is a value already")
			continue
		}
		all.Set(key, a.value(v, c, jsonpointer.Within(at, key)))
	}
	for i := range changes {
		c := &changes[i]
		if changed[c.Key] == nil {
			continue
		}
		if c.Kind != Added {
			a.mismatch(jsonpointer.Within(at, c.Key), "there is no value")
			continue
		}
		all.Set(c.Key, c.New)
	}
	return all.Object()
}

// value returns a value with a change applied, or the absent value if the change removes it.
func (a *applier) value(old lumigl.Value, c *Change, at string) lumigl.Value {
	if c.Kind == Inside && old.Kind() == c.Old.Kind() {
		if old.Kind() == lumigl.List {
			return a.lists(old, c.Changes, at)
		}
		return a.objects(old, c.Changes, at)
	}
	if !old.Equal(c.Old) {
		a.mismatch(at, "the value is another")
	}
	return c.New
}

// lists returns the list old with changes applied to its elements. The changes must be in order.
func (a *applier) lists(old lumigl.Value, changes []Change, at string) lumigl.Value {
	var all []lumigl.Value
	from := 0
	for i := range changes {
		c := &changes[i]
		for ; from < old.Len() && (c.From != NoIndex && from < c.From || c.From == NoIndex && len(all) < c.To); from++ {
			all = append(all, old.At(from))
		}
		if c.From >= old.Len() || c.To > len(all) {
			a.mismatch(at, "the list is shorter")
			return old
		}
		if c.Kind == Added {
			all = append(all, c.New)
			continue
		}
		if v := a.value(old.At(from), c, at+"/"+strconv.Itoa(from)); c.Kind != Removed {
			all = append(all, v)
		}
		from++
	}
	for ; from < old.Len(); from++ {
		all = append(all, old.At(from))
	}
	return lumigl.ListOf(all...)
}

// mismatch records an inconsistency unless there already is one.
func (a *applier) mismatch(at, problem string) {
	a.err = cmp.Or(a.err, fmt.Errorf("%s: %s", at, problem))
}
