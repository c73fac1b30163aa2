package lumigl

import "github.com/lumi-idl/lumi/runtime/wire"

// propertyKey is the only key allowed in a reference besides the tag.
const propertyKey = "property"

// bag resolves the references in a vertex's properties. The properties object itself cannot be a reference.
func (b *builder) bag(properties *Value) {
	if tag, ok := member(*properties, b.tag); ok {
		b.faultWithin(tag.Key, ReferenceFault, tag.offset,
			"these are the properties, which cannot be a reference; if %q is one of them, name another key in \"ref\"", clip(b.tag))
	}
	b.members(properties.members())
}

// resolve resolves the references in a value in place.
func (b *builder) resolve(v *Value) {
	switch v.kind {
	case List:
		b.path = append(b.path, step{})
		for i := range v.node.elements {
			e := &v.node.elements[i]
			b.path[len(b.path)-1].index = i
			b.resolve(e)
		}
		b.path = b.path[:len(b.path)-1]
	case Object:
		members := v.node.members
		isExpression := false
		for i := range members {
			switch m := &members[i]; m.Key {
			case b.tag:
				b.reference(v, m)
				return
			case wire.Signature:
				isExpression = m.Value.kind == Text && m.Value.text == wire.Expression
			}
		}
		b.members(members)
		if isExpression && b.snapshot != nil {
			b.expression(v)
		}
	}
}

// members resolves the references in the members of an object in place.
func (b *builder) members(members []Member) {
	b.path = append(b.path, step{index: -1})
	for i := range members {
		m := &members[i]
		b.path[len(b.path)-1].key = m.Key
		b.resolve(&m.Value)
	}
	b.path = b.path[:len(b.path)-1]
}

// reference converts an object that contains the tag to a reference. If the reference is invalid, the references within
// the object are still resolved.
func (b *builder) reference(v *Value, tag *Member) {
	property, ok := "", true
	for i := range v.node.members {
		m := &v.node.members[i]
		switch {
		case m.Key == b.tag:
		case m.Key != propertyKey:
			b.faultWithin(m.Key, ReferenceFault, m.offset, "a reference has %q and optionally %q, not %q",
				clip(b.tag), propertyKey, clip(m.Key))
			b.at(m.Key, func() { b.resolve(&m.Value) })
			ok = false
		case m.Value.kind != Text || m.Value.text == "":
			b.faultWithin(m.Key, ReferenceFault, m.Value.offset, "%q must be the name of a property, a non-empty string", propertyKey)
			ok = false
		default:
			property = m.Value.text
		}
	}
	if tag.Value.kind != Text {
		b.faultWithin(tag.Key, ReferenceFault, tag.Value.offset, "%q must be the key of the target, a string, not %s",
			clip(b.tag), describe(tag.Value))
		b.at(tag.Key, func() { b.resolve(&tag.Value) })
		return
	}
	target := b.target(tag.Value.text)
	if !ok {
		return
	}
	n := v.node // can be reused
	*n = node{target: target}
	if target.graph == nil {
		b.forwardRefs = append(b.forwardRefs, forwardRef{len(b.edges.To), target})
	}
	b.edges.add(target.index, tag.Value.offset)
	// Use the offset of the target's key, where errors are reported.
	*v = Value{kind: Reference, offset: tag.Value.offset, text: property, node: n}
	if target.Type == ModuleType {
		b.use(v)
	}
}

// target returns the vertex with the given key, or a placeholder outside the graph if there is none yet.
func (b *builder) target(key string) *Vertex {
	v := b.graph.Vertex(key)
	if v == nil {
		v = b.deletes[key]
	}
	if v == nil {
		v = b.missing[key]
	}
	if v == nil {
		if b.missing == nil {
			b.missing = map[string]*Vertex{}
		}
		v = &Vertex{key: key}
		b.missing[key] = v
	}
	return v
}
