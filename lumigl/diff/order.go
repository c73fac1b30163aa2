package diff

import (
	"iter"

	"github.com/lumi-idl/lumi/lumigl"
)

// behindTargets returns vertices in their order, but each behind those of them that it leads to. In a circle, that cannot
// be so of all. There is no recursion, since a chain may be as long as the document.
func behindTargets(vertices []*lumigl.Vertex, targets func(*lumigl.Vertex) iter.Seq[*lumigl.Vertex]) []*lumigl.Vertex {
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
				for target := range targets(top) {
					if states[target] == waiting {
						stack = append(stack, target)
					}
				}
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
