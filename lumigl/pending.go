package lumigl

import "maps"

func (b *builder) readPending(pending *Pending, value Value) {
	for _, m := range value.members() {
		b.at(m.Key, func() {
			switch m.Key {
			case "deletes":
				b.each(m.Value, func(v Value) {
					r := b.pendingResource(v, false)
					pending.Deletes = append(pending.Deletes, r)
				})
			case "operations":
				b.each(m.Value, func(v Value) {
					kind := v.Key("operation")
					o := Operation{Kind: kind.text, Resource: b.pendingResource(v, true)}
					if !isOperation(o.Kind) || kind.kind != Text {
						b.fault(ShapeFault, v.offset, `"operation" is "create", "update" or "delete"`)
					}
					pending.Operations = append(pending.Operations, o)
				})
			default:
				b.fault(ShapeFault, m.offset, `"pending" has "deletes" and "operations", and no %q`, clip(m.Key))
			}
		})
	}
}

func isOperation(kind string) bool { return kind == "create" || kind == "update" || kind == "delete" }

// pendingResource reads a resource that has its URN inside.
func (b *builder) pendingResource(v Value, operation bool) *Vertex {
	r := b.memory.vertex()
	r.offset = v.offset
	var rest []Member
	for _, m := range v.members() {
		switch {
		case m.Key == "urn":
			b.at(m.Key, func() { r.key = b.text(m.Value, "") })
		case m.Key == "operation" && operation:
		default:
			rest = append(rest, m)
		}
	}
	b.resource(r, Value{kind: Object, offset: v.offset, node: &node{members: rest}})
	if _, ok := member(v, "urn"); !ok {
		b.fault(ShapeFault, v.offset, `the resource has no "urn"`)
	}
	return r
}

// resolvePending finds the references in pending resources. They lead to resources of the graph; one that is about to be
// deleted may also refer to another such.
func (b *builder) resolvePending(pending *Pending) {
	known := b.graph.byKey
	if len(pending.Deletes) > 0 {
		known = maps.Clone(known)
		if known == nil {
			known = map[string]*Vertex{}
		}
		for _, r := range pending.Deletes {
			if _, ok := known[r.key]; !ok {
				known[r.key] = r
			}
		}
	}
	b.known = known
	b.at("pending", func() {
		b.at("deletes", func() {
			for i, r := range pending.Deletes {
				b.within(i, func() { b.at(snapshotForm.bag, func() { b.bag(&r.Properties) }) })
			}
		})
		b.at("operations", func() {
			for i, o := range pending.Operations {
				b.within(i, func() { b.at(snapshotForm.bag, func() { b.bag(&o.Resource.Properties) }) })
			}
		})
	})
}
