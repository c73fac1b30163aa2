package lumigl

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Check reports dangling references and values that the parser would reject, such as duplicate keys and excessive
// nesting. Any error is of type *[InvalidError].
func (g *Graph) Check() error { return checkBuilt(g) }

// Check performs the checks of [Graph.Check], validates URNs, types, and options, and reports dependency cycles. The
// order of the resources does not matter; writing sorts them. Any error is of type *[InvalidError].
func (s *Snapshot) Check() error { return checkBuilt(s) }

func checkBuilt(doc Document) error {
	_, err := checkedEdges(doc)
	return err
}

// checkedEdges checks doc and returns its edges, or an *InvalidError if doc is invalid.
func checkedEdges(doc Document) (*edges, error) {
	f := &faults{max: defaultMaxFaults}
	c := newChecker(doc, &reporter{faults: f})
	c.built = true
	c.run()
	return &c.edges, f.err()
}

// checker performs whole-graph checks.
type checker struct {
	*reporter
	doc      Document
	graph    *Graph
	snapshot *Snapshot // nil for a general graph
	form     form
	built    bool
	plain    bool // references are not allowed
	edges    edges
	near     map[string]string // suggestions by unknown key, "" for none
	// origins maps each type to the prefix of its latest valid URN, as returned by splitName.
	origins map[tokens.Type]string
	// deletes maps each URN to its first pending delete. It is built lazily.
	deletes map[string]*Vertex
}

func newChecker(doc Document, r *reporter) *checker {
	snapshot, _ := doc.(*Snapshot)
	return &checker{reporter: r, doc: doc, graph: doc.Base(), snapshot: snapshot, form: doc.form()}
}

// known checks a parsed graph with resolved references.
func (c *checker) known(e edges) {
	c.edges = e
	if c.snapshot != nil {
		c.pending()
		c.order()
	}
}

func (c *checker) run() {
	if c.built {
		c.top()
	}
	c.path = append(c.path, step{key: c.form.section, index: -1})
	c.edges.grow(c.graph.Len())
	for _, v := range c.graph.vertices {
		c.vertex(v)
		c.edges.End()
	}
	c.known(c.edges)
}

// top checks the top-level fields of a built graph.
func (c *checker) top() {
	if c.graph.Tag == propertyKey {
		c.fault(TagFault, 0, "the tag cannot be %q, which is reserved in references", propertyKey)
	}
	c.utf8(c.graph.Tag)
	all := Value{kind: Object, node: &node{members: c.graph.Fields}}
	c.data(&all, defaultMaxDepth)
	for _, m := range c.graph.Fields {
		if c.form.reserved(m.Key) {
			c.fault(FormFault, 0, "the top-level field %q is reserved", clip(m.Key))
		}
	}
	if c.snapshot != nil {
		c.utf8(c.snapshot.Package)
		c.utf8(c.snapshot.Lineage)
		c.bag(&c.snapshot.Args, "args", defaultMaxDepth-1)
	}
}

// data checks a value that must not contain references.
func (c *checker) data(v *Value, depth int) {
	c.plain = true
	c.value(v, nil, depth)
	c.plain = false
}

// bag reports v if it is not an object, and any references in it. An absent v is valid.
func (c *checker) bag(v *Value, key string, depth int) {
	c.path = append(c.path, step{key: key, index: -1})
	c.object(v)
	c.data(v, depth)
	c.path = c.path[:len(c.path)-1]
}

func (c *checker) object(v *Value) {
	if v.kind != Object && v.kind != Absent {
		c.fault(ShapeFault, 0, "must be an object, not %s", v.kind)
	}
}

// vertex checks a vertex of the graph and records its references.
func (c *checker) vertex(v *Vertex) {
	c.path = append(c.path, step{key: v.key, index: -1})
	switch {
	case c.snapshot == nil && c.built && (v.Type != "" || v.ID != "" || v.Options.Exists() || v.Source != "" || v.Extensions.Exists()):
		c.fault(ShapeFault, 0, "a vertex of a general graph has only properties, no type, id, options, source or extensions")
	case c.snapshot != nil && c.built: // Parsed resources were checked when they were added.
		c.identity(v)
	}
	depth := defaultMaxDepth - 2 // for the levels above a vertex
	if c.snapshot != nil {
		depth--
		c.options(v, v, depth)
		c.path = append(c.path, step{key: c.form.bag, index: -1})
	}
	c.properties(v, v, depth)
	c.path = c.path[:1]
}

