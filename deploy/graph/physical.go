package graph

import (
	"strings"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// NameProperty is the property that holds the physical name of a resource named by the program.
const NameProperty = "name"

// IsDefaultName reports whether a physical name is the default for a URN: the name in the program. A program with that
// name leaves the choice to the engine.
func IsDefaultName(name lumigl.Value, u urn.URN) bool {
	text, ok := name.Text()
	return ok && (u.Name() == text || strings.HasSuffix(u.Name(), "/"+text)) // without the prefix of a component
}

// PhysicalName returns the physical name in the inputs, or the checked one if the inputs are unknown after a failure.
// isAuto reports whether the engine chose it.
func (r *Resource) PhysicalName() (name lumigl.Value, isAuto bool) {
	if name = r.Inputs.Get(NameProperty); !r.Inputs.Exists() {
		name = r.Checked.Get(NameProperty)
	}
	return name, r.AutoName || IsDefaultName(name, r.InProgram())
}

// NamedInputs returns the inputs with the text of a unique name in place of the expression.
func (r *Resource) NamedInputs() lumigl.Value {
	if _, _, isUnique := expr.Unique(r.Inputs.Get(NameProperty)); isUnique {
		return r.Inputs.With(NameProperty, r.Checked.Get(NameProperty))
	}
	return r.Inputs
}
