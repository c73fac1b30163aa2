package breaking

import (
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
)

// property is a property together with its declaration.
type property struct {
	*schema.Property
	of schema.Decl
}

func (p property) node() node {
	return node{p.of.Head().File, p.Pos, p.Field, symbolOf(p.of) + "." + p.Name}
}

// isPointer reports whether the stub field is a pointer.
func (p property) isPointer() bool { return (p.Pointer || p.Optional) && !p.Nilable() }

// useOfProperty returns the direction in which values of an old property travel.
func (c *comparison) useOfProperty(p property) use {
	if isObject(p.of) && !p.Out {
		return c.useOf(p.of)
	}
	return use{in: !p.Out, out: p.Out}
}

var propertyRules = []rule[property]{
	{"Property.Field", func(c *comparison, old, new property) {
		if (old.Name == new.Name || kindOf(old.of) == "union of resources") && old.Field != new.Field {
			c.report("FieldRenamed", Impact{Provider: Breaks}, old.node(), new.node(), "keep the field's name",
				"is now the field %s (was %s)", new.Field, old.Field)
		}
	}},
	{"Property.Type", func(c *comparison, old, new property) {
		c.compareTypes(old.Type, new.Type, old.Constraints, c.useOfProperty(old), old.node(), new.node())
	}},
	{"Property.Pointer", func(c *comparison, old, new property) {
		// A field that changes because of its type or optional is reported by those rules.
		alone := c.relate(old.Type, new.Type).sameGo && (old.Optional == new.Optional || old.Out != new.Out)
		if alone && old.Pointer != new.Pointer && old.isPointer() != new.isPointer() {
			form := map[bool]string{true: "a pointer", false: "a value"}
			c.report("PointerChanged", Impact{Provider: Breaks}, old.node(), new.node(), "keep the field's type",
				"is now %s in stubs (was %s)", form[new.isPointer()], form[old.isPointer()])
		}
	}},
	{"Property.Optional", compareOptional},
	{"Property.Out", compareOut},
	{"Property.Fixed", compareFixed},
	{"Property.Computed", settable(compareComputed)},
	{"Property.In", settable(flag(func(p property) bool { return p.In },
		change{"InAdded", Impact{Deployed: MayBreak}, "became in, so drift is no longer detected", ""},
		change{"InRemoved", Impact{Provider: MayBreak, Deployed: MayBreak}, "is no longer in, so the provider must return it", ""}))},
	{"Property.Replaces", settable(flag(func(p property) bool { return p.Replaces },
		change{"ReplacesAdded", Impact{Programs: MayBreak, Deployed: Breaks}, "became replaces, so its next change replaces the resource",
			"let the provider update it in place"},
		change{"ReplacesRemoved", Impact{Provider: MayBreak}, "is no longer replaces, so the provider must update it in place", ""}))},
	{"Property.Secret", flag(func(p property) bool { return p.Secret },
		change{"SecretAdded", Impact{Deployed: MayBreak}, "became secret, but older state and logs contain it in the clear", ""},
		change{"SecretRemoved", Impact{Deployed: Breaks}, "is no longer secret, so state, plans, and logs show it", "keep it secret"})},
	{"Property.Constraints", settable(func(c *comparison, old, new property) {
		was, is := constrained{old.Type, old.Constraints, old.node()}, constrained{new.Type, new.Constraints, new.node()}
		c.compareConstraints(c.useOfProperty(old), was, is, "", nil)
		c.compareUnique(c.useOfProperty(old), was, is)
	})},
	{"Property.Default", settable(compareDefaults)},
	{"Property.Was", func(c *comparison, old, new property) {
		c.compareFormerNames(old.Was, append([]string{new.Name}, new.Was...), old.node(), new.node())
	}},
}

// change describes the finding to report when an option is added or removed.
type change struct {
	code          diag.Code
	impact        Impact
	message, help string
}

// flag returns a rule that reports added if a boolean option was added, and removed if it was removed.
func flag(set func(property) bool, added, removed change) func(c *comparison, old, new property) {
	return func(c *comparison, old, new property) {
		made := added
		if set(old) {
			made = removed
		}
		if set(old) != set(new) {
			c.report(made.code, made.impact, old.node(), new.node(), made.help, "%s", made.message)
		}
	}
}

// settable restricts a rule to properties that programs can set in both versions.
func settable(compare func(c *comparison, old, new property)) func(c *comparison, old, new property) {
	return func(c *comparison, old, new property) {
		if !old.Out && !new.Out {
			compare(c, old, new)
		}
	}
}