func (c *checker) options(r, from *Vertex, depth int) {
	if r.Options.Exists() {
		c.at("options", func() {
			c.value(&r.Options, from, depth)
			if c.built {
				c.reporter.options(&r.Options, "")
			}
		})
		if c.built {
			c.reading(r)
		}
	}
	if c.built && r.Source != "" {
		c.utf8(r.Source)
		c.source(r.Source, 0)
	}
}

// properties checks a vertex's properties and, if the graph was built rather than parsed, its extensions.
func (c *checker) properties(v, from *Vertex, depth int) {
	if c.built {
		c.utf8(v.key)
		c.utf8(v.ID)
		c.object(&v.Properties)
	}
	c.value(&v.Properties, from, depth)
	if c.built && c.snapshot != nil {
		if v.Type == ModuleType {
			c.module(&v.Properties, 0)
		}
		c.path = c.path[:len(c.path)-1]
		c.bag(&v.Extensions, "extensions", depth)
	}
}

func (c *checker) utf8(s string) {
	if !utf8.ValidString(s) {
		c.fault(UTF8Fault, 0, "%q is not UTF-8", clip(s))
	}
}

func (c *checker) identity(r *Vertex) {
	if origin := c.origins[r.Type]; origin != "" {
		if name, ok := strings.CutPrefix(r.key, origin); ok && urn.CheckName(name) == nil {
			return
		}
	}
	parts, err := r.URN().Parts()
	if _, isByID := r.URN().ID(); isByID {
		err = &urn.SyntaxError{URN: r.key, Problem: "it is reserved for references by id"}
	}
	if err == nil {
		if c.origins == nil {
			c.origins = map[tokens.Type]string{}
		}
		c.origins[parts.Type] = strings.TrimSuffix(r.key, parts.Name)
	}
	switch {
	case err != nil:
		c.fault(URNFault, r.offset, "invalid URN: %s", urnProblem(err))
	case r.Type == "" && !c.built:
		// A missing or invalid type has already been reported.
	case r.Type != parts.Type:
		c.path = append(c.path, step{key: "type", index: -1})
		c.fault(TypeFault, r.typeOffset, "type %q differs from the type %q in the URN", clip(string(r.Type)), clip(string(parts.Type)))
		c.path = c.path[:len(c.path)-1]
	}
}

// splitName splits a URN into its prefix, which ends with the third "::", and its name. For a malformed URN, it returns
// u and "".
func splitName(u string) (origin, name string) {
	end := 0
	for range 3 {
		n := strings.Index(u[end:], "::")
		if n < 0 {
			return u, ""
		}
		end += n + len("::")
	}
	return u[:end], u[end:]
}

func urnProblem(err error) string {
	var syntax *urn.SyntaxError
	if errors.As(err, &syntax) {
		return syntax.Problem
	}
	return err.Error()
}

// value checks the references in a value. from is the vertex that contains it, or nil for pending resources.
func (c *checker) value(v *Value, from *Vertex, depth int) {
	switch v.kind {
	case List:
		if !c.deep(v, depth) {
			return
		}
		c.path = append(c.path, step{})
		for i := range v.node.elements {
			c.path[len(c.path)-1].index = i
			c.value(&v.node.elements[i], from, depth-1)
		}
		c.path = c.path[:len(c.path)-1]
	case Object:
		if !c.deep(v, depth) {
			return
		}
		if c.built {
			c.keys(v)
		}
		c.path = append(c.path, step{index: -1})
		for i := range v.node.members {
			c.path[len(c.path)-1].key = v.node.members[i].Key
			c.value(&v.node.members[i].Value, from, depth-1)
		}
		c.path = c.path[:len(c.path)-1]
		if c.built && c.snapshot != nil && !c.plain && v.IsExpression() {
			c.expression(v)
		}
	case Reference:
		if c.deep(v, depth) {
			c.reference(v, from)
		}
	case Text:
		if c.built {
			c.utf8(v.text)
		}
	}
}

func (c *checker) deep(v *Value, depth int) bool {
	if !c.built || depth > 0 {
		return true
	}
	c.fault(DepthFault, v.offset, tooDeep, defaultMaxDepth)
	return false
}

func (c *checker) keys(v *Value) {
	for i := range v.node.members {
		c.utf8(v.node.members[i].Key)
	}
	duplicates(v.node.members, func(_, again Member) {
		c.fault(DuplicateKeyFault, 0, "duplicate key %q", clip(again.Key))
	})
}

