package desired

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/lumi-idl/lumi/lang/muranopl"
	"github.com/lumi-idl/lumi/lang/yaql"
	"github.com/lumi-idl/lumi/lumigl"
)

// header is the key that marks objects in models.
const header = "?"

// models is an index of the objects in a model by id.
type models struct {
	root    *muranopl.Node
	objects map[string]*muranopl.Node
	owners  map[string]string // id of the enclosing object of each object
	ids     []string          // in order of appearance
}

func idOf(object *muranopl.Node) string {
	id, _ := object.Get(header).Get("id").Text()
	return id
}

// newModels indexes the objects of a model. It returns an error unless each object has a unique id.
func newModels(root *muranopl.Node) (*models, error) {
	m := &models{root: root, objects: map[string]*muranopl.Node{}, owners: map[string]string{}}
	return m, m.add(root, "")
}

func (m *models) add(n *muranopl.Node, owner string) (err error) {
	if head := n.Get(header); head != nil {
		id := idOf(n)
		switch {
		case id == "":
			return failAt(head.Pos, yaql.Value, "an object needs an id to be deployed")
		case m.objects[id] != nil:
			return failAt(head.Pos, yaql.Value, "object %s is defined twice", id)
		}
		m.ids = append(m.ids, id)
		m.objects[id], m.owners[id] = n, owner
		owner = id
	}
	eachPart(n, func(part *muranopl.Node) {
		if err == nil {
			err = m.add(part, owner)
		}
	})
	return err
}

func eachPart(n *muranopl.Node, f func(*muranopl.Node)) {
	items, _ := n.Value.([]*muranopl.Node)
	for _, item := range items {
		f(item)
	}
	for _, e := range n.Entries() {
		if e.Key.Value != header {
			f(e.Value)
		}
	}
}

// merger merges the model in a file with the saved model. In values and changed InOut values come from the file. Out
// values and unchanged InOut values come from the saved model.
type merger struct {
	in                *muranopl.Interpreter
	file, last, saved *models
	live              map[string]bool // objects whose position in the file takes precedence
	placed            map[string]bool // objects already in the result
	log               func(level, message string)
}

// class returns the class of an object in a model.
func (m *merger) class(object *muranopl.Node) (*muranopl.Class, error) {
	name, ok := object.Get(header).Get("type").Text()
	if !ok {
		return nil, yaql.Errorf(yaql.Value, `missing type; add "type" to its "?"`)
	}
	return m.in.Class(name)
}

// keeps reports whether the saved value of an InOut property takes precedence over the value in the file.
func (m *merger) keeps(id, name string, v *muranopl.Node) bool {
	return m.saved.objects[id].Get(name) != nil && same(v, m.last.objects[id].Get(name))
}

// same reports whether two values in files are equal. It compares objects by id.
func same(a, b *muranopl.Node) bool {
	return (a == nil) == (b == nil) && (a == nil || reduced(a).Equal(reduced(b)))
}

// reduced returns a value in which objects are replaced by their ids.
func reduced(n *muranopl.Node) lumigl.Value {
	v, _ := export(n.Data(), true) // exported successfully before
	return lumigl.ListOf(v).Replace(func(part lumigl.Value) (lumigl.Value, bool) {
		return part.Get(header).Get("id"), part.Get(header).Exists()
	})
}

// check returns an error if the file changes an object in a way that is not allowed, such as by changing its class or a
// Const property.
func (m *merger) check(id string) error {
	object, last := m.file.objects[id], m.last.objects[id]
	fail := func(pos muranopl.Position, kind yaql.Kind, format string, args ...any) error {
		return failAt(pos, kind, "object %s: %s", id, fmt.Sprintf(format, args...))
	}
	class, err := m.class(object)
	if err == nil && last != nil {
		if before, failed := m.class(last); failed != nil || before != class {
			err = errors.New("its class has changed since the last deployment; give it a new id")
		}
	}
	if wrong, ok := errors.AsType[*muranopl.Error](err); ok && wrong.Pos != (muranopl.Position{}) {
		return wrong
	}
	for _, e := range object.Entries() {
		if e.Key.Value == header && err != nil {
			return fail(e.Key.Pos, yaql.Value, "%s", err)
		}
	}
	const changed = "property %s of class %s is Const: it cannot change after the first deployment"
	for _, e := range object.Entries() {
		name, ok := e.Key.Text()
		if err := class.Accepts(name); ok && name != header && err != nil && m.log != nil {
			m.log("warning", fmt.Sprintf("%s: object %s: %s", e.Key.Pos, id, err))
		}
		switch usage := class.Usage(name); {
		case name == header:
		case usage == muranopl.Out:
			return fail(e.Key.Pos, muranopl.ReadOnly, "property %s of class %s is Out: only workflows can set it", name, class.Name)
		case usage == muranopl.Const && last != nil && !same(e.Value, last.Get(name)):
			return fail(e.Key.Pos, muranopl.ReadOnly, changed, name, class.Name)
		}
	}
	for _, e := range last.Entries() {
		if name, _ := e.Key.Text(); class.Usage(name) == muranopl.Const && object.Get(name) == nil {
			return fail(object.Pos, muranopl.ReadOnly, changed, name, class.Name)
		}
	}
	return nil
}

