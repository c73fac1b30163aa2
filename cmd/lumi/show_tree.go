package main

import (
	"fmt"

	"github.com/lumi-idl/lumi/lumigl"
)

// tree prints all vertices, with what each refers to below it. What stands below several is printed below the first;
// after that, it is named only.
func (v *viewer) tree() {
	children, parents := v.links.uses, v.links.usedBy
	if v.invert {
		children, parents = parents, children
	}
	t := &tree{viewer: v, children: children, state: make([]byte, len(children))}
	for _, top := range tops(parents, children) {
		t.print(top, "", "", 1)
	}
	if t.cut > 0 {
		v.line(v.env.out.paint(dim, fmt.Sprintf("… %s not shown; --depth shows more levels", count(t.cut, "branch"))))
	}
}

type tree struct {
	*viewer
	children [][]int32
	state    []byte
	cut      int
}

// What has become of a vertex in a tree.
const (
	unseen   = iota
	printing // its children are being printed
	printed
)

// print prints a vertex and what is below it. First is what stands before it, and rest what stands before its children.
func (t *tree) print(at int32, first, rest string, depth int) {
	one := t.links.vertices[at]
	text := t.env.out.paint(dim, first) + t.entry(one)
	children := t.children[at]
	switch {
	case len(children) == 0:
	case t.state[at] == printing:
		t.line(text + t.env.out.paint(dim, " (a circle)"))
		return
	case t.state[at] == printed:
		t.line(text + t.env.out.paint(dim, " (see above)"))
		return
	case depth == t.depth:
		t.cut++
		t.line(text + t.env.out.paint(dim, " …"))
		return
	}
	t.line(text)
	t.state[at] = printing
	for i, child := range children {
		branch, stem := "├─ ", "│  "
		if i == len(children)-1 {
			branch, stem = "└─ ", "   "
		}
		t.print(child, rest+branch, rest+stem, depth+1)
	}
	t.state[at] = printed
}

// entry is a vertex on one line.
func (v *viewer) entry(one *lumigl.Vertex) string {
	text := v.env.out.paint(bold, visible(v.name(one)))
	if v.snapshot() != nil {
		text += " " + v.env.out.paint(dim, visible(string(one.Type)))
		if one.ID != "" {
			text += " " + visible(one.ID)
		}
	}
	return text
}
