package typescript

import (
	"strings"

	"github.com/lumi-idl/lumi/idl/schema"
)

// described is documentation with what editors show about deprecation.
func described(doc, deprecated string) string {
	if deprecated == "" {
		return doc
	}
	return strings.TrimSpace(doc + "\n\n@deprecated " + deprecated)
}

// annotate writes what a property's shape has besides the type and the flags.
func (f *file) annotate(p *schema.Property) {
	if p.Deprecated != "" && !p.Out {
		f.generation = constrainedGeneration
		f.put(", lumi.deprecated(", quote(p.Deprecated), ")")
	}
}

// deprecated writes the call that makes the base package warn of a shape or of values in a table, if something is.
func (f *file) deprecated(table, text string, is bool) {
	if is {
		f.usesLumi, f.loadsLumi, f.generation = true, true, constrainedGeneration
		f.put("\nlumi.deprecate(", table, ", ", text, ");\n")
	}
}

// deprecatedValues writes what to use instead of the deprecated values of an enum.
func (f *file) deprecatedValues(e *schema.Enum) {
	var entries []string
	for _, m := range e.Members {
		if text := e.ValueDeprecated(m); text != "" {
			entries = append(entries, indent+"["+quote(m.Value)+"]: "+quote(text)+",\n")
		}
	}
	f.deprecated(e.Name, "{\n"+strings.Join(entries, "")+"}", len(entries) > 0)
}
