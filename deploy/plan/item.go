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
	// urn is the resource's URN. Until the provider chooses a name, it is the URN used in the program.
	urn urn.URN
	// reference is the vertex with the final URN, the target of references in stored values.
	reference *lumigl.Vertex
	// old is the resource in the graph to compare with, or nil if there is none.
	old *graph.Resource
	// inputs holds the properties with outputs substituted. Outputs of changing resources stay references.
	inputs lumigl.Value
	// options holds the program's options, with references to final URNs.
	options lumigl.Value
	// hasFiles is set if inputs contains an asset or an archive. Only the provider can compare their contents.
	hasFiles bool
	// computed is the name computed by the provider, if known.
	computed string
	// sameName is set if the provider chose the name of the old resource.
	sameName bool
	// untouched is set if the resource is not a target or a dependency of one.
	untouched bool
	// step is nil until decided. It stays nil for a nonexistent resource that is untouched.
	step *Step
}

// isCalled reports whether u identifies the item in the program or in the graph.
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

// split splits the name in a URN of the item into its component prefix and the computed name, which may contain
// slashes.
func (it *item) split(u urn.URN) (prefix, name string) {
	prefix = component(it.desired.URN())
	if name, ok := strings.CutPrefix(u.Name(), prefix); ok {
		return prefix, name
	}
	return component(u), last(u)
}

// isMisnamed reports whether the resource does not have the name computed by its provider, because the deployment that
// was to rename it failed.
func (it *item) isMisnamed() bool {
	_, name := it.split(it.urn)
	return it.computed != "" && it.old != nil && isNumbered(it.desired.URN().Name()) && name != it.computed && !isNth(name, it.computed)
}

// ignoresAs reports whether the option "ignoreChanges" is the same as before. Otherwise, the actual value of a property may
// differ from the program's, although the inputs are equal.
func (it *item) ignoresAs(old *graph.Resource) bool {
	const option = "ignoreChanges"
	return it.options.Get(option).Equal(old.Options.Get(option))
}

// ignoreChanges resets properties listed in the option "ignoreChanges" to their values in the graph.
func (it *item) ignoreChanges() {
	paths := it.desired.Options.Get("ignoreChanges")
	if it.old != nil && it.old.Inputs.Exists() && paths.Exists() { // Partially created resources have no inputs.
		it.inputs = Ignore(it.inputs, it.old.Inputs, paths)
	}
}

// keepImport resets the option "import" of an existing resource to its value in the graph: it has done its work, so adding or
// removing it is no change. An id that is not the resource's stays.
func (it *item) keepImport() {
	const option = "import"
	if it.old == nil {
		return
	}
	given, stored := it.options.Get(option), it.old.Options.Get(option)
	if id, _ := given.Text(); !given.Equal(stored) && (!given.Exists() || id == it.old.ID) {
		if it.options = it.options.With(option, stored); it.options.Len() == 0 {
			it.options = lumigl.Value{}
		}
	}
}
