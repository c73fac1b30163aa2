package breaking

import (
	"cmp"
	"math"
	"slices"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
)

// use is the direction in which values of a type travel.
type use struct {
	in  bool // from programs to the provider
	out bool // from the provider to programs
}

// usesOf returns the direction in which each declaration is used, directly or indirectly, by resources, functions, and
// the configuration.
func usesOf(p *schema.Package) map[schema.Decl]use {
	uses := map[schema.Decl]use{}
	var walk func(properties []*schema.Property, in bool)
	walk = func(properties []*schema.Property, in bool) {
		for _, p := range properties {
			in := in && !p.Out
			for ref := range schema.Refs(p.Type) {
				u := uses[ref.Decl]
				if in && u.in || !in && u.out {
					continue
				}
				uses[ref.Decl] = use{u.in || in, u.out || !in}
				if isObject(ref.Decl) {
					walk(schema.Properties(ref.Decl), in)
				}
			}
		}
	}
	for d := range p.Decls() {
		if kind := d.Head().Kind; kind == "resource" || kind == "config" || kind == "function" {
			walk(schema.Properties(d), true)
		}
	}
	return uses
}

// replacedBy finds the structs and unions nested in replacement-triggering properties of existing resources. It maps
// each to the first such property's symbol. Adding a value inside one of them replaces the resource.
func (c *comparison) replacedBy() map[schema.Decl]string {
	had := map[*schema.Property]bool{}
	for old := range c.pairs {
		for _, p := range schema.Properties(old) {
			had[c.successor(property{p, old})] = true
		}
	}
	replaced := map[schema.Decl]string{}
	var walk func(q property, symbol string)
	walk = func(q property, symbol string) {
		if !had[q.Property] {
			return
		}
		for ref := range schema.Refs(q.Type) {
			if d := ref.Decl; isObject(d) && replaced[d] == "" {
				replaced[d] = symbol
				for _, p := range schema.Properties(d) {
					walk(property{p, d}, symbol)
				}
			}
		}
	}
	for d := range c.new.Package.Decls() {
		for _, p := range schema.Properties(d) {
			if d.Head().Kind == "resource" && p.Replaces {
				walk(property{p, d}, symbolOf(d)+"."+p.Name)
			}
		}
	}
	return replaced
}

// replaces reports whether setting the new property q replaces the resource. If an enclosing property is the cause,
// through explains it in a clause for messages.
func (c *comparison) replaces(q property) (is bool, through string) {
	if symbol := c.replaced[q.of]; symbol != "" {
		return true, ", because it is part of " + symbol
	}
	return q.Replaces, ""
}

// isObject reports whether d is a struct or a union, whose values are nested in other values.
func isObject(d schema.Decl) bool { return d.Head().Kind == "struct" || d.Head().Kind == "union" }

// useOf returns the direction in which an old declaration is used. Unused declarations count as inputs.
func (c *comparison) useOf(d schema.Decl) use {
	if u := c.uses[d]; u != (use{}) {
		return u
	}
	return use{in: true}
}

// relation describes how the values of an old type relate to the values of a new type.
type relation struct {
	widens  bool // every old value is also a new one
	narrows bool // every new value is also an old one
	sameGo  bool // both have the same type in Go stubs
}

func (r relation) and(s relation) relation {
	return relation{r.widens && s.widens, r.narrows && s.narrows, r.sameGo && s.sameGo}
}

// relate compares two types. References to the same declaration count as equal, since changes are reported at the
// declaration.
func (c *comparison) relate(old, new schema.Type) relation {
	if a, ok := old.(*schema.Ref); ok {
		if b, ok := new.(*schema.Ref); ok && c.pairs[a.Decl] == b.Decl {
			return relation{true, true, true}
		}
	}
	return c.relateValues(old, new)
}

// relateValues compares two types by the values they accept.
func (c *comparison) relateValues(old, new schema.Type) relation {
	old, new = schema.Underlying(old), schema.Underlying(new)
	switch a := old.(type) {
	case schema.Primitive:
		if a == new {
			return relation{true, true, true}
		}
	case *schema.List:
		if b, ok := new.(*schema.List); ok {
			return c.relate(a.Elem, b.Elem)
		}
	case *schema.Map:
		if b, ok := new.(*schema.Map); ok {
			return c.relate(a.Key, b.Key).and(c.relate(a.Elem, b.Elem))
		}
	}
	was, is := c.alternatives(old), c.alternatives(new)
	return relation{
		widens:  new == schema.Any || isWider(new, old) || within(was, is),
		narrows: old == schema.Any || isWider(old, new) || within(is, was),
		sameGo:  isCapability(old) && isCapability(new),
	}
}

// isWider reports whether wide accepts every value of t: string for an enum, or any resource for a specific one.
func isWider(wide, t schema.Type) bool {
	return wide == schema.String && hasKind(t, "enum") || wide == schema.Number && t == schema.Int ||
		wide == schema.AnyResource && (isCapability(t) || hasKind(t, "union of resources"))
}

