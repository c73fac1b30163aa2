package lumigl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/internal/suggest"
)

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
					pending.Operations = append(pending.Operations, o)
				})
			default:
				near := unusedKey(m.Key, value, []string{"deletes", "operations"})
				b.meant(ShapeFault, m.offset, near, fmt.Sprintf(`unknown key %q of "pending"; it has "deletes" and "operations"`, clip(m.Key)))
			}
		})
	}
	b.resolvePending(pending)
}

// operation reads the kind of a pending operation from its field.
func (b *builder) operation(v Value) {
	m, ok := member(v, "operation")
	kind := OperationKind(m.Value.text)
	switch {
	case m.Value.kind == Text && kind.isValid():
	case !ok:
		b.fault(ShapeFault, v.offset, `missing "operation", which must be "create", "update" or "delete"`)
	default:
		is := describe(m.Value)
		if m.Value.kind == Text {
			is = strconv.Quote(clip(m.Value.text))
		}
		b.at(m.Key, func() {
			b.meant(ShapeFault, m.Value.offset, string(kind.nearest()), `"operation" must be "create", "update" or "delete", not `+is)
		})
	}
}

// nearest returns the operation kind that k is probably a misspelling or an inflection of, such as "created", or "".
func (k OperationKind) nearest() OperationKind {
	kinds := []OperationKind{CreateOperation, UpdateOperation, DeleteOperation}
	for _, kind := range kinds {
		if strings.HasPrefix(string(k), string(kind[:len(kind)-1])) {
			return kind
		}
	}
	return suggest.Name(string(k), kinds)
}

// pendingResource reads a pending resource, whose URN is a field instead of its key.
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
	keys := slices.Clone(resourceKeys)
	_, hasURN := member(v, "urn")
	if !hasURN {
		keys = append(keys, "urn")
	}
	_, hasOperation := member(v, "operation")
	if operation && !hasOperation {
		keys = append(keys, "operation")
	}
	meant := b.resource(r, Value{kind: Object, offset: v.offset, node: &node{members: rest}}, keys)
	if !hasURN && !slices.Contains(meant, "urn") {
		b.fault(ShapeFault, v.offset, `missing "urn"`)
	}
	if operation && !slices.Contains(meant, "operation") {
		b.operation(v)
	}
	return r
}

// resolvePending resolves references in pending resources, to resources of the graph or to pending deletes.
func (b *builder) resolvePending(pending *Pending) {
	b.deletes = pending.deletesByKey()
	edges := b.edges
	resolve := func(list string, r *Vertex) {
		b.at(list, func() { b.within(int(r.index), func() { b.contents(r) }) })
	}
	for _, r := range pending.Deletes {
		resolve("deletes", r)
	}
	for _, o := range pending.Operations {
		resolve("operations", o.Resource)
	}
	b.edges = edges // References from outside the graph are not edges.
}
