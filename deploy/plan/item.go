package plan

import (
	"strings"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// item is a desired resource and its planning state.
type item struct {
	desired *lumigl.Vertex
	// urn is the resource's URN: the URN in the program until the provider chooses a name.
	urn urn.URN
	// reference is the target of references in stored values: a vertex that carries the final URN.
	reference *lumigl.Vertex
	// old is the resource in the graph, or nil if there is none yet.
	old *graph.Resource
	// inputs holds the properties with outputs filled in, except outputs of changing resources.
	inputs lumigl.Value
	// options holds the options from the program, with references to final URNs.
	options lumigl.Value
	// hasFiles is set if inputs contains an asset or archive, whose content only the provider can compare.
	hasFiles bool
	// computed is the name computed by the provider, if known.
	computed string
	// sameName is set if the provider chose the old resource's name.
	sameName bool
	// untouched is set if the resource is not among the targets.
	untouched bool
	// step is nil until decided. It stays nil for a nonexistent resource that is not a target.
	step *Step
}

// isCalled reports whether u is the item's URN in the program or in the graph.
func (it *item) isCalled(u urn.URN) bool {
	return it.urn == u || it.desired.URN() == u || it.old != nil && it.old.URN == u
}

// name sets the final URN of an item.
func (it *item) name(u urn.URN) {
	if it.urn = u; u == it.reference.URN() {
		return
	}
	reference, err := lumigl.NewResource(u)
	if err == nil {
		it.reference = reference
	}
}

// split splits the name in a URN of an item into the component prefix and the computed name, which may contain slashes.
func (it *item) split(u urn.URN) (prefix, name string) {
	prefix = component(it.desired.URN())
	if name, ok := strings.CutPrefix(u.Name(), prefix); ok {
		return prefix, name
	}
	return component(u), last(u)
}

// isMisnamed reports whether the resource lacks the name computed by the provider, because the deployment that should
// have renamed it failed.
func (it *item) isMisnamed() bool {
	_, name := it.split(it.urn)
	return it.computed != "" && it.old != nil && isNumbered(it.desired.URN().Name()) && name != it.computed && !isNth(name, it.computed)
}

// ignoreChanges resets properties with ignored changes to their values in the graph.
func (it *item) ignoreChanges() {
	paths := it.desired.Options.Get("ignoreChanges")
	if it.old != nil && it.old.Inputs.Exists() && paths.Exists() { // Partially created resources have no inputs.
		it.inputs = ignore(it.inputs, it.old.Inputs, paths)
	}
}
