package compile

import (
	"cmp"
	"go/ast"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
)

// checkNames reports names that generated code cannot declare: words reserved in TypeScript, and names that two
// declarations of a folder would both generate.
func (c *checker) checkNames() {
	exported := map[string]map[string]schema.Decl{}
	for _, s := range c.sources {
		foreignNames, tsNames := map[string]schema.Decl{}, map[string]schema.Decl{}
		for _, f := range s.module.Files {
			for _, d := range f.Decls {
				if name := schema.TSNames(d)[0]; slices.Contains(reservedInTypeScript, name) { // other names are never reserved
					c.rejectReservedName(c.idents[d], name)
				}
				if c.checkCollisions("Go", schema.GoNames(d), d, foreignNames) {
					c.checkCollisions("TypeScript", schema.TSNames(d), d, tsNames)
				}
			}
		}
		maps.DeleteFunc(tsNames, func(_ string, d schema.Decl) bool { return !d.Head().Exported() })
		exported[cmp.Or(s.module.Path, ".")] = tsNames
	}
	c.checkBarrels(exported)
}

func (c *checker) checkCollisions(language string, names []string, d schema.Decl, taken map[string]schema.Decl) bool {
	for _, name := range names {
		other, clash := taken[name]
		if !clash {
			taken[name] = d
			continue
		}
		if other == d {
			continue // two properties of one declaration, which are already reported
		}
		report := c.report(diag.NameCollision, c.idents[d], "%s and %s would both be named %s in generated %s",
			other.Head().Name, d.Head().Name, name, language)
		report.Suggestion = "rename one of them"
		c.note(report, c.idents[other], "%s is declared here", other.Head().Name)
		return false
	}
	return true
}

func (c *checker) rejectReservedName(at *ast.Ident, name string) {
	c.report(diag.ReservedName, at, "generated TypeScript cannot use the name %s", name).
		Suggestion = "rename it"
}

// shadowsPredeclared reports whether name is both predeclared in Go and reserved in TypeScript. A declaration of that
// name is rejected. It shadows the predeclared name in the whole folder, so Go's other errors there are unreliable.
func shadowsPredeclared(name string) bool {
	return types.Universe.Lookup(name) != nil && slices.Contains(reservedInTypeScript, name)
}

// checkBarrels reports declarations whose name collides with a sub-folder in the barrel of their folder, which exports
// both.
func (c *checker) checkBarrels(exported map[string]map[string]schema.Decl) {
	taken := map[string]string{}
	seen := map[string]bool{}
	for _, file := range c.tree.files {
		for dir := path.Dir(file); dir != "." && !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			parent, name := path.Dir(dir), schema.TSModuleName(path.Base(dir))
			if d := exported[parent][name]; d != nil {
				c.report(diag.NameCollision, c.idents[d], "%s and the folder %s would both be named %s in generated TypeScript",
					d.Head().Name, dir, name).Suggestion = "rename one of them"
			}
			if other := taken[path.Join(parent, name)]; other != "" {
				c.reportAt(diag.FolderName, c.clauseOf(file), "the folders %s and %s would both be named %s in generated TypeScript",
					other, dir, name).Suggestion = "rename one of them"
			}
			taken[path.Join(parent, name)] = dir
		}
	}
}

// reservedInTypeScript lists the names that a generated module cannot declare: keywords, built-in types, and names used
// by the generated code. Of the names that are also Go keywords, only functions can have one.
var reservedInTypeScript = strings.Fields(`
	as await catch class debugger delete do enum export extends false finally function in instanceof new null super this
	throw true try typeof void while with

	break case const continue default else for if import package return switch var

	arguments eval implements interface let private protected public static undefined yield

	any bigint boolean infer intrinsic keyof never number object readonly string symbol unique unknown

	exports lumi require shape
`)
