package plan

import (
	"cmp"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/match"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// realResource identifies a real resource by its type and ID.
type realResource struct {
	of tokens.Type
	id string
}

// candidates holds the resources of the graph whose URNs are not in the program, because they were renamed or are named
// by the provider.
type candidates struct {
	// left holds the unpaired resources.
	left    map[*graph.Resource]bool
	aliased map[*graph.Resource]int32 // items paired by an alias, by resource
	// replaced maps resources that were replaced under another URN to their replacements. They are not candidates. (A
	// replacement with the same URN hides the old resource.)
	replaced map[realResource]*graph.Resource
	// byType holds all candidates, including paired ones.
	byType map[tokens.Type][]*graph.Resource
	number map[urn.URN]*graph.Resource // by previous URN in the program
	// former maps the new URNs of moved resources to their old vertices.
	former map[urn.URN]*lumigl.Vertex
	hasher match.Hasher
	equal  map[uint64][]*graph.Resource // by hash of type and inputs; built lazily
	// alike holds the candidates of each type by hash of their identity. It is built lazily.
	alike map[tokens.Type]map[uint64][]*graph.Resource
	// computed holds the candidates of each type by computed name. It is built lazily.
	computed map[tokens.Type]map[string][]*graph.Resource
}

// take pairs an item with an unpaired resource.
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

// before returns the inputs of an item with references to moved resources replaced by references to their old URNs.
func (c *candidates) before(it *item) lumigl.Value {
	if len(c.former) == 0 {
		return it.inputs
	}
	return it.inputs.Retarget(func(target *lumigl.Vertex) *lumigl.Vertex { return cmp.Or(c.former[target.URN()], target) })
}

// isEqual reports whether r is unpaired and has the same inputs as the item, except for ignored changes.
func (c *candidates) isEqual(it *item, r *graph.Resource) bool {
	inputs, ignored := c.before(it), it.desired.Options.Get("ignoreChanges")
	if ignored.Exists() {
		inputs = Ignore(inputs, r.Inputs, ignored)
	}
	return c.left[r] && inputs.Equal(r.Inputs)
}

// pairNumber pairs an item with the resource that previously had its number. It requires equal inputs unless the
// resource has none, because it was only partially created or found. It reports whether it paired the item.
func (c *candidates) pairNumber(it *item) bool {
	r := c.number[it.urn]
	if r == nil || !c.left[r] || r.Inputs.Exists() && !c.isEqual(it, r) {
		return false
	}
	c.take(it, r)
	return true
}

// pairAlike pairs an item with the only unpaired resource of its type that has equal values for the named properties.
func (c *candidates) pairAlike(it *item, names []string) {
	t := it.desired.Type
	if c.alike[t] == nil {
		c.alike[t] = map[uint64][]*graph.Resource{}
		for _, r := range c.byType[t] {
			hash := c.hasher.Value(identity(r.NamedInputs(), names))
			c.alike[t][hash] = append(c.alike[t][hash], r)
		}
	}
	wanted := identity(c.before(it), names)
	var found []*graph.Resource
	for _, r := range c.alike[t][c.hasher.Value(wanted)] {
		if c.left[r] && wanted.Equal(identity(r.NamedInputs(), names)) {
			found = append(found, r)
		}
	}
	if len(found) == 1 {
		c.take(it, found[0])
	}
}
