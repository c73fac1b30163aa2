package main

import "github.com/lumi-idl/lumi/lumigl"

// links are who refers to whom in a graph, each once, in the order of the document.
type links struct {
	vertices []*lumigl.Vertex
	place    map[*lumigl.Vertex]int32
	uses     [][]int32
	usedBy   [][]int32
}

func linksOf(g *lumigl.Graph) *links {
	l := &links{
		vertices: make([]*lumigl.Vertex, 0, g.Len()), place: make(map[*lumigl.Vertex]int32, g.Len()),
		uses: make([][]int32, g.Len()), usedBy: make([][]int32, g.Len()),
	}
	for v := range g.Vertices() {
		l.place[v] = int32(len(l.vertices))
		l.vertices = append(l.vertices, v)
	}
	last := make([]int32, g.Len()) // which vertex was the last to refer to one, plus one
	for from, v := range l.vertices {
		for to := range v.Properties.References() {
			at, ok := l.place[to]
			if !ok || last[at] == int32(from)+1 {
				continue
			}
			last[at] = int32(from) + 1
			l.uses[from] = append(l.uses[from], at)
			l.usedBy[at] = append(l.usedBy[at], int32(from))
		}
	}
	return l
}

// tops are where a tree that follows children begins: what is nobody's child, and of circles that nothing leads to, the
// first.
func tops(parents, children [][]int32) []int32 {
	reached := make([]bool, len(children))
	var queue, found []int32
	reach := func(from int32) {
		found = append(found, from)
		reached[from] = true
		for queue = append(queue[:0], from); len(queue) > 0; {
			next := queue[len(queue)-1]
			queue = queue[:len(queue)-1]
			for _, child := range children[next] {
				if !reached[child] {
					reached[child] = true
					queue = append(queue, child)
				}
			}
		}
	}
	for i := range parents {
		if len(parents[i]) == 0 {
			reach(int32(i))
		}
	}
	for i := range reached {
		if !reached[i] {
			reach(int32(i))
		}
	}
	return found
}
