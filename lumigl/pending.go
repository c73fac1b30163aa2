package lumigl

// pending reads the resources that are in no graph, and finds what they refer to.
func (b *builder) pending(value Value) {
	pending := &b.snapshot.Pending
	for _, m := range value.members() {
		b.at(m.Key, func() {
			switch m.Key {
			case "deletes":
				b.each(m.Value, func(i int, v Value) {
					r := b.pendingResource(i, v, false)
					pending.Deletes = append(pending.Deletes, r)
				})
			case "operations":
				b.each(m.Value, func(i int, v Value) {
					o := Operation{Kind: OperationKind(v.Get("operation").text), Resource: b.pendingResource(i, v, true)}
					if !o.Kind.isValid() {
						b.fault(ShapeFault, v.offset, `"operation" is "create", "update" or "delete"`)
					}
					pending.Operations = append(pending.Operations, o)
				})
			default:
				b.fault(ShapeFault, m.offset, `"pending" has "deletes" and "operations", and no %q`, clip(m.Key))
			}
		})
	}
	b.resolvePending(pending)
}

// pendingResource reads a resource that has its URN inside.
func (b *builder) pendingResource(place int, v Value, operation bool) *Vertex {
	r := b.memory.vertex()
	r.index, r.offset = int32(place), v.offset
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
	b.deletes = make(map[string]*Vertex, len(pending.Deletes))
	for _, r := range pending.Deletes {
		if b.deletes[r.key] == nil {
			b.deletes[r.key] = r
		}
	}
	edges := b.edges
	b.at("deletes", func() {
		for _, r := range pending.Deletes {
			b.within(int(r.index), func() { b.at(b.form.bag, func() { b.bag(&r.Properties) }) })
		}
	})
	b.at("operations", func() {
		for _, o := range pending.Operations {
			b.within(int(o.Resource.index), func() { b.at(b.form.bag, func() { b.bag(&o.Resource.Properties) }) })
		}
	})
	b.edges = edges // References from outside of the graph do not count.
}
