package diff

import (
	"slices"

	"github.com/lumi-idl/lumi/lumigl"
)

// behindTargets returns vertices in their order, but each behind those of them that it leads to. In a circle, that cannot
// be so of all. There is no recursion, since a chain may be as long as the document.
func behindTargets(vertices []*lumigl.Vertex, targets eachTarget) []*lumigl.Vertex {
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
	push := func(target *lumigl.Vertex) {
		if states[target] == waiting {
			stack = append(stack, target)
		}
	}
	for _, v := range vertices {
		stack = append(stack, v)
		for len(stack) > 0 {
			top := stack[len(stack)-1]
			if states[top] == waiting {
				states[top] = begun
				above := len(stack)
				targets(top, push)
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

// eachTarget calls visit with each vertex that one leads to.
type eachTarget func(v *lumigl.Vertex, visit func(*lumigl.Vertex))

// targets are the vertices that one refers to.
func targets(v *lumigl.Vertex, visit func(*lumigl.Vertex)) {
	for target := range v.Properties.References() {
		visit(target)
	}
}

// propertyTargets are the vertices to whose properties one refers.
func propertyTargets(v *lumigl.Vertex, visit func(*lumigl.Vertex)) {
	for target, name := range v.Properties.References() {
		if name != "" {
			visit(target)
		}
	}
}
