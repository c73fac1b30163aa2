package lumigl

import "slices"

// Retarget returns the value with references that lead where to says. What does not change is shared with v.
func (v Value) Retarget(to func(*Vertex) *Vertex) Value { return v.retarget(nil, to) }

// Replace returns the value with the parts, outermost first, for which replace returns true replaced by what it returns
// with that; an absent value removes an element or a member. What does not change is shared with v.
func (v Value) Replace(replace func(part Value) (Value, bool)) Value {
	return v.replace(nil, func(part *Value) (Value, bool) { return replace(*part) })
}

// replaced returns what a value becomes if it changes. It takes a pointer, since most values are only looked at.
func (v *Value) replaced(memory *slabs, with func(*Value) (Value, bool)) (Value, bool) {
	if part, changed := with(v); changed {
		return part, true
	}
	return v.mapped(memory, func(_ int, _ string, part *Value) (Value, bool) { return part.replaced(memory, with) })
}

// Map returns a list or an object with the elements or members for which replace returns true replaced, as
// [Value.Replace] does with all parts. It tells replace the index of each, and the key of a member.
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