// alternative is one of the possible values of a type: an enum value, a referenced resource type, a struct, or a
// variant.
type alternative struct {
	name string // as sent on the wire, or empty
	kind string
	decl schema.Decl // in the new version, or nil
}

// alternatives returns the possible values of an enum, a resource reference, a struct, or a union. It returns nil for
// other types.
func (c *comparison) alternatives(t schema.Type) (list []alternative) {
	ref, ok := t.(*schema.Ref)
	if !ok {
		return nil
	}
	switch d := ref.Decl.(type) {
	case *schema.Enum:
		for _, m := range d.Members {
			list = append(list, alternative{name: m.Value})
		}
	case *schema.Union:
		for _, v := range d.Variants {
			for _, one := range c.alternatives(v.Type) {
				if d.Tokens() == nil {
					one.name = v.Name
				}
				list = append(list, one)
			}
		}
	default:
		list = []alternative{{kind: kindOf(d), decl: cmp.Or(c.pairs[d], d)}}
	}
	return list
}

// within reports whether a is a nonempty subset of b.
func within(a, b []alternative) bool {
	return len(a) > 0 && !slices.ContainsFunc(a, func(one alternative) bool { return !slices.Contains(b, one) })
}

func isCapability(t schema.Type) bool { return t == schema.AnyResource || hasKind(t, "resource") }

// hasKind reports whether t refers to a declaration of the given kind.
func hasKind(t schema.Type, kind string) bool {
	ref, ok := t.(*schema.Ref)
	return ok && kindOf(ref.Decl) == kind
}

// kindOf returns the kind of a declaration. For a union, it also names the kind of its variants, as in "union of
// structs".
func kindOf(d schema.Decl) string {
	kind := d.Head().Kind
	if u, ok := d.(*schema.Union); ok {
		kind += " of structs"
		if u.Tokens() != nil {
			kind = "union of resources"
		}
	}
	return kind
}

// change returns the diagnostic code and impact of a type change, and a clause to append to the message.
func (r relation) change(u use) (code diag.Code, impact Impact, clause string) {
	switch {
	case r.widens && r.narrows:
		return "TypeChanged", Impact{Provider: unless(r.sameGo, Breaks)}, ""
	case r.widens:
		return "TypeWidened", Impact{MayBreak, max(MayBreak, unless(r.sameGo, Breaks)), when(u.out, MayBreak), None},
			", which has more values"
	case r.narrows:
		return "TypeNarrowed", Impact{MayBreak, unless(r.sameGo, Breaks), when(u.in, MayBreak), MayBreak},
			", which has fewer values"
	}
	return "TypeChanged", Impact{Breaks, max(MayBreak, unless(r.sameGo, Breaks)), Breaks, Breaks}, ""
}

func when(condition bool, s Severity) Severity {
	if condition {
		return s
	}
	return None
}

func unless(condition bool, s Severity) Severity { return when(!condition, s) }

// compareTypes reports a type change from the node at to the node now.
func (c *comparison) compareTypes(old, new schema.Type, limits *schema.Constraints, u use, at, now node) {
	r := c.relate(old, new)
	code, impact, clause := r.change(u)
	if r.narrows && !r.widens && schema.Underlying(new) == schema.Int && (isWhole(limits) || isWhole(schema.ConstraintsOf(old))) {
		code, impact, clause = "TypeChanged", Impact{Provider: Breaks}, ""
	}
	help := "keep the type, and add a property of the new one"
	if code == "TypeWidened" {
		help = ""
		if hasStructs(old) && !hasStructs(new) { // defaults inside structs are no longer filled in
			impact.Deployed = MayBreak
		}
	}
	c.report(code, impact, at, now, help, "changed type from %s to %s%s", typeText(old), typeText(new), clause)
}

// isWhole reports whether the constraints exclude fractions.
func isWhole(c *schema.Constraints) bool {
	return c != nil && c.MultipleOf != nil && *c.MultipleOf == math.Trunc(*c.MultipleOf)
}

func hasStructs(t schema.Type) bool {
	for ref := range schema.Refs(t) {
		if kind := kindOf(ref.Decl); kind == "struct" || kind == "union of structs" {
			return true
		}
	}
	return false
}

// typeText formats a type as IDL source, naming declarations by their symbols.
func typeText(t schema.Type) string {
	switch t := t.(type) {
	case schema.Primitive:
		if text, ok := primitives[t]; ok {
			return text
		}
		return string(t)
	case *schema.List:
		return "[]" + typeText(t.Elem)
	case *schema.Map:
		return "map[" + typeText(t.Key) + "]" + typeText(t.Elem)
	case *schema.Ref:
		if isCapability(t) {
			return "*" + symbolOf(t.Decl)
		}
		return symbolOf(t.Decl)
	}
	return ""
}

// primitives maps primitive types whose IDL syntax differs from their model name.
var primitives = map[schema.Primitive]string{
	schema.Number: "float64", schema.Asset: "*idl.Asset", schema.Archive: "*idl.Archive", schema.AnyResource: "*idl.Resource",
}
