package breaking

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/idl/schema"
)

// rule compares one field of the schema model between two versions. A test checks that every field has a rule.
type rule[T any] struct {
	field   string
	compare func(c *comparison, old, new T)
}

func apply[T any](c *comparison, rules []rule[T], old, new T) {
	for _, r := range rules {
		r.compare(c, old, new)
	}
}

func (c *comparison) comparePackages(old, new *schema.Package) {
	if old.Name != new.Name {
		c.report("PackageRenamed", Impact{None, MayBreak, Breaks, Breaks}, node{}, fileNode(new.Name, new.Files()),
			"keep the name: --package="+old.Name, "is the new package name (was %s)", old.Name)
	}
	if old.NPM != "" && new.NPM != "" && old.NPM != new.NPM {
		c.report("NPMRenamed", Impact{Programs: MayBreak}, node{}, fileNode(new.Name, new.Files()),
			"keep the name: npm="+old.NPM, "is now the npm package %s (was %s)", new.NPM, old.NPM)
	}
	for _, m := range old.Modules {
		for _, n := range new.Modules {
			if m.Path == n.Path && m.GoName != n.GoName {
				c.report("GoPackageRenamed", Impact{Provider: Breaks}, node{}, fileNode(n.Token(), slices.Values(n.Files)),
					"write package "+m.GoName, "is now the Go package %s (was %s)", n.GoName, m.GoName)
			}
		}
	}
	gone, come := c.pair()
	c.replaced = c.replacedBy()
	for d := range old.Decls() {
		if match := c.pairs[d]; match != nil {
			c.stateless = d.Head().Kind == "function"
			apply(c, declRules, d, match)
			c.stateless = false
		}
	}
	for _, d := range gone {
		f, at := d.Head().File, node{}
		for now := range new.Files() {
			if now.Path() == f.Path() {
				at = node{file: now}
			}
		}
		c.report("DeclarationRemoved", goneImpact(d), declNode(d), at.as(declNode(d)), "keep it until nothing uses it", "was removed")
	}
	for _, d := range come {
		if d.Head().Kind == "config" { // programs did not have to set its required properties before
			compareProperties(c, nil, d)
		}
	}
}

// fileNode returns a node for a package or module, positioned at the first of its files.
func fileNode(symbol string, files iter.Seq[*schema.File]) node {
	for f := range files {
		return node{file: f, symbol: symbol}
	}
	return node{symbol: symbol}
}

// goneImpact returns the impact of removing or moving a declaration.
func goneImpact(d schema.Decl) Impact {
	kind := d.Head().Kind
	resource := when(kind == "resource", Breaks)
	return Impact{when(d.Head().Exported(), Breaks), Breaks, max(resource, when(kind == "config" || kind == "function", Breaks)), resource}
}

var declRules = []rule[schema.Decl]{
	{"Header.File", compareFiles},
	{"Header.Kind", compareKinds},
	{"Header.Name", compareNames},
	{"Resource.Token", of(func(c *comparison, old, new *schema.Resource) {
		if tokenMoved(old, new, old.Token, new.Token) && !wasCalled(old, new) {
			c.report("TokenMoved", Impact{Wire: Breaks, Deployed: Breaks}, declNode(old), declNode(new),
				"keep its file and --tokens, or keep it for existing state with //lumi:was='"+old.Token+"'", "has the type token %s (was %s)", new.Token, old.Token)
		}
	})},
	{"Resource.Named", of(func(c *comparison, old, new *schema.Resource) {
		if old.Named != new.Named {
			whose := map[bool]string{true: "the program", false: "the provider"}
			// The provider either lacks a Name method or has one that is never called.
			c.report("NamingChanged", Impact{Breaks, max(MayBreak, when(old.Named, Breaks)), Breaks, Breaks}, declNode(old), declNode(new),
				"keep the marker, and declare another resource", "is now named by %s (was named by %s)", whose[new.Named], whose[old.Named])
		}
	})},
	{"Resource.NameScope", of(func(c *comparison, old, new *schema.Resource) {
		for _, p := range old.Properties {
			now := c.successor(property{p, old})
			if p.Name == old.NameScope && (now == nil || now.Name != new.NameScope) {
				c.report("NameScopeChanged", Impact{Programs: MayBreak, Deployed: MayBreak}, declNode(old), declNode(new), "keep the scope",
					"no longer has names that are unique within %s", old.NameScope)
			}
		}
	})},
	{"Resource.Was", of(func(c *comparison, old, new *schema.Resource) {
		for _, token := range old.Was {
			if !holds(append([]string{new.Token}, new.Was...), token) {
				c.formerNameRemoved(strings.TrimPrefix(token, strings.TrimSuffix(old.Token, old.Name)), declNode(old), declNode(new))
			}
		}
	})},
	{"Function.Token", of(func(c *comparison, old, new *schema.Function) {
		if tokenMoved(old, new, old.Token, new.Token) {
			c.report("TokenMoved", Impact{Wire: Breaks}, declNode(old), declNode(new), "keep its file and --tokens",
				"has the type token %s (was %s)", new.Token, old.Token)
		}
	})},
	{"Properties", compareProperties},
	{"Rules", compareRules},
	{"Enum.Members", of(compareMembers)},
	{"Alias.Target", of(func(c *comparison, old, new *schema.Alias) {
		c.compareTypes(old.Target, new.Target, old.Constraints, c.useOf(old), declNode(old), declNode(new))
	})},
	{"Alias.Constraints", of(func(c *comparison, old, new *schema.Alias) {
		was, is := constrained{old.Target, old.Constraints, declNode(old)}, constrained{new.Target, new.Constraints, declNode(new)}
		c.compareConstraints(c.useOf(old), was, is, "", c.reaches(old, new))
		c.compareUnique(c.useOf(old), was, is)
	})},
	{"Const.Value", of(func(c *comparison, old, new *schema.Const) {
		s := when(old.Value != new.Value, MayBreak)
		if constKind(old) != constKind(new) {
			s = Breaks
		}
		c.report("ConstChanged", Impact{Programs: when(old.Exported(), s), Provider: s}, declNode(old), declNode(new), "",
			"is %s (was %s)", new.Literal(strconv.Quote), old.Literal(strconv.Quote))
	})},
}