func compareOut(c *comparison, old, new property) {
	removed := change{"OutRemoved", Impact{Breaks, MayBreak, Breaks, MayBreak}, "is no longer out, so programs set it",
		"keep it, and add an optional property"}
	if new.Computed { // programs still read it, and need not set it
		removed.impact, removed.message, removed.help = Impact{Provider: MayBreak}, "is no longer out, so programs can set it", ""
	}
	flag(func(p property) bool { return p.Out },
		change{"OutAdded", Impact{Breaks, MayBreak, Breaks, None}, "became out, so programs can no longer set it",
			"keep it, and add an out property"}, removed)(c, old, new)
}

func compareFixed(c *comparison, old, new property) {
	if !old.Out || !new.Out {
		return
	}
	flag(func(p property) bool { return p.Fixed },
		change{"FixedAdded", Impact{Provider: MayBreak}, "became fixed, so Update must no longer change it", ""},
		change{"FixedRemoved", Impact{Deployed: MayBreak},
			"is no longer fixed, so an update may replace resources that depend on it", "keep it fixed"})(c, old, new)
}

func compareComputed(c *comparison, old, new property) {
	deployed := MayBreak
	if new.Replaces {
		deployed = Breaks
	}
	flag(func(p property) bool { return p.Computed },
		change{"ComputedAdded", Impact{Programs: Breaks, Provider: MayBreak},
			"became computed, so programs read it as an output and can no longer assign it", ""},
		change{"ComputedRemoved", Impact{Breaks, None, Breaks, deployed},
			"is no longer computed, so resources without it lose the provider's value", "keep it computed"})(c, old, new)
}

func compareOptional(c *comparison, old, new property) {
	u, field := c.useOfProperty(old), unless(old.isPointer() == new.isPointer(), Breaks)
	switch {
	case old.Optional == new.Optional || old.Out != new.Out:
	case new.Optional:
		absent := unless(new.Computed, MayBreak) // programs always read a computed property as an output
		c.report("OptionalAdded", Impact{absent, max(field, MayBreak), when(u.out, absent), None}, old.node(), new.node(), "",
			"became optional, so it can be absent when read")
	default:
		c.report("OptionalRemoved", Impact{when(u.in, Breaks), field, when(u.in, Breaks), MayBreak}, old.node(), new.node(),
			"keep it optional, and let the provider choose a value", "became required")
	}
}

// compareProperties compares the properties of two declarations of the same kind, or the variants of two unions. Old is
// nil for a new configuration, whose properties all count as added.
func compareProperties(c *comparison, old, new schema.Decl) {
	if old != nil && !sameKind(old, new) {
		return
	}
	gone, come := propertiesOf(old, new), propertiesOf(new, old)
	names := map[string]string{} // old to new names
	pair := func(found func(p, q property), same func(p, q property) bool) {
		pairUp(&gone, &come, same, func(p, q property) {
			found(p, q)
			names[p.Name] = q.Name
			apply(c, propertyRules, p, q)
		})
	}
	none := func(p, q property) {}
	if kindOf(new) == "union of resources" { // variant names are not sent
		pair(none, func(p, q property) bool { return c.relate(p.Type, q.Type).widens })
	}
	pair(none, func(p, q property) bool { return p.Name == q.Name })
	pair(func(p, q property) {
		// State keeps the old name inside structs, so programs that read an output do not find the new name.
		deployed := when(isObject(p.of) && c.useOfProperty(p).out, MayBreak)
		c.report("PropertyNameChanged", Impact{Breaks, unless(p.Field == q.Field, Breaks), Breaks, deployed},
			p.node(), q.node().as(p.node()), "keep the name with `lumi:\"name="+p.Name+"\"` instead of was="+p.Name, "is now named %s", q.Name)
	}, func(p, q property) bool { return slices.Contains(q.Was, p.Name) })
	pair(func(p, q property) {
		c.report("PropertyRenamed", Impact{Breaks, unless(p.Field == q.Field, Breaks), Breaks, Breaks}, p.node(), q.node().as(p.node()),
			"keep the name with `lumi:\"name="+p.Name+"\"`, or keep it for existing state with was="+p.Name, "was removed; %s looks like its new name", q.Name)
	}, func(p, q property) bool {
		r := c.relate(p.Type, q.Type)
		_, unique := new.(*schema.Union) // types
		return p.Field == q.Field || p.Out == q.Out && r.widens && r.narrows && (unique || similar(p.Name, q.Name))
	})
	if u, ok := old.(*schema.Union); ok {
		c.compareVariants(u, new.(*schema.Union), gone, come, names)
		return
	}
	for _, p := range gone {
		c.report("PropertyRemoved", Impact{Breaks, Breaks, Breaks, None}, p.node(), declNode(new).as(p.node()),
			"keep it as an optional property until nothing uses it", "was removed")
	}
	for _, q := range come {
		replaces, through := c.replaces(q)
		if !q.Optional && (old == nil || c.useOfProperty(property{q.Property, old}).in) {
			clause := ""
			if replaces {
				clause = ", so setting it replaces resources" + through
			}
			c.report("RequiredPropertyAdded", Impact{Programs: Breaks, Wire: Breaks, Deployed: when(replaces, Breaks)},
				node{}, q.node(), "make it optional", "was added as a required property%s", clause)
		}
		if q.Default != nil && replaces {
			c.reportDefaultAdded(node{}, q, None)
		}
	}
	c.compareRelations(old, new, names)
}

