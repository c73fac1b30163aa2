package compile

import (
	"go/ast"
	"slices"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
)

// checkNames reports, on the IDL, names that generated code could not declare: those that TypeScript reserves, and
// those that two declarations of one folder would both bring about.
func (c *checker) checkNames() {
	nodes := map[schema.Decl]*ast.Ident{}
	for _, d := range c.order {
		if d.model != nil {
			nodes[d.model] = d.spec.Name
		}
	}
	idents := map[string]*ast.Ident{}
	for _, k := range c.consts {
		idents[k.file.rel+":"+k.name.Name] = k.name
	}
	for _, s := range c.sources {
		goNames := map[string]schema.Decl{}
		for _, f := range s.module.Files {
			for _, d := range f.Decls {
				at := nodes[d]
				if at == nil {
					at = idents[f.Path()+":"+d.Head().Name]
				}
				nodes[d] = at
				c.checkReservedName(d, at)
				c.checkCollisions("Go", schema.GoNames(d), d, goNames, nodes)
			}
		}
	}
}

func (c *checker) checkCollisions(
	language string, names []string, d schema.Decl, taken map[string]schema.Decl, nodes map[schema.Decl]*ast.Ident,
) {
	for _, name := range names {
		other, clash := taken[name]
		if !clash {
			taken[name] = d
			continue
		}
		report := c.report(diag.NameCollision, nodes[d], "%s and %s would both be called %s in generated %s",
			other.Head().Name, d.Head().Name, name, language)
		report.Suggestion = "rename one of them"
		c.note(report, nodes[other], "%s is declared here", other.Head().Name)
		return
	}
}

// checkReservedName refuses names that no declaration can have in TypeScript. Exported names never are among them.
func (c *checker) checkReservedName(d schema.Decl, at ast.Node) {
	name := d.Head().Name
	_, isConst := d.(*schema.Const)
	if slices.Contains(reservedWords, name) || !isConst && slices.Contains(reservedTypes, name) {
		c.report(diag.ReservedName, at, "TypeScript cannot declare anything called %s", name).Suggestion = "rename it"
	} else if name == "lumi" || name == "shape" {
		c.report(diag.ReservedName, at, "generated TypeScript uses the name %s itself", name).Suggestion = "rename it"
	}
}

// reservedWords are the words that TypeScript refuses as the name of a constant or type of a module, less those that
// Go refuses as well.
var reservedWords = []string{
	"arguments", "await", "catch", "class", "debugger", "delete", "do", "enum", "eval", "export", "extends", "false",
	"finally", "function", "implements", "in", "instanceof", "let", "new", "null", "private", "protected", "public",
	"static", "super", "this", "throw", "true", "try", "typeof", "undefined", "void", "while", "with", "yield",
}

// reservedTypes are the words that TypeScript refuses as the name of a type only.
var reservedTypes = []string{
	"any", "asserts", "bigint", "boolean", "infer", "keyof", "never", "number", "object", "readonly", "string", "symbol",
	"unique", "unknown",
}
