package plan

import (
	"strings"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// item is a desired resource on its way to a step.
type item struct {
	desired *lumigl.Vertex
	// urn is the resource's URN. It is that of the program until the provider chooses a name.
	urn urn.URN
	// reference is what references in stored values lead to: a vertex that carries the final URN.
	reference *lumigl.Vertex
	// old is the resource in the graph, or nil if there is none yet.
	old *graph.Resource
	// inputs are the properties with outputs filled in, where what they refer to stays as it is.
	inputs lumigl.Value
	// options are those of the program, with references to final URNs.
	options lumigl.Value
	// hasFiles is set if inputs has an asset or archive whose content only the provider can compare.
	hasFiles bool
	// computed is the name that the provider computes for it, if that is known.
	computed string
	// sameName is set if the provider chose the name of the old resource for it.
	sameName bool
	// untouched is set if the resource is not among the targets.
	untouched bool
	// step is nil until it is decided, and for a resource that neither exists nor is a target.
	step *Step
}

// isCalled reports whether a URN is that of the item, in the program or in the graph.
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

// split returns the component of an item in a URN, and the name that a provider computed, which may have slashes.
func (it *item) split(u urn.URN) (prefix, name string) {
	prefix = component(it.desired.URN())
	if name, ok := strings.CutPrefix(u.Name(), prefix); ok {
		return prefix, name
	}
	return component(u), last(u)
}

// isAstray reports whether the provider computed another name for the resource than it has: the deployment that should have
// moved it failed.
func (it *item) isAstray() bool {
	_, name := it.split(it.urn)
	return it.computed != "" && it.old != nil && isNumbered(it.desired.URN().Name()) && name != it.computed && !isNth(name, it.computed)
}

// ignoreChanges takes the properties whose changes are ignored from the graph.
func (it *item) ignoreChanges() {
	paths := it.desired.Options.Get("ignoreChanges")
	if it.old != nil && it.old.Inputs.Exists() && paths.Exists() { // What was made in part has no inputs.
		it.inputs = ignore(it.inputs, it.old.Inputs, paths)
	}
}
