package breaking

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/internal/suggest"
)

// pair matches old declarations to new ones and records the matches in c.pairs. The first match wins, in this order:
// same module and name, a former name of a resource, same name in another module, same name ignoring case, similar
// content. All but the first two require the same kind. It returns the unmatched old and new declarations.
func (c *comparison) pair() (gone, come []schema.Decl) {
	c.pairForeign()
	gone, come = slices.Collect(c.old.Package.Decls()), slices.Collect(c.new.Package.Decls())
	for _, same := range []func(old, new schema.Decl) bool{
		func(old, new schema.Decl) bool { return sameModule(old, new) && old.Head().Name == new.Head().Name },
		wasCalled,
		func(old, new schema.Decl) bool { return sameKind(old, new) && old.Head().Name == new.Head().Name },
		func(old, new schema.Decl) bool {
			return sameModule(old, new) && sameKind(old, new) && strings.EqualFold(old.Head().Name, new.Head().Name)
		},
		func(old, new schema.Decl) bool { return sameModule(old, new) && sameKind(old, new) && alike(old, new) },
	} {
		pairUp(&gone, &come, same, func(old, new schema.Decl) { c.pairs[old] = new })
	}
	return gone, come
}

// pairForeign matches resources of other packages by their tokens, including former ones.
func (c *comparison) pairForeign() {
	var gone, come []schema.Decl
	for _, p := range c.old.Package.Packages {
		gone = slices.AppendSeq(gone, p.Decls())
	}
	for _, p := range c.new.Package.Packages {
		come = slices.AppendSeq(come, p.Decls())
	}
	pairUp(&gone, &come, func(old, new schema.Decl) bool {
		was, is := old.(*schema.Resource), new.(*schema.Resource)
		return was.Token == is.Token || slices.Contains(is.Was, was.Token)
	}, func(old, new schema.Decl) { c.pairs[old] = new })
}

// pairUp calls found for each pair of elements accepted by same, and removes both elements from their lists.
func pairUp[T any](gone, come *[]T, same func(old, new T) bool, found func(old, new T)) {
	*gone = slices.DeleteFunc(*gone, func(old T) bool {
		i := slices.IndexFunc(*come, func(new T) bool { return same(old, new) })
		if i >= 0 {
			found(old, (*come)[i])
			*come = slices.Delete(*come, i, i+1)
		}
		return i >= 0
	})
}

// wasCalled reports whether a new resource lists the old one's token as a former name. It ignores the package name,
// since renaming a package is reported separately.
func wasCalled(old, new schema.Decl) bool {
	was, isResource := old.(*schema.Resource)
	is, isStill := new.(*schema.Resource)
	return isResource && isStill && holds(is.Was, was.Token)
}

// holds reports whether a list has a type token, ignoring the package name.
func holds(list []string, token string) bool {
	return slices.ContainsFunc(list, func(other string) bool {
		_, a, _ := strings.Cut(token, ":")
		_, b, _ := strings.Cut(other, ":")
		return a == b
	})
}

func sameModule(a, b schema.Decl) bool { return a.Head().File.Module.Path == b.Head().File.Module.Path }

func sameKind(a, b schema.Decl) bool { return kindOf(a) == kindOf(b) }

// alike reports whether two declarations of the same kind are similar enough to be the same: at least half of their
// parts are equal, and either several are or the names are similar.
func alike(old, new schema.Decl) bool {
	a, b := partsOf(old), partsOf(new)
	shared := 0
	for _, part := range a {
		if slices.Contains(b, part) {
			shared++
		}
	}
	return shared > 0 && 2*shared >= max(len(a), len(b)) && (shared > 1 || similar(old.Head().Name, new.Head().Name))
}

// partsOf returns the parts that identify a declaration regardless of its name: the values of an enum or constant, the
// target of an alias, or the properties.
func partsOf(d schema.Decl) (parts []string) {
	switch d := d.(type) {
	case *schema.Enum:
		for _, m := range d.Members {
			parts = append(parts, m.Value)
		}
	case *schema.Alias:
		parts = []string{typeText(d.Target)}
	case *schema.Const:
		parts = []string{fmt.Sprint(d.Value)}
	}
	for _, p := range schema.Properties(d) {
		parts = append(parts, p.Name+" "+typeText(p.Type))
	}
	return parts
}

func similar(a, b string) bool { return suggest.Name(a, []string{b}) != "" }
