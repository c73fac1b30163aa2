package main

import (
	"fmt"

	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl"
)

// tree prints all vertices, with what each refers to below it. What stands below several is printed below the first;
// after that, it is named only.
func (v *viewer) tree() {
	t := &tree{viewer: v, children: v.index.Dependencies, state: map[*lumigl.Vertex]state{}}
	if v.invert {
		t.children = v.index.Dependents
	}
	for _, top := range v.index.Tops(v.invert) {
		t.print(top, "", "", 1)
	}
	if t.cut > 0 {
		v.line(v.env.out.Paint(term.Dim, fmt.Sprintf("… %s not shown; --depth shows more levels", count(t.cut, "branch"))))
	}
}

type tree struct {
	*viewer
	children func(v *lumigl.Vertex, transitive bool) []*lumigl.Vertex
	state    map[*lumigl.Vertex]state
	cut      int
}

// state is what has become of a vertex in a tree.
type state byte

const (
	unseen   state = iota
	printing       // its children are being printed
	printed
)

// print prints a vertex and what is below it. First is what stands before it, and rest what stands before its children.
func (t *tree) print(one *lumigl.Vertex, first, rest string, depth int) {
	text := t.env.out.Paint(term.Dim, first) + t.entry(one)
	children := t.children(one, false)
	switch {
	case len(children) == 0:
	case t.state[one] == printing:
		t.line(text + t.env.out.Paint(term.Dim, " (a circle)"))
		return
	case t.state[one] == printed:
		t.line(text + t.env.out.Paint(term.Dim, " (see above)"))
		return
	case depth == t.depth:
		t.cut++
		t.line(text + t.env.out.Paint(term.Dim, " …"))
		return
	}
	t.line(text)
	t.state[one] = printing
	for i, child := range children {
		branch, stem := "├─ ", "│  "
		if i == len(children)-1 {
			branch, stem = "└─ ", "   "
		}
		t.print(child, rest+branch, rest+stem, depth+1)
	}
	t.state[one] = printed
}

// entry is a vertex on one line.
func (v *viewer) entry(one *lumigl.Vertex) string {
	text := v.env.out.Paint(term.Bold, term.Visible(v.name(one)))
	if v.snapshot() != nil {
		text += " " + v.env.out.Paint(term.Dim, term.Visible(string(one.Type)))
		if one.ID != "" {
			text += " " + term.Visible(one.ID)
		}
	}
	return text
}
