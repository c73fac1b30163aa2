package lumigl

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// builder converts parsed values to a graph and checks it.
type builder struct {
	*reporter
	check    *checker
	memory   *slabs
	form     form
	tag      string
	graph    *Graph
	snapshot *Snapshot // nil for a general graph
	// streaming is set if vertices are added to the graph as they are parsed instead of after parsing.
	streaming bool
	// size is the size of the file in bytes. It is only set when streaming.
	size int
	// deletes maps URNs to resources that are pending deletion and can be the target of references.
	deletes map[string]*Vertex
	// missing maps keys to placeholders for referenced vertices that have not been read yet.
	missing map[string]*Vertex
	// edges lists the references read so far. forwardRefs lists the references to targets that have not been read yet.
	edges       edges
	forwardRefs []forwardRef
}

// forwardRef is an edge index and the target of the edge.
type forwardRef struct {
	edge int
	to   *Vertex
}

func newBuilder(f *faults, memory *slabs) *builder {
	return &builder{reporter: &reporter{faults: f}, memory: memory, tag: DefaultTag}
}

// startStreaming reports whether key is the vertex section, whose vertices can then be streamed. The first call creates
// the graph. top contains the top-level members read so far.
func (b *builder) startStreaming(key string, top []Member) bool {
	switch {
	case b.streaming:
		return key == b.form.section
	case key == generalForm.section:
		b.start(generalForm, top)
	case key == snapshotForm.section:
		b.start(snapshotForm, top)
	default:
		return false
	}
	b.streaming = true
	b.path = append(b.path, step{key: key, index: -1})
	return true
}

func (b *builder) start(f form, top []Member) {
	var doc Document = &Graph{}
	if f == snapshotForm {
		b.snapshot = &Snapshot{}
		doc = b.snapshot
	}
	b.form, b.graph = f, doc.Base()
	b.graph.byKey = map[string]int32{}
	b.check = newChecker(doc, b.reporter)
	b.referenceTag(top)
}

// document builds the graph, or completes it after streaming. It returns nil if the file is not an object with a vertex
// section.
func (b *builder) document(root Value) Document {
	b.path = b.path[:0]
	f, section, ok := b.outline(root)
	switch tag := b.tag; {
	case !ok:
		return nil
	case !b.streaming:
		b.start(f, root.members())
	case b.referenceTag(root.members()) != tag:
		return nil // the references were resolved with another tag
	}
	b.at(f.section, func() { b.section(section) })
	for _, a := range b.forwardRefs {
		b.edges.To[a.edge] = a.to.index
	}
	if b.tag != DefaultTag {
		b.graph.Tag = b.tag
	}
	if b.snapshot == nil {
		b.general(root.members())
	} else {
		b.header(root.members())
	}
	if len(b.missing) > 0 {
		b.check.run()
	} else {
		b.check.known(b.edges)
	}
	return b.check.doc
}

// outline returns the form of a file and its vertex section. ok is false if the file has no valid form.
func (b *builder) outline(root Value) (f form, section Value, ok bool) {
	if root.kind != Object {
		b.fault(FormFault, root.offset, "a file must contain an object, not %s", root.kind)
		return form{}, Value{}, false
	}
	vertices, hasVertices := member(root, generalForm.section)
	resources, hasResources := member(root, snapshotForm.section)
	switch {
	case hasVertices && hasResources:
		b.fault(FormFault, resources.offset,
			`there are both "vertices" and "resources": a general graph has only the former, a snapshot only the latter`)
	case hasVertices:
		return generalForm, vertices.Value, true
	case hasResources:
		return snapshotForm, resources.Value, true
	default:
		b.neither(root)
	}
	return form{}, Value{}, false
}

// neither reports a missing vertex section, at the key that probably misspells its name if there is one.
func (b *builder) neither(root Value) {
	const message = `there is neither "vertices", for a general graph, nor "resources", for a snapshot`
	for _, m := range root.members() {
		near := suggest.Name(m.Key, []string{generalForm.section, snapshotForm.section})
		if strings.HasPrefix(m.Key, "vert") {
			near = generalForm.section // whatever the plural
		}
		if near != "" {
			b.at(m.Key, func() { b.meant(FormFault, m.offset, near, message) })
			return
		}
	}
	b.fault(FormFault, root.offset, message)
}

