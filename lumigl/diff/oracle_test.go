package diff

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/lumi-idl/lumi/internal/jsonpointer"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// MismatchError says that a delta was applied to another document than the one that it was made from.
type MismatchError struct {
	// Pointer is the JSON pointer to what is not as the delta says.
	Pointer string
	// Problem says what is wrong there.
	Problem string
}

// Error says where it is and what to do.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("the delta was made from another snapshot: %s (at %s); compare again", e.Problem, e.Pointer)
}

// Apply is the oracle of the tests: what Compare finds, applied, has to give the new snapshot.
//
// It returns the snapshot that differs from the old one as the delta says, in canonical order. Resources have no source in it. The old one stays as
// it is. The error is a *[MismatchError] if the delta was made from another one, [ErrForms] if it was made from a general
// graph, or a *[lumigl.InvalidError] if the outcome is not valid.
func Apply(old *lumigl.Snapshot, d *Delta) (*lumigl.Snapshot, error) {
	if _, general := d.old.(*lumigl.Graph); general {
		return nil, ErrForms
	}
	a := applier{new: &lumigl.Snapshot{}}
	head := a.objects(header(old), d.Header, "")
	bodies := a.bodies(old, d)
	a.pending(head.Get("pending"))
	if a.err != nil {
		return nil, a.err
	}
	a.header(head)
	for i, v := range bodies {
		a.fill(a.filled[i], v)
	}
	pending := head.Get("pending")
	for i, v := range pending.Get("deletes").Elements() {
		a.fill(a.new.Pending.Deletes[i], v)
	}
	for i, v := range pending.Get("operations").Elements() {
		a.fill(a.new.Pending.Operations[i].Resource, v)
	}
	if a.err != nil {
		return nil, a.err
	}
	if err := a.new.Sort(); err != nil {
		return nil, err
	}
	return a.new, nil
}

// applier makes a snapshot.
type applier struct {
	new *lumigl.Snapshot
	// filled are the new resources, which get their properties when all of them are there.
	filled []*lumigl.Vertex
	// deletes are the resources that still have to go, by URN.
	deletes map[string]*lumigl.Vertex
	err     error
}

// bodies adds the new resources, and returns what is in them.
func (a *applier) bodies(old *lumigl.Snapshot, d *Delta) []lumigl.Value {
	changed := make(map[string]*Resource, len(d.Resources))
	for i := range d.Resources {
		r := &d.Resources[i]
		changed[r.Key] = r
		if there := old.Vertex(r.Key) != nil; there != (r.Kind != Created) {
			a.mismatch(jsonpointer.Within("/resources", r.Key), map[bool]string{
				true: "the resource is there already", false: "the resource is not there",
			}[there])
		}
	}
	var bodies []lumigl.Value
	add := func(key string, body lumigl.Value) {
		v, err := a.new.Add(urn.URN(key))
		if err != nil {
			a.fail(err)
			return
		}
		a.filled, bodies = append(a.filled, v), append(bodies, body)
	}
	for v := range old.Vertices() {
		r := changed[v.Key()]
		switch {
		case r == nil:
			add(v.Key(), resourceValue(v))
		case r.Kind == Deleted:
			if !resourceValue(v).Equal(resourceValue(r.Old)) {
				a.mismatch(jsonpointer.Within("/resources", r.Key), "the resource that was deleted is not as it was")
			}
		default:
			add(v.Key(), a.objects(resourceValue(v), r.Changes, jsonpointer.Within("/resources", r.Key)))
		}
	}
	for i := range d.Resources {
		if r := &d.Resources[i]; r.Kind == Created {
			add(r.Key, resourceValue(r.New))
		}
	}
	return bodies
}

// pending makes the resources that are pending, without what is in them.
func (a *applier) pending(v lumigl.Value) {
	make := func(v lumigl.Value) *lumigl.Vertex {
		key, _ := v.Get("urn").Text()
		r, err := lumigl.NewResource(urn.URN(key))
		if err != nil {
			a.fail(err)
		}
		return r
	}
	a.deletes = map[string]*lumigl.Vertex{}
	for _, e := range v.Get("deletes").Elements() {
		r := make(e)
		a.new.Pending.Deletes = append(a.new.Pending.Deletes, r)
		if r != nil && a.deletes[r.Key()] == nil {
			a.deletes[r.Key()] = r
		}
	}
	for _, e := range v.Get("operations").Elements() {
		kind, _ := e.Get("operation").Text()
		a.new.Pending.Operations = append(a.new.Pending.Operations, lumigl.Operation{Kind: lumigl.OperationKind(kind), Resource: make(e)})
	}
}

// header fills in what stands beside the resources.
func (a *applier) header(head lumigl.Value) {
	s := a.new
	for key, v := range head.Members() {
		switch key {
		case "ref":
			s.Tag, _ = v.Text()
		case "package":
			s.Package, _ = v.Text()
		case "args":
			s.Args = v
		case "lineage":
			s.Lineage, _ = v.Text()
		case "serial":
			literal, _ := v.Literal()
			serial, err := strconv.ParseUint(literal, 10, 64)
			a.fail(err)
			s.Serial = serial
		case "pending":
		default:
			s.Fields = append(s.Fields, lumigl.Member{Key: key, Value: v})
		}
	}
}

// fill fills in what a resource has. References lead to the new resources from then on.
func (a *applier) fill(r *lumigl.Vertex, body lumigl.Value) {
	kind, _ := body.Get("type").Text()
	r.Type = tokens.Type(kind)
	r.ID, _ = body.Get("id").Text()
	r.Extensions = body.Get("extensions")
	r.Options = body.Get("options").Retarget(a.target)
	r.Properties = body.Get("properties").Retarget(a.target)
}

func (a *applier) target(v *lumigl.Vertex) *lumigl.Vertex {
	if r := a.new.Vertex(v.Key()); r != nil {
		return r
	}
	if r := a.deletes[v.Key()]; r != nil {
		return r
	}
	return v // It dangles, which is found in the end.
}

// objects returns the object that differs from an old one by the changes.
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

// value returns the value that an old one becomes, which is absent if it was removed.
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

// lists returns the list that differs from an old one by the changes, which are in order.
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

func (a *applier) mismatch(at, problem string) { a.fail(&MismatchError{Pointer: at, Problem: problem}) }

// fail notes the first error.
func (a *applier) fail(err error) { a.err = cmp.Or(a.err, err) }
