package layout

import "slices"

// turn returns the links with some turned around, so that there are no circles, and which those are. Those are turned
// that lead back to where a walk along the links comes from, which begins at what nothing leads to.
func (p *part) turn() (links []Arrow, turned []bool) {
	out := adjacency(len(p.nodes), p.links, func(a Arrow) (int32, int32) { return a.From, a.To })
	in := make([]int32, len(p.nodes))
	for _, a := range p.links {
		in[a.To]++
	}
	links, turned = slices.Clone(p.links), make([]bool, len(p.links))
	const open, done = 1, 2
	state := make([]uint8, len(p.nodes))
	type visit struct{ node, next int32 }
	var stack []visit
	walk := func(from int32) {
		state[from] = open
		for stack = append(stack[:0], visit{node: from}); len(stack) > 0; {
			v := &stack[len(stack)-1]
			if int(v.next) == len(out[v.node]) {
				state[v.node] = done
				stack = stack[:len(stack)-1]
				continue
			}
			i := out[v.node][v.next].link
			v.next++
			switch to := p.links[i].To; state[to] {
			case open:
				links[i], turned[i] = Arrow{to, v.node}, true
			case 0:
				state[to] = open
				stack = append(stack, visit{node: to})
			}
		}
	}
	for n := range p.nodes {
		if in[n] == 0 {
			walk(int32(n))
		}
	}
	for n := range p.nodes {
		if state[n] == 0 {
			walk(int32(n))
		}
	}
	return links, turned
}

// end is where a link leads, and which link it is.
type end struct{ node, link int32 }

// adjacency lists the links of each node that begin there, as ends says.
func adjacency(nodes int, links []Arrow, ends func(Arrow) (from, to int32)) [][]end {
	all := make([][]end, nodes)
	for i, a := range links {
		from, to := ends(a)
		all[from] = append(all[from], end{to, int32(i)})
	}
	return all
}

// rank numbers the layers that the nodes stand in, from the left, so that all links lead to the right. Each node stands
// as far to the right as can be, but for those that have more to their left than to their right.
func rank(nodes int, links []Arrow) []int32 {
	out := adjacency(nodes, links, func(a Arrow) (int32, int32) { return a.From, a.To })
	in := adjacency(nodes, links, func(a Arrow) (int32, int32) { return a.To, a.From })
	order := make([]int32, 0, nodes) // each node behind all that lead to it
	missing := make([]int32, nodes)
	for n := range nodes {
		if missing[n] = int32(len(in[n])); missing[n] == 0 {
			order = append(order, int32(n))
		}
	}
	for i := 0; i < len(order); i++ {
		for _, e := range out[order[i]] {
			if missing[e.node]--; missing[e.node] == 0 {
				order = append(order, e.node)
			}
		}
	}
	height := make([]int32, nodes) // how many layers there are to the right
	highest := int32(0)
	for i := len(order) - 1; i >= 0; i-- {
		n := order[i]
		for _, e := range out[n] {
			height[n] = max(height[n], height[e.node]+1)
		}
		highest = max(highest, height[n])
	}
	for _, n := range order {
		if len(in[n]) <= len(out[n]) {
			continue
		}
		least := highest
		for _, e := range in[n] {
			least = min(least, height[e.node]-1)
		}
		height[n] = least
	}
	for n := range height {
		height[n] = highest - height[n]
	}
	return height
}