// referenceTag returns the key that marks references, as set by the member "ref" of top.
func (b *builder) referenceTag(top []Member) string {
	for _, m := range top {
		if m.Key == "ref" {
			b.at(m.Key, func() { b.tagOf(m.Value) })
		}
	}
	return b.tag
}

func (b *builder) tagOf(v Value) {
	switch tag, ok := v.Text(); {
	case !ok:
		b.fault(TagFault, v.offset, `"ref", the key that marks references, must be a string, not %s`, describe(v))
	case tag == "":
		b.fault(TagFault, v.offset, `"ref", the key that marks references, must not be empty`)
	case tag == propertyKey:
		b.fault(TagFault, v.offset, `"ref" cannot be %q, which is reserved in references`, tag)
	default:
		b.tag = tag
	}
}

// general adds the remaining top-level fields of a general graph.
func (b *builder) general(top []Member) {
	g := b.graph
	for _, m := range top {
		switch m.Key {
		case "ref":
		case generalForm.section:
			g.place = len(g.Fields)
		default:
			g.Fields = append(g.Fields, m)
		}
	}
}

// header sets the remaining top-level fields of a snapshot.
func (b *builder) header(top []Member) {
	s := b.snapshot
	for _, m := range top {
		b.at(m.Key, func() {
			switch m.Key {
			case "ref", snapshotForm.section:
			case "package":
				s.Package = b.text(m.Value, leaveOut)
			case "lineage":
				s.Lineage = b.text(m.Value, leaveOut)
			case "args":
				s.Args = b.object(m.Value)
			case "serial":
				s.Serial = b.serial(m.Value)
			case "pending":
				b.pending(b.object(m.Value))
			default:
				s.Fields = append(s.Fields, m)
			}
		})
	}
}

// section adds the vertices of the vertex section.
func (b *builder) section(v Value) {
	if v.kind != Object {
		b.shape(v, "an object with a member for each of them")
		return
	}
	for i := range v.node.members {
		b.vertex(&v.node.members[i])
	}
}

func (b *builder) vertex(m *Member) {
	v := b.missing[m.Key]
	if v == nil {
		v = b.memory.vertex()
		v.key = m.Key
	}
	v.offset = m.offset
	if !b.graph.insert(v) && b.streaming { // Otherwise it has been reported. The first one counts.
		b.fault(DuplicateKeyFault, m.offset, "duplicate key %q", clip(m.Key))
	}
	delete(b.missing, m.Key)
	if b.graph.Len() == sample && b.streaming {
		b.reserve()
	}
	b.path = append(b.path, step{key: m.Key, index: -1})
	switch {
	case m.Value.kind != Object:
		b.shape(m.Value, "an object")
	case b.snapshot == nil:
		v.Properties = m.Value
	default:
		b.resource(v, m.Value, resourceKeys)
	}
	if v.graph != nil {
		b.inGraph(v)
	}
	b.path = b.path[:1]
}

// sample is the number of vertices used to estimate the total.
const sample = 64

// reserve allocates space for the remaining vertices, whose number it estimates from the size of the file.
func (b *builder) reserve() {
	first, last := b.graph.vertices[0].offset, b.graph.vertices[sample-1].offset
	each := max(int(last-first)/(sample-1), 64)
	n := (b.size - int(first)) / each
	b.graph.vertices = slices.Grow(b.graph.vertices, n)
	b.edges.grow(n)
	byKey := make(map[string]int32, n)
	maps.Copy(byKey, b.graph.byKey)
	b.graph.byKey = byKey
}

// inGraph resolves or checks the contents of a vertex that has been added to the graph.
func (b *builder) inGraph(v *Vertex) {
	if b.snapshot == nil {
		b.bag(&v.Properties)
	} else {
		b.check.identity(v)
		b.contents(v)
	}
	b.edges.End()
}