// findLive marks the objects whose position in the file takes precedence over their position in the saved model.
func (m *merger) findLive(n *muranopl.Node) {
	if n.Get(header) == nil {
		eachPart(n, m.findLive)
		return
	}
	id := idOf(n)
	m.live[id] = true
	class, _ := m.class(n)
	for _, e := range n.Entries() {
		name, _ := e.Key.Text()
		if name != header && (class.Usage(name) != muranopl.InOut || !m.keeps(id, name, e.Value)) {
			m.findLive(e.Value)
		}
	}
}

// merge merges a value from the file or, if saved is set, from the saved model. A value without a position, such as a
// saved one, gets the position around.
func (m *merger) merge(n *muranopl.Node, saved bool, around muranopl.Position) *muranopl.Node {
	merged := &muranopl.Node{Pos: cmp.Or(n.Pos, around), Value: n.Value}
	id := idOf(n)
	if id != "" && (m.placed[id] || saved && m.live[id]) {
		merged.Value = id
		return merged
	}
	old := m.saved.objects[id]
	if file := m.file.objects[id]; file != nil {
		n, saved, merged.Pos = file, false, file.Pos
	}
	m.placed[id] = true
	switch v := n.Value.(type) {
	case []*muranopl.Node:
		items := make([]*muranopl.Node, len(v))
		for i, item := range v {
			items[i] = m.merge(item, saved, merged.Pos)
		}
		merged.Value = items
	case []muranopl.Entry:
		var class *muranopl.Class
		if id != "" && !saved {
			class, _ = m.class(n)
		}
		var entries []muranopl.Entry
		add := func(key, value *muranopl.Node, saved bool) {
			if key.Value != header {
				value = m.merge(value, saved, merged.Pos)
			}
			entries = append(entries, muranopl.Entry{Key: &muranopl.Node{Pos: cmp.Or(key.Pos, merged.Pos), Value: key.Value}, Value: value})
		}
		for _, e := range v {
			name, _ := e.Key.Text()
			if class != nil && class.Usage(name) == muranopl.InOut && m.keeps(id, name, e.Value) {
				add(e.Key, old.Get(name), true)
			} else {
				add(e.Key, e.Value, saved)
			}
		}
		for _, e := range old.Entries() {
			name, _ := e.Key.Text()
			if class == nil {
				break
			}
			usage := class.Usage(name)
			if usage == muranopl.Out || usage == muranopl.InOut && n.Get(name) == nil && m.keeps(id, name, nil) {
				add(e.Key, e.Value, true)
			}
		}
		merged.Value = entries
	}
	return merged
}

// load creates the objects of the file and of the saved model. It calls .destroy on objects that were removed from the
// file.
func (m *merger) load(e *evaluation) (*muranopl.Object, error) {
	if m.file.root.Get(header) == nil {
		return nil, failAt(e.Model.Pos, muranopl.Syntax, "the root of an object model must be an object with the key ?")
	}
	for _, id := range m.file.ids {
		if err := m.check(id); err != nil {
			return nil, err
		}
	}
	m.findLive(m.file.root)
	root := m.merge(m.file.root, false, e.Model.Pos)
	var gone []muranopl.Gone
	for _, id := range m.saved.ids {
		if !m.placed[id] {
			gone = append(gone, muranopl.Gone{Model: m.merge(m.saved.objects[id], true, muranopl.Position{}), ID: id, Owner: m.saved.owners[id]})
		}
	}
	o, err := m.in.Load(e.ctx, root, gone...)
	if err != nil {
		return nil, err
	}
	return o, e.destroy(nil)
}
