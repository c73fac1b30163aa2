package display

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl"
)

// tree prints all vertices, with their dependencies as children. A vertex with several parents is expanded only below
// the first. Resources with names such as "web/db" are printed below "web/", unless another resource in "web/" depends
// on them.
func (v *Viewer) tree() {
	t := &tree{Viewer: v, children: v.Index.Dependencies, state: map[*lumigl.Vertex]state{}}
	if v.Invert {
		t.children = v.Index.Dependents
	}
	for _, top := range v.tops() {
		t.branch(top, "", "", 1)
	}
	if t.cut > 0 {
		v.line(v.Con.Out.Paint(term.Dim, fmt.Sprintf("… %s not shown; --depth shows more levels", console.Count(t.cut, "branch"))))
	}
}

type tree struct {
	*Viewer
	children func(v *lumigl.Vertex, transitive bool) []*lumigl.Vertex
	state    map[*lumigl.Vertex]state
	cut      int
}

// branch is a vertex or component at the top level of the tree or of a component.
type branch struct {
	vertex    *lumigl.Vertex
	component string
	branches  []*branch
}

// tops returns the roots of the tree, grouped by component.
func (v *Viewer) tops() []*branch {
	top := &branch{}
	components := map[string]*branch{"": top}
	var component func(path string) *branch
	component = func(path string) *branch {
		b := components[path]
		if b == nil {
			b = &branch{component: path}
			components[path] = b
			above := component(parentComponent(path))
			above.branches = append(above.branches, b)
		}
		return b
	}
	isTop := map[*lumigl.Vertex]bool{}
	for _, one := range v.Index.Tops(v.Invert) {
		isTop[one] = true
	}
	for one := range v.Doc.Base().Vertices() {
		path := v.componentOf(one)
		usedWithin := func(other *lumigl.Vertex) bool { return strings.HasPrefix(v.Name(other), path+"/") }
		if path == "" && isTop[one] || path != "" && !slices.ContainsFunc(v.Index.Dependents(one, false), usedWithin) {
			b := component(path)
			b.branches = append(b.branches, &branch{vertex: one})
		}
	}
	return top.branches
}

// componentOf returns the path of the component that created a resource, or "" if there is none.
func (v *Viewer) componentOf(one *lumigl.Vertex) string {
	if v.snapshot() == nil || v.Invert || strings.Contains(v.Name(one), `"`) { // OpenTofu addresses contain no components
		return ""
	}
	return parentComponent(v.Name(one))
}

func parentComponent(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }

// branch prints a vertex, or a component and its branches.
func (t *tree) branch(b *branch, first, rest string, depth int) {
	if b.vertex != nil {
		t.print(b.vertex, first, rest, depth)
		return
	}
	text := t.Con.Out.Paint(term.Dim, first) + t.Con.Out.Paint(term.BoldCyan, term.Visible(b.component)+"/")
	if depth == t.Depth {
		t.cut++
		t.line(text + t.Con.Out.Paint(term.Dim, " …"))
		return
	}
	t.line(text)
	for i, below := range b.branches {
		branch, stem := stems(i == len(b.branches)-1)
		t.branch(below, rest+branch, rest+stem, depth+1)
	}
}

// stems returns the prefix of a branch's own line and the prefix of the lines below it.
func stems(last bool) (branch, stem string) {
	if last {
		return "└─ ", "   "
	}
	return "├─ ", "│  "
}

// state is the state of a vertex while the tree is printed.
type state byte

const (
	unseen   state = iota
	printing       // the children are being printed
	printed
)

// print prints a vertex and its children. First is the prefix of its own line, and rest the prefix of the lines below
// it.
func (t *tree) print(one *lumigl.Vertex, first, rest string, depth int) {
	text := t.Con.Out.Paint(term.Dim, first) + t.entry(one)
	children := t.children(one, false)
	switch {
	case len(children) == 0:
	case t.state[one] == printing:
		t.line(text + t.Con.Out.Paint(term.Dim, " (cycle)"))
		return
	case t.state[one] == printed:
		t.line(text + t.Con.Out.Paint(term.Dim, " (see above)"))
		return
	case depth == t.Depth:
		t.cut++
		t.line(text + t.Con.Out.Paint(term.Dim, " …"))
		return
	}
	t.line(text)
	t.state[one] = printing
	for i, child := range children {
		branch, stem := stems(i == len(children)-1)
		t.print(child, rest+branch, rest+stem, depth+1)
	}
	t.state[one] = printed
}

// entry formats a vertex on one line.
func (v *Viewer) entry(one *lumigl.Vertex) string {
	text := v.Con.Out.Paint(term.Bold, term.Visible(v.Name(one)))
	if v.snapshot() != nil {
		text += " " + v.Con.Out.Paint(term.Dim, term.Visible(string(one.Type)))
		if one.ID != "" {
			text += " " + term.Visible(one.ID)
		}
	}
	return text
}