// contents checks a resource whose references can be resolved.
func (b *builder) contents(r *Vertex) {
	if r.Options.Exists() {
		b.at("options", func() {
			before, reported := len(b.faults.found), ""
			for i := range r.Options.members() {
				if m := &r.Options.node.members[i]; m.Key == dependsOn || m.Key == readOption {
					b.at(m.Key, func() { b.resolve(&m.Value) })
					if len(b.faults.found) > before && reported == "" {
						reported = m.Key
					}
				}
			}
			b.options(&r.Options, reported)
		})
		r.Options = withoutDefaults(r.Options)
		b.reading(r)
	}
	b.at(b.form.bag, func() {
		b.bag(&r.Properties)
		if r.Type == ModuleType {
			b.module(&r.Properties, r.offset)
		}
	})
}

var resourceKeys = []string{"type", "id", "options", "source", "properties", "extensions"}

// resource reads the fields of a resource. It returns the suggestions for its unknown keys.
func (b *builder) resource(r *Vertex, value Value, keys []string) (meant []string) {
	hasType, hasProperties := false, false
	for i := range value.node.members {
		m := &value.node.members[i]
		switch m.Key {
		case "type":
			hasType = true
			r.typeOffset = m.Value.offset
			b.at(m.Key, func() { r.Type = tokens.Type(b.text(m.Value, "")) })
		case "id":
			b.at(m.Key, func() { r.ID = b.text(m.Value, leaveOut) })
		case "options":
			b.at(m.Key, func() { r.Options = b.object(m.Value) })
		case "source":
			b.at(m.Key, func() { r.Source = b.text(m.Value, leaveOut) })
			if r.Source != "" {
				b.source(r.Source, m.Value.offset)
			}
		case "properties":
			hasProperties = true
			b.at(m.Key, func() { r.Properties = b.object(m.Value) })
		case "extensions":
			b.at(m.Key, func() { r.Extensions = b.object(m.Value) })
		default:
			near := unusedKey(m.Key, value, keys)
			meant = append(meant, near)
			b.at(m.Key, func() {
				b.meant(ShapeFault, m.offset, near,
					fmt.Sprintf(`a resource has "type", "id", "options", "source", "properties" and "extensions", and no %q`, clip(m.Key)))
			})
		}
	}
	if !hasType && !slices.Contains(meant, "type") {
		b.fault(ShapeFault, value.offset, `missing "type"`)
	}
	if !hasProperties && !slices.Contains(meant, "properties") {
		b.fault(ShapeFault, value.offset, `missing "properties"; write {} if there are none`)
	}
	return meant
}

// each calls read for each object in a list and reports elements of other kinds.
func (b *builder) each(list Value, read func(int, Value)) {
	if list.kind != List {
		b.shape(list, "a list")
		return
	}
	for i, v := range list.node.elements {
		b.within(i, func() {
			if v := b.object(v); v.Exists() {
				read(i, v)
			}
		})
	}
}

// leaveOut is appended to messages about an empty string.
const leaveOut = "; leave it out if there is none"

func (b *builder) text(v Value, instead string) string {
	switch {
	case v.kind != Text:
		b.shape(v, "a string")
		return ""
	case v.text == "":
		b.fault(ShapeFault, v.offset, "%q cannot be empty%s", b.path[len(b.path)-1].key, instead)
	}
	return v.text
}

func (b *builder) object(v Value) Value {
	if v.kind != Object {
		b.shape(v, "an object")
		return Value{}
	}
	return v
}

// shape reports that the value at the current path is not of the wanted kind.
func (b *builder) shape(v Value, wanted string) {
	switch last := b.path[len(b.path)-1]; {
	case last.index >= 0:
		b.fault(ShapeFault, v.offset, "list elements must be %s, not %s", wanted, describe(v))
	default:
		b.fault(ShapeFault, v.offset, "%q must be %s, not %s", clip(last.key), wanted, describe(v))
	}
}

func (b *builder) serial(v Value) uint64 {
	var n uint64
	err := strconv.ErrSyntax
	if v.kind == Number {
		n, err = strconv.ParseUint(canonicalNumber(v.text), 10, 64)
	}
	if err != nil {
		b.shape(v, "a whole number from 0 to 18446744073709551615")
	}
	return n
}
