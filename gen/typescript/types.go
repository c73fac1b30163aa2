package typescript

import (
	"strings"

	"github.com/lumi-idl/lumi/idl/schema"
)

// primitives maps each primitive type to its TypeScript type and its shape, which is a constant of the runtime package.
var primitives = map[schema.Primitive]struct{ typ, shape string }{
	schema.Bool:        {"boolean", "lumi.boolean"},
	schema.Number:      {"number", "lumi.number"},
	schema.Int:         {"number", "lumi.integer"},
	schema.String:      {"string", "lumi.string"},
	schema.Any:         {"any", "lumi.any"},
	schema.Asset:       {"lumi.Asset", "lumi.asset"},
	schema.Archive:     {"lumi.Archive", "lumi.archive"},
	schema.AnyResource: {"lumi.Resource", "lumi.anyResource"},
}

// typ returns the TypeScript type for a type of the model.
func (f *file) typ(t schema.Type) string {
	switch t := t.(type) {
	case schema.Primitive:
		if t == schema.Asset || t == schema.Archive || t == schema.AnyResource {
			f.usesLumi = true
		}
		return primitives[t].typ
	case *schema.List:
		return f.typ(t.Elem) + "[]"
	case *schema.Map:
		if isString(t.Key) {
			return "{ [key: " + f.typ(t.Key) + "]: " + f.typ(t.Elem) + " }"
		}
		return "{ [key in " + f.typ(t.Key) + "]?: " + f.typ(t.Elem) + " }"
	case *schema.Ref:
		return f.imports.name(t.Decl, false)
	}
	return ""
}

// shape returns the expression that describes a type at run time. Aliases are expanded, since they are never recursive.
func (f *file) shape(t schema.Type) string {
	switch t := t.(type) {
	case schema.Primitive:
		if t == schema.Int {
			f.needs(secondGeneration)
		}
		return primitives[t].shape
	case *schema.List:
		return "lumi.list(" + f.shape(t.Elem) + ")"
	case *schema.Map:
		if isString(t.Key) && schema.ConstraintsOf(t.Key) == nil {
			return "lumi.map(" + f.shape(t.Elem) + ")"
		}
		return "lumi.map(" + f.shape(t.Elem) + ", " + f.shape(t.Key) + ")"
	case *schema.Ref:
		switch d := t.Decl.(type) {
		case *schema.Resource:
			return "lumi.resource(" + quote(d.Token) + ")"
		case *schema.Union:
			if tokens := d.Tokens(); tokens != nil {
				f.needs(constrainedGeneration)
				return "lumi.union(" + quoteAll(tokens) + ")"
			}
			return "lumi.struct(() => " + f.imports.name(d, true) + ")"
		case *schema.Struct:
			return "lumi.struct(() => " + f.imports.name(d, true) + ")"
		case *schema.Enum:
			return "lumi.enum(() => " + f.imports.name(d, true) + ")"
		case *schema.Alias:
			return f.constrained(f.shape(d.Target), d.Constraints)
		}
	}
	return ""
}

// isString reports whether a map with this key type accepts any string as a key, disregarding constraints.
func isString(key schema.Type) bool { return schema.Underlying(key) == schema.String }

// constrained returns the expression for a shape with constraints.
func (f *file) constrained(shape string, constraints *schema.Constraints) string {
	if constraints == nil {
		return shape
	}
	f.needs(constrainedGeneration)
	var members []string
	if constraints.Equal != "" {
		f.needs(secondGeneration)
	}
	for name, arg := range constraints.All() {
		members = append(members, name+": "+literal(arg))
	}
	return "lumi.constrained(" + shape + ", { " + strings.Join(members, ", ") + " })"
}
