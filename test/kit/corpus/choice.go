package corpus

import (
	"strings"
)

// choice is a type and tag for a property. Its probability is proportional to weight.
type choice struct {
	weight int
	// typ is a Go type. Its placeholders are LOCAL for a resource in the same folder, OTHER for a resource in another
	// folder, and OWN for the current resource. In tag, FIELD is a placeholder for the field name.
	typ, tag string
}

// structTypes lists the choices allowed in both structs and resources.
var structTypes = []choice{
	{12, "string", ""},
	{16, "*string", "optional"},
	{6, "float64", ""},
	{8, "*float64", "optional"},
	{4, "bool", ""},
	{6, "*bool", "optional"},
	{4, "OWNState", ""},
	{3, "*[]string", "optional"},
	{3, "[]float64", ""},
	{3, "*map[string]string", "optional"},
	{2, "map[OWNState]float64", ""},
	{2, "*[][]string", "optional"},
	{2, "Labels", ""},
	{2, "*Rule", "optional"},
	{2, "*string", "optional,secret"},
	{2, "*string", "optional,name=my_FIELD"},
	{1, "string", "our_FIELD"},
	{2, "any", "optional"},
	{4, "*LOCAL", "optional"},
	{4, "*OTHER", "optional"},
	{2, "[]*LOCAL", ""},
	{2, "*[]OTHER", "optional"},
}

// resourceTypes adds the choices allowed only in resources.
var resourceTypes = append([]choice{
	{8, "string", "replaces"},
	{8, "*string", "optional,replaces"},
	{8, "string", "out"},
	{6, "*float64", "out,optional"},
	{4, "*string", "optional,in,secret"},
	{4, "*OTHER", "replaces"},
	{2, "*idl.Resource", "optional"},
	{2, "*idl.Asset", "optional"},
	{2, "*idl.Archive", "in"},
	{2, "*[]idl.Resource", "optional"},
	{2, "*OWNRule", "optional"},
	{2, "*map[string]OWNRule", "optional"},
}, structTypes...)

// choose returns a random type and tag, and records the imports of the type.
func (w *resourceWriter) choose(from []choice) (typ, tag string) {
	total := 0
	for _, c := range from {
		total += c.weight
	}
	n := w.rand.IntN(total)
	for _, c := range from {
		if n -= c.weight; n < 0 {
			return w.fill(c.typ), c.tag
		}
	}
	panic("corpus: the weights do not add up")
}

// fill replaces the placeholders in a type with random resources.
func (w *resourceWriter) fill(typ string) string {
	if len(w.earlier) == 0 {
		typ = strings.ReplaceAll(typ, "OTHER", "LOCAL")
	}
	if strings.Contains(typ, "OTHER") {
		number := w.earlier[w.rand.IntN(len(w.earlier))]
		w.imports[Module+"/"+IDL+"/"+folderName(number)] = true
		// Earlier folders always contain FolderSize resources.
		names := resourceNames(number, FolderSize)
		typ = strings.ReplaceAll(typ, "OTHER", folderName(number)+"."+names[w.rand.IntN(len(names))])
	}
	if strings.Contains(typ, "idl.") {
		w.imports[Lumi+"/idl"] = true
	}
	typ = strings.ReplaceAll(typ, "LOCAL", w.resources[w.rand.IntN(len(w.resources))])
	return strings.ReplaceAll(typ, "OWN", w.name)
}