func (c *checker) reference(v *Value, from *Vertex) {
	target := v.node.target
	if c.built {
		c.utf8(v.text)
	}
	switch {
	case c.plain:
		c.fault(ReferenceFault, 0, "references are not allowed here")
	case target.graph == c.graph:
		if from != nil {
			c.edges.add(target.index, v.offset)
		}
		if c.built && target.Type == ModuleType {
			c.use(v)
		}
	case from == nil && c.isPendingDelete(target):
	default:
		c.dangling(target.key, v.offset, from)
	}
}

// isPendingDelete reports whether target is the pending delete that its URN will resolve to when parsed: the first one
// with that URN, provided the graph itself does not contain the URN.
func (c *checker) isPendingDelete(target *Vertex) bool {
	if c.deletes == nil {
		c.deletes = c.snapshot.Pending.deletesByKey()
	}
	return c.graph.Vertex(target.key) == nil && c.deletes[target.key] == target
}

func (c *checker) dangling(key string, offset uint32, from *Vertex) {
	if c.faults.full() {
		return
	}
	message := fmt.Sprintf("no %s %q", c.form.noun, clip(key))
	near := ""
	if c.graph.Vertex(key) != nil || from == nil && c.deletes[key] != nil {
		message = fmt.Sprintf("the reference targets a %s %q that is not the one in this graph", c.form.noun, clip(key))
	} else if near = c.nearest(key, from); near != "" {
		message += fmt.Sprintf("; did you mean %q?", clip(near))
	}
	c.path = append(c.path, step{key: c.graph.tag(), index: -1})
	c.faults.add(Fault{
		Code: DanglingFault, Offset: int(offset), End: wholeToken, Pointer: c.path.pointer(), Message: message, Nearest: near,
	})
	c.path = c.path[:len(c.path)-1]
}

// pending checks the pending resources, which are outside the graph.
func (c *checker) pending() {
	look := func(r *Vertex, list string, i int) {
		if !c.built {
			i = int(r.index) // The list may contain invalid elements.
		}
		c.path = append(c.path[:0], step{key: "pending", index: -1}, step{key: list, index: -1}, step{index: i})
		if r == nil {
			c.fault(ShapeFault, 0, "missing resource")
			return
		}
		if r.key != "" || c.built {
			c.identity(r)
		}
		c.options(r, nil, defaultMaxDepth-4)
		c.path = append(c.path, step{key: c.form.bag, index: -1})
		c.properties(r, nil, defaultMaxDepth-4)
	}
	for i, r := range c.snapshot.Pending.Deletes {
		look(r, "deletes", i)
	}
	for i, o := range c.snapshot.Pending.Operations {
		look(o.Resource, "operations", i)
		if c.built && !o.Kind.isValid() {
			c.fault(ShapeFault, 0, `"operation" must be "create", "update" or "delete"`)
		}
	}
}

// order reports cycles and, in a parsed file, resources that are defined after their first reference.
func (c *checker) order() {
	var component []int32 // not needed for canonical files
	seen := map[int32]bool{}
	for from := range int32(c.edges.Len()) {
		first := int(c.edges.Start[from])
		for i, to := range c.edges.Out(from) {
			if to < from {
				continue
			}
			if component == nil {
				component = c.edges.Components()
			}
			switch in := component[from]; {
			case in == component[to]:
				if !seen[in] {
					seen[in] = true
					c.circle(from, component)
				}
			case !c.built:
				key := c.graph.vertices[from].key
				c.path = append(c.path[:0], step{key: c.form.section, index: -1}, step{key: key, index: -1})
				c.fault(OrderFault, c.edges.offsets[first+i], "%q is defined further down; move it before the first reference to it",
					clip(c.graph.vertices[to].key))
			}
		}
	}
}

// circle reports a dependency cycle through a resource.
func (c *checker) circle(from int32, component []int32) {
	if c.faults.full() {
		return
	}
	circle := c.edges.Cycle(from, component)
	keys := make([]string, len(circle))
	var notes []Note
	for i, edge := range circle {
		keys[i] = c.graph.vertices[from].key
		from = c.edges.To[edge]
		if !c.built && 0 < i && i < mostInCircle {
			notes = append(notes, Note{Offset: int(c.edges.offsets[edge]), Message: "a reference in the cycle"})
		}
	}
	f := circleFault("resources", keys)
	f.Offset, f.End = int(c.edges.offsets[circle[0]]), wholeToken
	f.Pointer = path{{key: c.form.section, index: -1}, {key: keys[0], index: -1}}.pointer()
	f.Notes = notes
	c.faults.add(f)
}
