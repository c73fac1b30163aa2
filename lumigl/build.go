package lumigl

import (
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Parser reads files. The zero Parser has limits that no honest file meets.
type Parser struct {
	// MaxSize is the size of the largest file that is read, in bytes: 1 GiB if it is 0, and never over 4 GiB.
	MaxSize int64
	// MaxDepth is how deep lists and objects may be nested, 1,000 if it is 0.
	MaxDepth int
	// MaxFaults is how many faults are reported, 100 if it is 0.
	MaxFaults int
}

const (
	defaultMaxSize   = 1 << 30
	limitOfSize      = 1<<32 - 1
	defaultMaxDepth  = 1000
	defaultMaxFaults = 100
)

// Parse reads a file of either form. The error is an *[InvalidError].
func Parse(src string) (Document, error) { return Parser{}.Parse(src) }

// ParseGraph reads a general graph. The error is an *[InvalidError].
func ParseGraph(src string) (*Graph, error) { return ofForm[*Graph](Parse(src)) }

// ParseSnapshot reads a snapshot. The error is an *[InvalidError].
func ParseSnapshot(src string) (*Snapshot, error) { return ofForm[*Snapshot](Parse(src)) }

// Read reads a file of either form, which is no longer than need be in memory. The error is an *[InvalidError], or that
// of the reader.
func Read(r io.Reader) (Document, error) { return Parser{}.Read(r) }

func ofForm[D Document](d Document, err error) (D, error) {
	var wanted D
	if err != nil {
		return wanted, err
	}
	wanted, ok := d.(D)
	if !ok {
		message := fmt.Sprintf("expected %q, found %q: it is the other form of files", wanted.form().section, d.form().section)
		return wanted, &InvalidError{Faults: []Fault{{Code: FormFault, Line: 1, Column: 1, Message: message}}}
	}
	return wanted, nil
}

// Read reads a file of either form. The error is an *[InvalidError], or that of the reader.
func (p Parser) Read(r io.Reader) (Document, error) {
	var b strings.Builder
	b.Grow(int(min(sizeOf(r), p.maxSize()) + 1))
	if _, err := io.Copy(&b, io.LimitReader(r, p.maxSize()+1)); err != nil {
		return nil, err
	}
	return p.Parse(b.String())
}

// sizeOf is how much there is to read, 0 if nobody knows.
func sizeOf(r io.Reader) int64 {
	switch r := r.(type) {
	case interface{ Len() int }:
		return int64(r.Len())
	case fs.File:
		if info, err := r.Stat(); err == nil && info.Mode().IsRegular() {
			return info.Size()
		}
	}
	return 0
}

// Parse reads a file of either form. The error is an *[InvalidError].
func (p Parser) Parse(src string) (Document, error) {
	doc, err := p.Salvage(src)
	if err != nil {
		return nil, err
	}
	return doc, nil
}

// Salvage reads a file as [Parser.Parse] does, but returns the document along with the error as far as there is one,
// for tools that mend it. References to what is not there lead to vertices that are in no graph. The document is nil if
// the text has not even an outline.
func (p Parser) Salvage(src string) (Document, error) {
	doc, invalid := p.salvage(src)
	if invalid == nil {
		return doc, nil
	}
	if conflicts := conflictsIn(src); conflicts != nil {
		return nil, p.conflicted(src, conflicts, func(side string) *InvalidError {
			_, invalid := p.salvage(side)
			return invalid
		})
	}
	return doc, invalid
}

func (p Parser) salvage(src string) (Document, *InvalidError) {
	f := p.newFaults()
	syntax := p.syntax(src, f)
	if syntax == nil {
		return nil, f.errIn("")
	}
	root := syntax.document()
	if syntax.broken {
		return nil, f.errIn(src)
	}
	b := &builder{faults: f, memory: &syntax.memory, elided: syntax.elided, tag: DefaultTag}
	doc := b.document(root)
	if doc != nil {
		b.check(doc)
	}
	return doc, f.errIn(src)
}

func (p Parser) newFaults() *faults {
	if p.MaxFaults <= 0 {
		return &faults{max: defaultMaxFaults}
	}
	return &faults{max: p.MaxFaults}
}

// syntax returns what reads a text, nil if the text is too large.
func (p Parser) syntax(src string, f *faults) *parser {
	if most := p.maxSize(); int64(len(src)) > most {
		f.add(Fault{Code: SizeFault, Message: fmt.Sprintf("the file is larger than %d bytes", most)})
		return nil
	}
	if p.MaxDepth <= 0 {
		p.MaxDepth = defaultMaxDepth
	}
	return &parser{src: src, faults: f, depth: p.MaxDepth}
}

func (p Parser) maxSize() int64 {
	if p.MaxSize <= 0 {
		return defaultMaxSize
	}
	return min(p.MaxSize, limitOfSize)
}

// builder makes a graph of the values of a file.
type builder struct {
	faults *faults
	memory *slabs
	elided bool
	tag    string
	graph  *Graph
	path   path
	// known are the vertices that may be referred to.
	known map[string]*Vertex
	// missing are vertices that something refers to and that are not there.
	missing map[string]*Vertex
	edges   edges
}

func (b *builder) document(root Value) Document {
	if root.kind != Object {
		if !b.elided {
			b.fault(FormFault, root.offset, "a file holds an object, not %s", root.kind)
		}
		return nil
	}
	vertices, hasVertices := member(root, generalForm.section)
	resources, hasResources := member(root, snapshotForm.section)
	switch {
	case hasVertices && hasResources:
		b.fault(FormFault, resources.offset,
			`there are both "vertices" and "resources": a general graph has only the former, a snapshot only the latter`)
		return nil
	case hasVertices:
		return b.general(root, vertices.Value)
	case hasResources:
		return b.snapshot(root, resources.Value)
	}
	if !b.elided {
		b.fault(FormFault, root.offset, `there is neither "vertices", for a general graph, nor "resources", for a snapshot`)
	}
	return nil
}

func member(v Value, key string) (Member, bool) {
	for _, m := range v.members() {
		if m.Key == key {
			return m, true
		}
	}
	return Member{}, false
}

// referenceTag reads the key that marks references.
func (b *builder) referenceTag(v Value) {
	b.at("ref", func() {
		switch tag, ok := v.Text(); {
		case !ok:
			if v.Exists() {
				b.fault(TagFault, v.offset, `"ref" names the key that marks references, a string, not %s`, describe(v))
			}
		case tag == "":
			b.fault(TagFault, v.offset, `"ref" names the key that marks references; it cannot be empty`)
		case tag == propertyKey:
			b.fault(TagFault, v.offset, `"ref" cannot be %q, which has a meaning in references already`, tag)
		default:
			b.tag = tag
		}
	})
}

func (b *builder) general(root, section Value) Document {
	g := &Graph{}
	b.graph = g
	for _, m := range root.members() {
		switch m.Key {
		case "ref":
			b.referenceTag(m.Value)
		case generalForm.section:
			g.place = len(g.Fields)
		default:
			g.Fields = append(g.Fields, m)
		}
	}
	b.section(generalForm.section, section, func(v *Vertex, value Value) { v.Properties = value })
	b.resolveAll(generalForm)
	return g
}

func (b *builder) snapshot(root, section Value) Document {
	s := &Snapshot{}
	b.graph = &s.Graph
	var pending Value
	for _, m := range root.members() {
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
				pending = b.object(m.Value)
			default:
				s.Fields = append(s.Fields, m)
			}
		})
		if m.Key == "ref" {
			b.referenceTag(m.Value)
		}
	}
	s.place = len(s.Fields)
	b.section(snapshotForm.section, section, b.resource)
	b.at("pending", func() { b.readPending(&s.Pending, pending) })
	b.resolveAll(snapshotForm)
	b.resolvePending(&s.Pending)
	return s
}