// of restricts a rule to declarations of type T in both versions.
func of[T schema.Decl](compare func(c *comparison, old, new T)) func(c *comparison, old, new schema.Decl) {
	return func(c *comparison, old, new schema.Decl) {
		if a, ok := old.(T); ok {
			if b, ok := new.(T); ok {
				compare(c, a, b)
			}
		}
	}
}

// tokenMoved reports whether a token changed although the names of the declaration, its module, and its package, which
// other rules compare, did not.
func tokenMoved(old, new schema.Decl, from, to string) bool {
	_, was, _ := strings.Cut(from, ":")
	_, is, _ := strings.Cut(to, ":")
	return was != is && old.Head().Name == new.Head().Name && sameModule(old, new)
}

// constKind returns the type of a constant in generated code, which has a single number type.
func constKind(c *schema.Const) string {
	if c.Type != "bool" && c.Type != "string" {
		return "number"
	}
	return c.Type
}

func compareFiles(c *comparison, old, new schema.Decl) {
	was, is := old.Head().File, new.Head().File
	if !sameModule(old, new) {
		impact, help := goneImpact(old), "move it back to "+was.Path()
		if r, ok := old.(*schema.Resource); wasCalled(old, new) {
			impact.Wire, impact.Deployed = None, None
		} else if ok {
			help += ", or keep it for existing state with //lumi:was='" + r.Token + "'"
		}
		c.report("DeclarationMoved", impact, declNode(old), declNode(new).as(declNode(old)), help, "moved to the module %s", is.Module.Token())
	} else if was.Name != is.Name && old.Head().Exported() {
		c.report("FileMoved", Impact{Programs: MayBreak}, declNode(old), declNode(new), "move it back to "+was.Name,
			"moved from %s to %s; programs that import the generated file directly no longer find it", was.Name, is.Name)
	}
}

func compareKinds(c *comparison, old, new schema.Decl) {
	was, is := kindOf(old), kindOf(new)
	if was == is {
		return
	}
	impact := goneImpact(old)
	if was != "const" && was != "config" && was != "function" {
		_, values, _ := c.relateValues(&schema.Ref{Decl: old}, &schema.Ref{Decl: new}).change(c.useOf(old))
		impact.Wire, impact.Deployed = values.Wire, values.Deployed
		if was == "alias" || was == "union of resources" { // exist only as types in TypeScript
			impact.Programs = min(impact.Programs, values.Programs)
		}
	}
	c.report("KindChanged", impact, declNode(old), declNode(new), "keep it, and declare the new one under another name",
		"changed kind from %s to %s", was, is)
}

func compareNames(c *comparison, old, new schema.Decl) {
	a, b := old.Head(), new.Head()
	at, now := declNode(old), declNode(new).as(declNode(old))
	switch {
	case a.Name == b.Name:
		was, is := schema.GoName(a.File.Module, a.Name), schema.GoName(b.File.Module, b.Name)
		if len(schema.Properties(old)) > 0 && was == is {
			was, is = schema.GoMarshalName(a), schema.GoMarshalName(b)
		}
		c.report("GoNameChanged", Impact{Provider: unless(was == is, Breaks)}, at, declNode(new), "",
			"is now now named %s in stubs (was %s)", is, was)
	case a.Exported() && !b.Exported():
		c.report("DeclarationUnexported", Impact{Programs: Breaks, Provider: Breaks}, at, now, "write "+a.Name,
			"is no longer exported and is now named %s", b.Name)
	case wasCalled(old, new):
		c.report("ResourceNameChanged", Impact{Programs: Breaks, Provider: Breaks}, at, now, "keep the old name", "is now named %s", b.Name)
	default:
		help := "keep the old name"
		if a.Kind == "resource" && sameModule(old, new) {
			help += ", or keep it for existing state with //lumi:was=" + a.Name
		}
		c.report("DeclarationRenamed", goneImpact(old), at, now, help, "was removed; %s looks like its new name",
			symbolOf(new))
	}
}

func (c *comparison) compareFormerNames(old, new []string, at, now node) {
	for _, name := range old {
		if !slices.Contains(new, name) {
			c.formerNameRemoved(name, at, now)
		}
	}
}

func (c *comparison) formerNameRemoved(name string, at, now node) {
	c.report("FormerNameRemoved", Impact{Deployed: MayBreak}, at, now, "keep it until no state uses that name",
		"no longer has the former name %s", name)
}
