package render

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl"
)

// Options configures a drawing.
type Options struct {
	Title string
	// Only restricts the drawing to these vertices and the arrows between them. If it is nil, all vertices are drawn.
	Only []*lumigl.Vertex
	// Cluster groups resources in frames. It has no effect on pages.
	Cluster Cluster
}

// Cluster selects how resources are grouped in frames. Vertices of general graphs are not grouped.
type Cluster string

// Groupings. The package and the module are parts of the type.
const (
	NoCluster Cluster = "none"
	ByType    Cluster = "type"
	ByPackage Cluster = "package"
	ByModule  Cluster = "module"
)

// of returns the label of the frame for a vertex, or "" if it is not in a frame.
func (c Cluster) of(v *lumigl.Vertex) string {
	switch c {
	case ByType:
		return string(v.Type)
	case ByPackage:
		return v.Type.Package()
	case ByModule:
		if v.Type == "" {
			return ""
		}
		return v.Type.Package() + ":" + v.Type.Module()
	}
	return ""
}

// drawing holds the data shared by all output formats.
type drawing struct {
	title      string
	isSnapshot bool
	total      int // all vertices, drawn or not
	pending    int // pending changes of a deployment
	vertices   []*lumigl.Vertex
	place      map[*lumigl.Vertex]int32
	arrows     []arrow
	frames     []frame
	loose      []int32 // vertices outside frames, by index
}

// arrow points from a vertex to a dependency.
type arrow struct {
	from, to int32
	// paths lists the paths of the first references. more is the number of references not listed.
	paths []string
	more  int
}

// frame contains vertices, by index.
type frame struct {
	label string
	in    []int32
}

// maxPaths limits the number of paths listed for an arrow.
const maxPaths = 3

func draw(doc lumigl.Document, o Options) *drawing {
	base := doc.Base()
	d := &drawing{title: o.Title, total: base.Len()}
	if s, ok := doc.(*lumigl.Snapshot); ok {
		d.isSnapshot = true
		d.pending = len(s.Pending.Deletes) + len(s.Pending.Operations)
	}
	var only map[*lumigl.Vertex]bool
	if o.Only != nil {
		only = make(map[*lumigl.Vertex]bool, len(o.Only))
		for _, v := range o.Only {
			only[v] = true
		}
	}
	d.place = make(map[*lumigl.Vertex]int32, base.Len())
	frames := map[string]int{}
	for v := range base.Vertices() {
		if only != nil && !only[v] {
			continue
		}
		at := int32(len(d.vertices))
		d.place[v] = at
		d.vertices = append(d.vertices, v)
		label := o.Cluster.of(v)
		if label == "" {
			d.loose = append(d.loose, at)
			continue
		}
		i, ok := frames[label]
		if !ok {
			i = len(d.frames)
			frames[label] = i
			d.frames = append(d.frames, frame{label: label})
		}
		d.frames[i].in = append(d.frames[i].in, at)
	}
	for i, v := range d.vertices {
		w := walker{drawing: d, from: int32(i)}
		w.walk(v.Options)
		w.walk(v.Properties)
	}
	return d
}

// walker collects the references of a vertex and their paths.
type walker struct {
	*drawing
	from  int32
	arrow map[int32]int // arrow indices by target
	steps []step
	// hidden is positive within secrets, where paths are not recorded.
	hidden int
}

// step is an object key or a list index.
type step struct {
	key   string
	index int // -1 for keys
}

func (w *walker) walk(v lumigl.Value) {
	switch v.Kind() {
	case lumigl.Reference:
		w.found(v)
	case lumigl.List:
		for i, e := range v.Elements() {
			w.into(step{index: i}, e)
		}
	case lumigl.Object:
		if _, secret := v.Secret(); secret {
			w.hidden++
			defer func() { w.hidden-- }()
		}
		for key, m := range v.Members() {
			switch {
			case !v.IsExpression():
				w.into(step{key: key, index: -1}, m)
			case m.Kind() == lumigl.List && key == "interpolate": // parts have no paths
				for _, part := range m.Elements() {
					w.walk(part)
				}
			default:
				w.walk(m)
			}
		}
	}
}

func (w *walker) into(s step, v lumigl.Value) {
	if w.hidden > 0 {
		w.walk(v)
		return
	}
	w.steps = append(w.steps, s)
	w.walk(v)
	w.steps = w.steps[:len(w.steps)-1]
}

func (w *walker) found(v lumigl.Value) {
	target, property, _ := v.Target()
	to, ok := w.place[target]
	if !ok {
		return
	}
	at, ok := w.arrow[to]
	if !ok {
		if w.arrow == nil {
			w.arrow = map[int32]int{}
		}
		at = len(w.arrows)
		w.arrow[to] = at
		w.arrows = append(w.arrows, arrow{from: w.from, to: to})
	}
	a := &w.arrows[at]
	if len(a.paths) == maxPaths {
		a.more++
		return
	}
	path := pathText(w.steps)
	if property != "" && w.hidden == 0 {
		path += " (" + clip(visible(property), maxPath) + ")"
	}
	a.paths = append(a.paths, path)
}

// maxPath limits the length of a path.
const maxPath = 60

// pathText formats a path as in rules[0].group.
func pathText(steps []step) string {
	var b strings.Builder
	for i, s := range steps {
		switch {
		case s.index >= 0:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case isName(s.key):
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.key)
		default:
			b.WriteString("[\"" + clip(visible(s.key), maxPath) + "\"]")
		}
		if b.Len() > 4*maxPath {
			break // the rest would be cut off
		}
	}
	return clip(b.String(), maxPath)
}

func isName(key string) bool {
	for i := range len(key) {
		c := key[i] | 0x20
		letter := 'a' <= c && c <= 'z' || key[i] == '_'
		inside := '0' <= key[i] && key[i] <= '9' || key[i] == '-'
		if !letter && (!inside || i == 0) {
			return false
		}
	}
	return key != ""
}

// name returns the display name of a vertex.
func (d *drawing) name(v *lumigl.Vertex) string {
	name := v.Key()
	if d.isSnapshot && v.URN().Name() != "" {
		name = v.URN().Name()
	}
	name = visible(name)
	if strings.TrimSpace(name) == "" {
		name = strconv.Quote(name) // make invisible names visible
	}
	return name
}

// label returns the display name of a vertex, shortened to maxName.
func (d *drawing) label(v *lumigl.Vertex) string { return clipMiddle(d.name(v), maxName) }

// maxName limits the length of a label.
const maxName = 80

// visible escapes control and invisible characters. It replaces U+FFFD, which DOT parsers reject.
func visible(s string) string { return strings.ReplaceAll(term.Visible(s), "\ufffd", "␦") }

// clip shortens s to at most the given number of characters. It marks the cut with an ellipsis.
func clip(s string, most int) string {
	if len(s) <= most || utf8.RuneCountInString(s) <= most {
		return s
	}
	n := 0
	for i := range s {
		if n++; n == most {
			return s[:i] + "…"
		}
	}
	return s
}

// clipMiddle shortens s by cutting the middle, since names such as OpenTofu addresses differ at both ends.
func clipMiddle(s string, most int) string {
	if len(s) <= most || utf8.RuneCountInString(s) <= most {
		return s
	}
	runes := []rune(s)
	return string(runes[:most/2]) + "…" + string(runes[len(runes)-(most-1)/2:])
}