// compareVariants reports changes specific to unions. Gone and come are the removed and added variants; names maps the
// remaining old names to new ones.
func (c *comparison) compareVariants(old, new *schema.Union, gone, come []property, names map[string]string) {
	u := c.useOf(old)
	// Programs cannot name the type of a resource they receive.
	programs := max(MayBreak, when(u.in || old.Tokens() == nil, Breaks))
	for _, p := range gone {
		c.report("VariantRemoved", Impact{programs, Breaks, when(u.in, Breaks), Breaks}, p.node(), declNode(new).as(p.node()),
			"keep it, and let the provider refuse it", "was removed")
	}
	for _, q := range come {
		c.report("VariantAdded", Impact{MayBreak, MayBreak, when(u.out, MayBreak), None}, node{}, q.node(), "", "was added as a variant")
	}
	last, reordered := 0, false
	for _, v := range old.Variants {
		if i := slices.IndexFunc(new.Variants, func(n *schema.Property) bool { return n.Name == names[v.Name] }); i >= 0 {
			last, reordered = i, reordered || i < last
		}
	}
	if reordered {
		c.report("VariantsReordered", Impact{Provider: Breaks}, declNode(old), declNode(new), "keep the order, and add variants at the end",
			"has its variants in a different order, which reorders the parameters of Match")
	}
}

// propertiesOf returns the properties of d. It omits the name of a named resource if the other version is not named.
func propertiesOf(d, other schema.Decl) []property {
	var list []property
	a, isResource := d.(*schema.Resource)
	for _, p := range schema.Properties(d) {
		if p.Name != "name" || !isResource || !a.Named || other.(*schema.Resource).Named {
			list = append(list, property{p, d})
		}
	}
	return list
}

// compareMembers compares the constants of two versions of an enum, matched by value and then by name.
func compareMembers(c *comparison, old, new *schema.Enum) {
	nodeOf := func(e *schema.Enum, m *schema.Member) node {
		return node{e.File, m.Pos, m.Name, symbolOf(e) + "." + m.Name}
	}
	keys := map[*schema.Member]string{}
	for _, e := range []*schema.Enum{old, new} {
		for i, key := range schema.MemberKeys(e) {
			keys[e.Members[i]] = key
		}
	}
	gone, come := slices.Clone(old.Members), slices.Clone(new.Members)
	pairUp(&gone, &come, func(m, n *schema.Member) bool { return m.Value == n.Value }, func(m, n *schema.Member) {
		var names []string
		var impact Impact
		if a, b := schema.GoName(old.File.Module, m.Name), schema.GoName(new.File.Module, n.Name); a != b {
			names, impact.Provider = append(names, b+" in Go (was "+a+")"), Breaks
		}
		if keys[m] != keys[n] {
			names, impact.Programs = append(names, keys[n]+" in TypeScript (was "+keys[m]+")"), when(old.Exported(), Breaks)
		} else if old.Name != new.Name {
			impact = Impact{} // renamed together with the enum
		}
		c.report("ConstantRenamed", impact, nodeOf(old, m), nodeOf(new, n).as(nodeOf(old, m)), "keep the names of all constants",
			"is called %s", strings.Join(names, " and "))
	})
	pairUp(&gone, &come, func(m, n *schema.Member) bool { return m.Name == n.Name }, func(m, n *schema.Member) {
		c.report("ValueChanged", Impact{Breaks, None, Breaks, Breaks}, nodeOf(old, m), nodeOf(new, n), "keep the value",
			"has the value %q (was %q)", n.Value, m.Value)
	})
	for _, m := range gone {
		c.report("ValueRemoved", Impact{Breaks, Breaks, Breaks, Breaks}, nodeOf(old, m), declNode(new).as(nodeOf(old, m)),
			"keep it, and let the provider refuse it", "was removed with its value %q", m.Value)
	}
	for _, n := range come {
		c.report("ValueAdded", Impact{MayBreak, MayBreak, when(c.useOf(old).out, MayBreak), None}, node{}, nodeOf(new, n), "",
			"was added with the value %q", n.Value)
	}
}
