package lumigl

import (
	"io"
	"slices"
	"strconv"
	"strings"
)

// Append appends a document's canonical text to dst. The order of the resources in a snapshot does not matter; they are
// written in canonical order. If the document is invalid, Append returns the *[InvalidError] of its Check method.
func Append(dst []byte, doc Document) ([]byte, error) {
	w := writer{buf: dst}
	if err := w.document(doc); err != nil {
		return nil, err
	}
	return w.buf, nil
}

// Write writes a document's canonical text. It writes nothing if the document is invalid, in which case it returns the
// *[InvalidError] of its Check method.
func Write(out io.Writer, doc Document) error {
	w := writer{out: out, buf: make([]byte, 0, flushAt+flushAt/4)}
	if err := w.document(doc); err != nil {
		return err
	}
	w.flush()
	return w.err
}

const flushAt = 64 << 10

type writer struct {
	buf    []byte
	out    io.Writer // nil to keep all output in the buffer
	err    error
	tag    string
	sort   bool     // whether to sort the keys of objects
	sorted []Member // stack of the sorted members of the objects being written
	indent int
}

func (w *writer) document(doc Document) error {
	g := doc.Base()
	vertices := g.vertices
	edges, err := checkedEdges(doc)
	if err != nil {
		return err
	}
	w.tag = TagOf(doc)
	s, isSnapshot := doc.(*Snapshot)
	if isSnapshot {
		w.sort = true
		vertices = canonical(vertices, edges)
	}
	top := section{writer: w}
	top.begin()
	if w.tag != DefaultTag {
		top.member("ref", TextOf(w.tag))
	}
	if isSnapshot {
		w.header(&top, s)
	}
	place := min(g.place, len(g.Fields))
	fields := g.Fields
	if isSnapshot {
		fields, place = sorted(fields), len(fields)
	}
	for _, m := range fields[:place] {
		top.member(m.Key, m.Value)
	}
	top.key(doc.form().section)
	w.vertices(vertices, isSnapshot)
	for _, m := range fields[place:] {
		top.member(m.Key, m.Value)
	}
	if isSnapshot && (len(s.Pending.Deletes) > 0 || len(s.Pending.Operations) > 0) {
		top.key("pending")
		w.pending(&s.Pending)
	}
	top.end()
	w.buf = append(w.buf, '\n')
	return nil
}

func (w *writer) header(top *section, s *Snapshot) {
	if s.Package != "" {
		top.member("package", TextOf(s.Package))
	}
	if s.Args.Exists() {
		top.member("args", s.Args)
	}
	if s.Lineage != "" {
		top.member("lineage", TextOf(s.Lineage))
	}
	if s.Serial != 0 {
		top.member("serial", Value{kind: Number, text: strconv.FormatUint(s.Serial, 10)})
	}
}

func (w *writer) vertices(vertices []*Vertex, resources bool) {
	all := section{writer: w}
	all.begin()
	for _, v := range vertices {
		all.key(v.key)
		if !resources {
			w.bag(v.Properties)
		} else {
			one := section{writer: w}
			one.begin()
			w.resource(&one, v)
			one.end()
		}
		w.spill()
	}
	all.end()
}

func (w *writer) resource(one *section, r *Vertex) {
	one.member("type", TextOf(string(r.Type)))
	if r.ID != "" {
		one.member("id", TextOf(r.ID))
	}
	if options := withoutDefaults(r.Options); options.Exists() {
		one.member("options", options)
	}
	if r.Source != "" {
		one.member("source", TextOf(r.Source))
	}
	one.key("properties")
	w.bag(r.Properties)
	if r.Extensions.Exists() {
		one.member("extensions", r.Extensions)
	}
}

func (w *writer) pending(p *Pending) {
	resource := func(r *Vertex, kind OperationKind) {
		one := section{writer: w}
		one.begin()
		if kind != "" {
			one.member("operation", TextOf(string(kind)))
		}
		one.member("urn", TextOf(r.key))
		w.resource(&one, r)
		one.end()
	}
	top := section{writer: w}
	top.begin()
	list := func(key string, length int, one func(i int)) {
		if length == 0 {
			return
		}
		top.key(key)
		list := section{writer: w, list: true}
		list.begin()
		for i := range length {
			list.element()
			one(i)
		}
		list.end()
	}
	list("deletes", len(p.Deletes), func(i int) { resource(p.Deletes[i], "") })
	list("operations", len(p.Operations), func(i int) { resource(p.Operations[i].Resource, p.Operations[i].Kind) })
	top.end()
}

