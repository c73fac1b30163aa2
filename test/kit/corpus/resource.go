package corpus

import (
	"bytes"
	"fmt"
	"strings"
)

// resourceWriter writes the file of one resource.
type resourceWriter struct {
	*folder
	name    string
	imports map[string]bool
	body    bytes.Buffer
}

// resource writes the resource, with 9 to 15 properties.
func (w *resourceWriter) resource() {
	marker, extra := w.marker()
	w.printf("\n// %s is a resource. %s\n", w.name, w.sentence())
	w.printf("type %s struct {\n\t%s\n", w.name, marker)
	if extra != "" {
		w.printf("\t%s\n", extra)
	}
	fields := w.fieldNames(9 + w.rand.IntN(7))
	// The first three properties use the resource's own structs and enum.
	w.field(fields[0], w.name+"Spec", "")
	w.field(fields[1], "*[]"+w.name+"Rule", "optional")
	w.field(fields[2], "*"+w.name+"State", "optional")
	for _, field := range fields[3:] {
		typ, tag := w.choose(resourceTypes)
		w.field(field, typ, tag)
	}
	w.printf("}\n")
}

// marker returns a random marker for the resource, and a struct to embed in addition, or "" if there is none.
func (w *resourceWriter) marker() (marker, extra string) {
	switch n := w.rand.IntN(10); {
	case n < 5:
		marker = "idl.NamedResource"
	case n < 7:
		marker, extra = "idl.NamedResource", "Labeled"
	case n < 9:
		marker = "idl.Resource"
	default:
		// The struct owned embeds a marker, so this file does not need to import the package.
		return "owned", ""
	}
	w.imports[Lumi+"/idl"] = true
	return marker, extra
}

// structs writes the resource's two structs, with five properties each.
func (w *resourceWriter) structs() {
	for _, suffix := range []string{"Spec", "Rule"} {
		w.printf("\n// %s%s is a part of %s.\n", w.name, suffix, w.name)
		w.printf("type %s%s struct {\n", w.name, suffix)
		for _, field := range w.fieldNames(5) {
			typ, tag := w.choose(structTypes)
			w.field(field, typ, tag)
		}
		w.printf("}\n")
	}
}

// enum writes the resource's enum, with three to six constants.
func (w *resourceWriter) enum() {
	typ := w.name + "State"
	w.printf("\n// %s is the state of %s.\n", typ, w.name)
	w.printf("type %s string\n\n// The states.\nconst (\n", typ)
	for _, i := range w.rand.Perm(len(states))[:3+w.rand.IntN(4)] {
		w.printf("\t// The state in which it is %s.\n", states[i])
		w.printf("\t%s%s %s = %q\n", typ, states[i], typ, states[i])
	}
	w.printf(")\n")
}

// field writes one documented field.
func (w *resourceWriter) field(name, typ, tag string) {
	w.printf("\t// %s is a property of the resource. %s\n", name, w.sentence())
	w.printf("\t%s %s", name, typ)
	if tag != "" {
		w.printf(" `lumi:%q`", strings.ReplaceAll(tag, "FIELD", name))
	}
	w.printf("\n")
}

// fieldNames returns n distinct names.
func (w *resourceWriter) fieldNames(n int) []string {
	names := make([]string, n)
	for i, k := range w.rand.Perm(len(aspects) * len(qualities))[:n] {
		names[i] = aspects[k%len(aspects)] + qualities[k/len(aspects)]
	}
	return names
}

func (w *resourceWriter) sentence() string { return sentences[w.rand.IntN(len(sentences))] }

func (w *resourceWriter) printf(format string, args ...any) { fmt.Fprintf(&w.body, format, args...) }
