package breaking

import (
	"reflect"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/idl/schema"
)

// group is a relation between properties of both versions, identified by their new names. The relations conflictsWith
// and requiredWith are split into pairs; exactlyOneOf may have any number of members. Order matters only for
// requiredWith.
type group struct {
	rule  string
	names []string
	// others is set if exactlyOneOf also names properties missing from one version.
	others bool
	// text is the relation, formatted as a tag option.
	text string
	node node
}

// groupsOf returns the relations of a declaration. NameOf returns the new name of a property, or "" if the property is
// missing from the other version.
func groupsOf(d schema.Decl, nameOf func(*schema.Property) string) (list []group) {
	for _, r := range schema.Relations(schema.Properties(d)) {
		sets := [][]*schema.Property{r.Properties}
		if r.Rule != "exactlyOneOf" {
			sets = nil
			for _, p := range r.Properties[1:] {
				sets = append(sets, []*schema.Property{r.Properties[0], p})
			}
		}
		for _, set := range sets {
			g := group{rule: r.Rule, node: property{set[0], d}.node()}
			var named []string
			for i, p := range set {
				g.names = append(g.names, nameOf(p))
				if i > 0 {
					named = append(named, p.Name)
				}
			}
			if g.text = r.Rule + "=" + named[0]; len(named) > 1 {
				g.text = r.Rule + "='" + strings.Join(named, ",") + "'"
			}
			if r.Rule == "exactlyOneOf" {
				g.names = slices.DeleteFunc(g.names, func(name string) bool { return name == "" })
				g.others = len(g.names) < len(set)
			}
			if r.Rule != "requiredWith" {
				slices.Sort(g.names)
			}
			list = append(list, g)
		}
	}
	return list
}

// holds reports whether list contains a relation equivalent to g.
func (g group) holds(list []group) bool {
	return slices.ContainsFunc(list, func(other group) bool {
		if g.rule == "conflictsWith" && other.rule == "exactlyOneOf" {
			return slices.Contains(other.names, g.names[0]) && slices.Contains(other.names, g.names[1])
		}
		return g.rule == other.rule && slices.Equal(g.names, other.names)
	})
}

// compareRules compares the rules of two declarations. Rules with the same expression are the same, and so are, if the
// expression changed, rules with the same message.
func compareRules(c *comparison, old, new schema.Decl) {
	if !c.useOfProperty(property{&schema.Property{}, old}).in {
		return
	}
	gone, come := schema.Rules(old), schema.Rules(new)
	gone, come = slices.Clone(gone), slices.Clone(come)
	pairUp(&gone, &come, func(r, s *schema.Rule) bool { return reflect.DeepEqual(c.renamed(r.Expr, old), s.Expr) }, func(r, s *schema.Rule) {})
	refused, help := Impact{MayBreak, None, MayBreak, MayBreak}, "check it in the provider, and only for new resources"
	pairUp(&gone, &come, func(r, s *schema.Rule) bool { return r.Message == s.Message }, func(_, s *schema.Rule) {
		c.report("RuleChanged", refused, declNode(old), declNode(new), help, "has a changed rule %q", s.Message)
	})
	for _, s := range come {
		c.report("RuleAdded", refused, node{}, declNode(new), help, "has the new rule %q", s.Message)
	}
}

// renamed returns an expression over properties of d with their new names.
func (c *comparison) renamed(expr any, d schema.Decl) any {
	list, ok := expr.([]any)
	if !ok {
		return expr
	}
	list = slices.Clone(list)
	from := map[any]int{"get": 1, "has": 1, "default": 2}[list[0]]
	for i := range list[1:] {
		if from == 0 {
			list[i+1] = c.renamed(list[i+1], d)
		}
	}
	for i := from; from > 0 && i < len(list); i++ {
		siblings := schema.Properties(d)
		at := slices.IndexFunc(siblings, func(p *schema.Property) bool { return p.Name == list[i] })
		if q := c.successor(property{siblings[at], d}); q != nil {
			list[i] = q.Name
		}
		if ref, ok := schema.Underlying(siblings[at].Type).(*schema.Ref); ok {
			d = ref.Decl
		}
	}
	return list
}

// compareRelations reports added and removed relations between properties. Names maps old property names to new ones.
func (c *comparison) compareRelations(old, new schema.Decl, names map[string]string) {
	if old == nil || !c.useOfProperty(property{&schema.Property{}, old}).in {
		return
	}
	known, required := map[string]bool{}, map[string]bool{}
	for _, p := range schema.Properties(old) {
		if name := names[p.Name]; name != "" {
			known[name], required[name] = true, !p.Optional && !p.Out
		}
	}
	was := groupsOf(old, func(p *schema.Property) string { return names[p.Name] })
	is := groupsOf(new, func(p *schema.Property) string {
		if known[p.Name] {
			return p.Name
		}
		return ""
	})
	refused, accepted := Impact{MayBreak, None, MayBreak, MayBreak}, Impact{Provider: MayBreak}
	changed := map[string]bool{}
	for _, g := range is {
		i := slices.IndexFunc(was, func(o group) bool {
			return g.rule == "exactlyOneOf" && o.rule == g.rule && slices.ContainsFunc(o.names, func(name string) bool { return slices.Contains(g.names, name) })
		})
		switch {
		case i >= 0:
			impact := Impact{MayBreak, MayBreak, MayBreak, MayBreak}
			if slices.Equal(was[i].names, g.names) {
				impact = Impact{Provider: when(g.others, MayBreak)}
			}
			changed[was[i].text] = true
			c.report("RelationChanged", impact, was[i].node, g.node, "keep the group", "has the relation %s (was %s)", g.text, was[i].text)
		// Old programs set all required properties and no new ones.
		case g.rule == "conflictsWith" && slices.Contains(g.names, ""), g.rule == "requiredWith" && g.names[0] == "", g.holds(was),
			g.rule == "exactlyOneOf" && g.others && len(g.names) == 1 && required[g.names[0]]:
		default:
			c.report("RelationAdded", refused, node{}, g.node, "check it in the provider, and only for new resources",
				"has the new relation %s", g.text)
		}
	}
	for _, g := range was {
		if !changed[g.text] && !slices.Contains(g.names, "") && !g.holds(is) && (g.rule != "exactlyOneOf" || len(g.names) > 1) {
			at := declNode(new)
			for _, p := range schema.Properties(new) {
				if slices.Contains(g.names, p.Name) {
					at = property{p, new}.node()
					break
				}
			}
			c.report("RelationRemoved", accepted, g.node, at, "", "no longer has the relation %s", g.text)
		}
	}
}