func (w *writer) bag(v Value) {
	if !v.Exists() {
		v = ObjectOf()
	}
	w.value(&v)
}

func (w *writer) value(v *Value) {
	switch v.kind {
	case Absent, Null:
		w.buf = append(w.buf, "null"...)
	case Bool:
		w.buf = append(w.buf, v.text...)
	case Number:
		w.buf = append(w.buf, canonicalNumber(v.text)...)
	case Text:
		w.buf = AppendText(w.buf, v.text)
	case List:
		list := section{writer: w, list: true}
		list.begin()
		for i := range v.node.elements {
			list.element()
			w.value(&v.node.elements[i])
		}
		list.end()
	case Object:
		w.members(v.node.members)
	case Reference:
		w.reference(v)
	}
}

func (w *writer) members(members []Member) {
	first := len(w.sorted)
	if w.sort && !slices.IsSortedFunc(members, byName) {
		w.sorted = append(w.sorted, members...)
		members = w.sorted[first:]
		slices.SortStableFunc(members, byName)
	}
	object := section{writer: w}
	object.begin()
	for i := range members {
		object.key(members[i].Key)
		w.value(&members[i].Value)
	}
	object.end()
	w.sorted = w.sorted[:first]
}

// reference writes a reference on one line.
func (w *writer) reference(v *Value) {
	w.buf = append(w.buf, "{ "...)
	w.buf = AppendText(w.buf, w.tag)
	w.buf = append(w.buf, ": "...)
	w.buf = AppendText(w.buf, v.node.target.key)
	if v.text != "" {
		w.buf = append(w.buf, `, "property": `...)
		w.buf = AppendText(w.buf, v.text)
	}
	w.buf = append(w.buf, " }"...)
}

// spill flushes the buffer if it is large.
func (w *writer) spill() {
	if w.out != nil && len(w.buf) >= flushAt {
		w.flush()
	}
}

func (w *writer) flush() {
	if w.err == nil {
		_, w.err = w.out.Write(w.buf)
	}
	w.buf = w.buf[:0]
}

// section writes comma-separated elements between brackets.
type section struct {
	*writer
	list bool
	some bool
}

func (s *section) begin() {
	s.buf = append(s.buf, "{["[btoi(s.list)])
	s.indent++
}

// element starts a new line, preceded by a comma unless this is the first element.
func (s *section) element() {
	if s.some {
		s.buf = append(s.buf, ',')
	}
	s.some = true
	s.newline()
}

func (s *section) key(key string) {
	s.element()
	s.buf = AppendText(s.buf, key)
	s.buf = append(s.buf, ": "...)
}

func (s *section) member(key string, v Value) {
	s.key(key)
	s.value(&v)
}

func (s *section) end() {
	s.indent--
	if s.some {
		s.newline()
	}
	s.buf = append(s.buf, "}]"[btoi(s.list)])
}

const spaces = "                                "

func (w *writer) newline() {
	w.buf = append(w.buf, '\n')
	for n := 2 * w.indent; n > 0; n -= len(spaces) {
		w.buf = append(w.buf, spaces[:min(n, len(spaces))]...)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TagOf returns the key that marks references in a document's canonical text: its own tag, or another key if the data
// contains that tag.
func TagOf(doc Document) string {
	g := doc.Base()
	tag := g.tag()
	vertices := g.vertices
	if s, ok := doc.(*Snapshot); ok {
		vertices = slices.Concat(vertices, s.Pending.resources())
	}
	taken := map[string]bool{}
	for _, v := range vertices {
		v.Properties.keysLike(tag, taken)
	}
	free := tag
	for n := 2; taken[free]; n++ {
		free = tag + strconv.Itoa(n)
	}
	return free
}

// keysLike adds the keys within a value that start with the tag to taken.
func (v *Value) keysLike(tag string, taken map[string]bool) {
	switch v.kind {
	case List:
		for i := range v.node.elements {
			v.node.elements[i].keysLike(tag, taken)
		}
	case Object:
		for i := range v.node.members {
			m := &v.node.members[i]
			if strings.HasPrefix(m.Key, tag) {
				taken[m.Key] = true
			}
			m.Value.keysLike(tag, taken)
		}
	}
}
