package breaking

import (
	"cmp"
	"slices"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
)

// use says in which direction values of a type travel.
type use struct {
	in  bool // from programs to the provider
	out bool // from the provider to programs
}

// usesOf finds how the declarations of a package are used by resources and the configuration, be it through each other.
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
		if kind := d.Head().Kind; kind == "resource" || kind == "config" {
			walk(schema.Properties(d), true)
		}
	}
	return uses
}

// replacedBy finds the structs and unions of the new version whose values resources already have below a property that
// replaces, and returns the first such property for each. A part that such a property gets replaces the resource.
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

// replaces reports whether a change of a new property replaces resources. Through is what messages add for a part of
// another property.
func (c *comparison) replaces(q property) (is bool, through string) {
	if symbol := c.replaced[q.of]; symbol != "" {
		return true, ", because it is part of " + symbol
	}
	return q.Replaces, ""
}

// isObject reports whether values of a declaration are parts of other values.
func isObject(d schema.Decl) bool { return d.Head().Kind == "struct" || d.Head().Kind == "union" }

// useOf returns how an old declaration is used. What nothing uses counts as an argument of something.
func (c *comparison) useOf(d schema.Decl) use {
	if u := c.uses[d]; u != (use{}) {
		return u
	}
	return use{in: true}
}

// relation says how the values of an old and a new type relate.
type relation struct {
	widens  bool // every old value is a new one
	narrows bool // every new value is an old one
	sameGo  bool // stubs have the same type
}

func (r relation) and(s relation) relation {
	return relation{r.widens && s.widens, r.narrows && s.narrows, r.sameGo && s.sameGo}
}

// relate compares types. A use of the same declaration is the same type: its own changes are findings of their own.
func (c *comparison) relate(old, new schema.Type) relation {
	if a, ok := old.(*schema.Ref); ok {
		if b, ok := new.(*schema.Ref); ok && c.pairs[a.Decl] == b.Decl {
			return relation{true, true, true}
		}
	}
	return c.relateValues(old, new)
}

// relateValues compares types by the values that they have.
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

// isWider reports whether one type has all values of an enum, or refers to all resources, and the other to some.
func isWider(wide, t schema.Type) bool {
	return wide == schema.String && hasKind(t, "enum") ||
		wide == schema.AnyResource && (isCapability(t) || hasKind(t, "union of resources"))
}

// alternative is what a value can be: a value of an enum, a resource that a capability refers to, a struct, or a variant.
type alternative struct {
	name string // as on the wire, if it has one
	kind string
	decl schema.Decl // that of the new version, if there is one
}

// alternatives returns what values of an enum, a capability, a struct or a union can be.
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

// within reports whether b has all of a, and a has any.
func within(a, b []alternative) bool {
	return len(a) > 0 && !slices.ContainsFunc(a, func(one alternative) bool { return !slices.Contains(b, one) })
}

func isCapability(t schema.Type) bool { return t == schema.AnyResource || hasKind(t, "resource") }

// hasKind reports whether a type is a use of a declaration of a kind.
func hasKind(t schema.Type, kind string) bool {
	ref, ok := t.(*schema.Ref)
	return ok && kindOf(ref.Decl) == kind
}

// kindOf returns the kind of a declaration, and of which kind the variants of a union are.
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

// change returns the code and the impact of a change of types, and a clause for the message.
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

// compareTypes reports that what is at old and new has another type.
func (c *comparison) compareTypes(old, new schema.Type, u use, at, now node) {
	code, impact, clause := c.relate(old, new).change(u)
	help := "keep the type, and add a property of the new one"
	if code == "TypeWidened" {
		help = ""
		if hasStructs(old) && !hasStructs(new) { // whose defaults are no longer filled in
			impact.Deployed = MayBreak
		}
	}
	c.report(code, impact, at, now, help, "changed type from %s to %s%s", typeText(old), typeText(new), clause)
}

func hasStructs(t schema.Type) bool {
	for ref := range schema.Refs(t) {
		if kind := kindOf(ref.Decl); kind == "struct" || kind == "union of structs" {
			return true
		}
	}
	return false
}

// typeText returns a type as it stands in an IDL, with declarations by their symbols.
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

// primitives are those that an IDL writes in another way than the model.
var primitives = map[schema.Primitive]string{
	schema.Number: "float64", schema.Asset: "*idl.Asset", schema.Archive: "*idl.Archive", schema.AnyResource: "*idl.Resource",
}
