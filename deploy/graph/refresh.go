package graph

// Refresh returns the graph with resources replaced by their actual state. Provided values that depend on these
// resources are evaluated again, and edges that no longer satisfy their constraints are marked as broken.
func (g *Graph) Refresh(actual map[*Resource]*Resource) *Graph {
	w := rewrite{now: actual}
	after := g.clone()
	for _, v := range g.all() {
		if now := w.rewritten(g, v); now != v {
			after.put(now)
			after.recheck(now)
		}
	}
	return after
}
