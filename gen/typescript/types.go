package typescript

import "github.com/lumi-idl/lumi/idl/schema"

// primitives are the primitive types in TypeScript. The shape of each is a constant of the base package.
var primitives = map[schema.Primitive]struct{ typ, shape string }{
	schema.Bool:        {"boolean", "lumi.boolean"},
	schema.Number:      {"number", "lumi.number"},
	schema.String:      {"string", "lumi.string"},
	schema.Any:         {"any", "lumi.any"},
	schema.Asset:       {"lumi.Asset", "lumi.asset"},
	schema.Archive:     {"lumi.Archive", "lumi.archive"},
	schema.AnyResource: {"lumi.Resource", "lumi.anyResource"},
}

// typ returns a type as TypeScript writes it.
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

// shape returns the expression that describes a type at run time. Aliases are spelled out, unless they contain
// themselves.
func (f *file) shape(t schema.Type) string {
	switch t := t.(type) {
	case schema.Primitive:
		return primitives[t].shape
	case *schema.List:
		return "lumi.list(" + f.shape(t.Elem) + ")"
	case *schema.Map:
		if isString(t.Key) {
			return "lumi.map(" + f.shape(t.Elem) + ")"
		}
		return "lumi.map(" + f.shape(t.Elem) + ", " + f.shape(t.Key) + ")"
	case *schema.Ref:
		switch d := t.Decl.(type) {
		case *schema.Resource:
			return "lumi.resource(" + quote(d.Token) + ")"
		case *schema.Struct:
			return "lumi.struct(() => " + f.imports.name(d, true) + ")"
		case *schema.Enum:
			return "lumi.enum(() => " + f.imports.name(d, true) + ")"
		case *schema.Alias:
			if containsItself(d) {
				return "lumi.alias(() => " + f.imports.name(d, true) + ")"
			}
			return f.shape(d.Target)
		}
	}
	return ""
}

// isString reports whether a map's key may be any string.
func isString(key schema.Type) bool { return schema.Underlying(key) == schema.String }

// containsItself reports whether an alias is a list or map of itself, at any depth. A struct in between breaks the
// circle, since it has a shape of its own.
func containsItself(a *schema.Alias) bool {
	seen := map[*schema.Alias]bool{}
	for next := elementAlias(a.Target); next != nil && !seen[next]; next = elementAlias(next.Target) {
		if next == a {
			return true
		}
		seen[next] = true
	}
	return false
}

// elementAlias returns the alias that a type is, or is a list or map of, or nil.
func elementAlias(t schema.Type) *schema.Alias {
	for {
		switch u := t.(type) {
		case *schema.List:
			t = u.Elem
		case *schema.Map:
			t = u.Elem
		case *schema.Ref:
			alias, _ := u.Decl.(*schema.Alias)
			return alias
		default:
			return nil
		}
	}
}