// section reads the vertices.
func (b *builder) section(key string, section Value, fill func(*Vertex, Value)) {
	b.at(key, func() {
		if section.kind != Object {
			b.shape(section, "an object with a member for each of them")
			return
		}
		members := section.members()
		b.graph.vertices = make([]*Vertex, 0, len(members))
		b.graph.byKey = make(map[string]*Vertex, len(members))
		for i := range members {
			b.vertex(&members[i], fill)
		}
	})
}

func (b *builder) vertex(m *Member, fill func(*Vertex, Value)) {
	v := b.memory.vertex()
	v.key, v.offset = m.Key, m.offset
	b.graph.insert(v) // What is there twice has been reported, and the first counts.
	b.path = append(b.path, step{key: m.Key, index: -1})
	if m.Value.kind == Object {
		fill(v, m.Value)
	} else {
		b.shape(m.Value, "an object")
	}
	b.path = b.path[:len(b.path)-1]
}

// resource reads what a resource has.
func (b *builder) resource(r *Vertex, value Value) {
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
		case "properties":
			hasProperties = true
			b.at(m.Key, func() { r.Properties = b.object(m.Value) })
		case "extensions":
			b.at(m.Key, func() { r.Extensions = b.object(m.Value) })
		default:
			b.faultWithin(m.Key, ShapeFault, m.offset,
				`a resource has "type", "id", "properties" and "extensions", and no %q`, clip(m.Key))
		}
	}
	if b.elided {
		return
	}
	if !hasType {
		b.fault(ShapeFault, value.offset, `the resource has no "type"`)
	}
	if !hasProperties {
		b.fault(ShapeFault, value.offset, `the resource has no "properties"; those may be empty, {}`)
	}
}

