package lumigl

import "slices"

// Retarget returns a copy of v with each reference redirected to to(target). Unchanged parts are shared with v.
func (v Value) Retarget(to func(*Vertex) *Vertex) Value { return v.retarget(nil, to) }

// Replace returns a copy of v with parts replaced by the results of replace, which is called outermost first. If
// replace returns false, the part is kept and its children are visited. Returning an absent value removes an element or
// a member. Unchanged parts are shared with v.
func (v Value) Replace(replace func(part Value) (Value, bool)) Value {
	return v.replace(nil, func(part *Value) (Value, bool) { return replace(*part) })
}

// replaced returns the new value, and false if nothing changed. The pointers avoid copies, since most values do not
// change.
func (v *Value) replaced(memory *slabs, with func(*Value) (Value, bool)) (Value, bool) {
	if part, changed := with(v); changed {
		return part, true
	}
	return v.mapped(memory, func(_ int, _ string, part *Value) (Value, bool) { return part.replaced(memory, with) })
}

// Map returns a copy of a list or an object with its elements or members replaced as in [Value.Replace], but only one
// level deep. replace receives the index and, for members, the key.
func (v Value) Map(replace func(i int, key string, part Value) (Value, bool)) Value {
	if w, changed := v.mapped(nil, func(i int, key string, part *Value) (Value, bool) { return replace(i, key, *part) }); changed {
		return w
	}
	return v
}

func (v *Value) retarget(memory *slabs, to func(*Vertex) *Vertex) Value {
	return v.replace(memory, func(part *Value) (Value, bool) {
		if part.kind != Reference {
			return Value{}, false
		}
		target := to(part.node.target)
		switch target {
		case part.node.target:
			return Value{}, false
		case nil:
			target = &Vertex{}
		}
		return Value{kind: Reference, text: part.text, node: memory.copy(node{target: target})}, true
	})
}

func (v *Value) replace(memory *slabs, with func(*Value) (Value, bool)) Value {
	if replaced, changed := v.replaced(memory, with); changed {
		return replaced
	}
	return *v
}

func (v *Value) mapped(memory *slabs, replace func(i int, key string, part *Value) (Value, bool)) (Value, bool) {
	var n *node
	absent := false
	change := func() *node {
		if n == nil {
			n = memory.copy(*v.node)
		}
		return n
	}
	switch v.kind {
	case List:
		for i := range v.node.elements {
			if part, changed := replace(i, "", &v.node.elements[i]); changed {
				change().elements[i] = part
				absent = absent || isAbsent(part)
			}
		}
	case Object:
		for i := range v.node.members {
			m := &v.node.members[i]
			if part, changed := replace(i, m.Key, &m.Value); changed {
				change().members[i].Value = part
				absent = absent || isAbsent(part)
			}
		}
	}
	if n == nil {
		return Value{}, false
	}
	if absent {
		n.elements = slices.DeleteFunc(n.elements, isAbsent)
		n.members = slices.DeleteFunc(n.members, func(m Member) bool { return isAbsent(m.Value) })
	}
	return Value{kind: v.kind, offset: v.offset, node: n}, true
}
