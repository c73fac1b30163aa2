package match

import (
	"slices"

	"github.com/lumi-idl/lumi/lumigl"
)

// BehindTargets returns vertices in their order, but each behind those of them that it refers to. In a circle, that cannot
// be so of all. There is no recursion, since a chain may be as long as the document.
func BehindTargets(vertices []*lumigl.Vertex) []*lumigl.Vertex {
	const (
		waiting = iota + 1
		begun
		done
	)
	states := make(map[*lumigl.Vertex]uint8, len(vertices))
	for _, v := range vertices {
		states[v] = waiting
	}
	ordered := make([]*lumigl.Vertex, 0, len(vertices))
	var stack []*lumigl.Vertex
	for _, v := range vertices {
		stack = append(stack, v)
		for len(stack) > 0 {
			top := stack[len(stack)-1]
			if states[top] == waiting {
				states[top] = begun
				above := len(stack)
				for target := range top.Properties.References() {
					if states[target] == waiting {
						stack = append(stack, target)
					}
				}
				slices.Reverse(stack[above:])
				continue
			}
			stack = stack[:len(stack)-1]
			if states[top] == begun {
				states[top] = done
				ordered = append(ordered, top)
			}
		}
	}
	return ordered
}

// CirclesIn numbers vertices so that those which depend on each other in circles have one number. It is the algorithm of
// S. Rao Kosaraju: against the references, and from the last vertex behind what it refers to, one gets around in circles
// only.
func CirclesIn(vertices []*lumigl.Vertex) map[*lumigl.Vertex]int {
	sources := map[*lumigl.Vertex][]*lumigl.Vertex{}
	for _, v := range vertices {
		for target := range v.Properties.References() {
			sources[target] = append(sources[target], v)
		}
	}
	circles := make(map[*lumigl.Vertex]int, len(vertices))
	var stack []*lumigl.Vertex
	for i, v := range slices.Backward(BehindTargets(vertices)) {
		stack = append(stack, v)
		for len(stack) > 0 {
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if _, found := circles[top]; !found {
				circles[top] = i
				stack = append(stack, sources[top]...)
			}
		}
	}
	return circles
}