// each reads the objects of a list.
func (b *builder) each(list Value, read func(Value)) {
	if list.kind != List {
		b.shape(list, "a list")
		return
	}
	for i, v := range list.node.elements {
		b.within(i, func() {
			if v := b.object(v); v.Exists() {
				read(v)
			}
		})
	}
}

// leaveOut is what to do instead of having an empty string.
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

// shape says what kind of value stands at the end of the path, and what should. If nothing stands there, it has been
// said.
func (b *builder) shape(v Value, wanted string) {
	switch last := b.path[len(b.path)-1]; {
	case v.kind == Absent:
	case last.index >= 0:
		b.fault(ShapeFault, v.offset, "an element of this list has to be %s, not %s", wanted, describe(v))
	default:
		b.fault(ShapeFault, v.offset, "%q has to be %s, not %s", clip(last.key), wanted, describe(v))
	}
}

func (b *builder) serial(v Value) uint64 {
	n, err := strconv.ParseUint(v.text, 10, 64)
	if v.kind != Number || err != nil {
		b.shape(v, "a whole number from 0 to 18446744073709551615")
	}
	return n
}

// describe says what a value is, and of short ones what it says.
func describe(v Value) string {
	if v.kind == Number {
		return "the number " + clip(v.text)
	}
	return v.kind.String()
}

// at calls read with a key at the end of the path.
func (b *builder) at(key string, read func()) {
	b.path = append(b.path, step{key: key, index: -1})
	read()
	b.path = b.path[:len(b.path)-1]
}

// within calls read with an index at the end of the path.
func (b *builder) within(i int, read func()) {
	b.path = append(b.path, step{index: i})
	read()
	b.path = b.path[:len(b.path)-1]
}

func (b *builder) fault(code Code, offset uint32, format string, args ...any) {
	if b.faults.full() {
		return
	}
	b.faults.add(Fault{
		Code: code, Offset: int(offset), End: wholeToken, Pointer: b.path.pointer(), Message: fmt.Sprintf(format, args...),
	})
}

func (b *builder) faultWithin(key string, code Code, offset uint32, format string, args ...any) {
	b.at(key, func() { b.fault(code, offset, format, args...) })
}
