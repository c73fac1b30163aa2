package layout

import (
	"slices"

	"github.com/lumi-idl/lumi/internal/dag"
)

// turn removes cycles by reversing links to an ancestor in a depth-first walk that starts at nodes without incoming
// links. turned marks the reversed links.
func (p *part) turn() (links []Arrow, turned []bool) {
	g := graphOf(len(p.nodes), p.links)
	into := g.Reverse()
	var first []int32
	for n := range int32(len(p.nodes)) {
		if len(into.Out(n)) == 0 {
			first = append(first, n)
		}
	}
	left := make([]int, len(p.nodes)) // when the walk leaves a node for the last time
	for i, n := range g.PostOrder(first...) {
		left[n] = i
	}
	links, turned = slices.Clone(p.links), make([]bool, len(p.links))
	for i, a := range links {
		if left[a.To] >= left[a.From] {
			links[i], turned[i] = Arrow{a.To, a.From}, true
		}
	}
	return links, turned
}

func graphOf(nodes int, links []Arrow) dag.Graph {
	return dag.New(nodes, func(yield func(from, to int32) bool) {
		for _, a := range links {
			yield(a.From, a.To)
		}
	})
}

// rank returns the layer of each node, numbered from the left, such that all links point to the right. Nodes are placed
// as far to the right as possible unless they have more links on the left than on the right.
func rank(nodes int, links []Arrow) []int32 {
	out := graphOf(nodes, links)
	in := out.Reverse()
	order := out.PostOrder()       // each node after its targets
	height := make([]int32, nodes) // number of layers to the right
	highest := int32(0)
	for _, n := range order {
		for _, to := range out.Out(n) {
			height[n] = max(height[n], height[to]+1)
		}
		highest = max(highest, height[n])
	}
	for _, n := range slices.Backward(order) {
		if len(in.Out(n)) <= len(out.Out(n)) {
			continue
		}
		least := highest
		for _, from := range in.Out(n) {
			least = min(least, height[from]-1)
		}
		height[n] = least
	}
	for n := range height {
		height[n] = highest - height[n]
	}
	return height
}
