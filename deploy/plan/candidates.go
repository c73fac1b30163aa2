package plan

import (
	"cmp"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/match"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// realResource identifies what a vertex represents.
type realResource struct {
	of tokens.Type
	id string
}

// candidates are resources of the graph whose URNs the program does not have, since it renamed them or never named them.
type candidates struct {
	// left has those that no desired resource is paired with yet.
	left    map[*graph.Resource]bool
	aliased map[*graph.Resource]int32 // by which item, for those paired by an alias
	// replaced has the replacements under other URNs by what they replaced, which is none. One with the same URN hides that.
	replaced map[realResource]*graph.Resource
	// byType has all of them, also those that are paired.
	byType map[tokens.Type][]*graph.Resource
	number map[urn.URN]*graph.Resource // by the URN that they had in the program
	// former has what references to resources that moved have led to, by their URNs from now on.
	former map[urn.URN]*lumigl.Vertex
	hasher match.Hasher
	equal  map[uint64][]*graph.Resource // by hash of type and inputs; nil until it is needed
	// alike has those of each type by the hash of what identifies them, once it is needed.
	alike map[tokens.Type]map[uint64][]*graph.Resource
	// computed has those of each type by the names that their provider computed, once they are needed.
	computed map[tokens.Type]map[string][]*graph.Resource
}

// take pairs an item with a resource, which must be left.
func (c *candidates) take(it *item, r *graph.Resource) {
	it.old = r
	delete(c.left, r)
	if isNumbered(it.urn.Name()) {
		it.name(renamed(it.urn, r.URN.Name()))
		it.computed = r.Computed
	}
	if it.urn == r.URN {
		return
	}
	if former, err := lumigl.NewResource(r.URN); err == nil {
		c.former[it.urn] = former
	}
}

// before returns the inputs of an item with references to resources that moved as they have been.
func (c *candidates) before(it *item) lumigl.Value {
	if len(c.former) == 0 {
		return it.inputs
	}
	return it.inputs.Retarget(func(target *lumigl.Vertex) *lumigl.Vertex { return cmp.Or(c.former[target.URN()], target) })
}

// isEqual reports whether a resource that is left has the inputs of an item.
func (c *candidates) isEqual(it *item, r *graph.Resource) bool {
	inputs, ignored := c.before(it), it.desired.Options.Get("ignoreChanges")
	if ignored.Exists() {
		inputs = ignore(inputs, r.Inputs, ignored)
	}
	return c.left[r] && inputs.Equal(r.Inputs)
}

// pairNumber pairs an item with the resource that had its number, if the inputs are equal. What was made in part, or found, has
// none.
func (c *candidates) pairNumber(it *item) bool {
	r := c.number[it.urn]
	if r == nil || !c.left[r] || r.Inputs.Exists() && !c.isEqual(it, r) {
		return false
	}
	c.take(it, r)
	return true
}

// pairAlike pairs an item with the only resource that is left of its type and has equal values of some properties.
func (c *candidates) pairAlike(it *item, names []string) {
	t := it.desired.Type
	if c.alike[t] == nil {
		c.alike[t] = map[uint64][]*graph.Resource{}
		for _, r := range c.byType[t] {
			hash := c.hasher.Value(identity(r.Inputs, names))
			c.alike[t][hash] = append(c.alike[t][hash], r)
		}
	}
	wanted := identity(c.before(it), names)
	var found []*graph.Resource
	for _, r := range c.alike[t][c.hasher.Value(wanted)] {
		if c.left[r] && wanted.Equal(identity(r.Inputs, names)) {
			found = append(found, r)
		}
	}
	if len(found) == 1 {
		c.take(it, found[0])
	}
}
