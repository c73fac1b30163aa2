package typescript

import (
	"strconv"

	"github.com/lumi-idl/lumi/gen"
	"github.com/lumi-idl/lumi/idl/schema"
)

// Generations of generated code. When loaded, the code passes its generation to runtime/typescript/src/version.ts,
// which rejects generations it does not know. A new generation is needed for each change that older runtimes cannot
// run.
const (
	baseGeneration        = 2
	constrainedGeneration = 3 // for constraints, unions, defaults and deprecations
	secondGeneration      = 4 // for integers, rules, computed properties, look-ups, and functions
)

// file builds the code for one IDL file.
type file struct {
	text
	pkg     *schema.Package
	imports *imports
	// usesLumi is set if the code refers to the runtime package, and loadsLumi if it does so at run time.
	usesLumi, loadsLumi bool
	generation          int
}

// needs raises the file's generation.
func (f *file) needs(generation int) { f.generation = max(f.generation, generation) }

// render returns the code for one IDL file.
func render(pkg *schema.Package, src *schema.File) []byte {
	// The imports are only known once the declarations are written.
	body := file{pkg: pkg, imports: newImports(src), generation: baseGeneration}
	body.buf = make([]byte, 0, sizeOf(src))
	for _, d := range src.Decls {
		body.put("\n")
		body.decl(d)
	}

	var t text
	t.buf = make([]byte, 0, len(body.buf)+1024)
	t.put(gen.Header(gen.Slashes, src.Path()), "\n/* eslint-disable */\n")
	if src.Doc != "" {
		t.put("\n")
		t.doc("", untagged(src.Doc)+"\n\n@packageDocumentation")
	}
	if body.usesLumi || len(body.imports.used) > 0 {
		t.put("\n")
	}
	if body.loadsLumi {
		t.put("import * as lumi from \"@lumi/lumi\";\n")
	} else if body.usesLumi {
		t.put("import type * as lumi from \"@lumi/lumi\";\n")
	}
	body.imports.put(&t)
	if body.loadsLumi {
		t.put("\nlumi.requireGeneration(", strconv.Itoa(body.generation), ");\n")
	}
	if len(src.Decls) == 0 {
		t.put("\nexport {};\n")
	}
	return append(t.buf, body.buf...)
}

// sizeOf estimates the size of the code in bytes, to avoid growing the buffer.
func sizeOf(src *schema.File) int {
	size := 0
	for _, d := range src.Decls {
		size += 1024
		for _, p := range schema.Properties(d) {
			size += 3*len(p.Name) + 2*len(p.Doc) + 160
		}
	}
	return size
}

func (f *file) decl(d schema.Decl) {
	switch d := d.(type) {
	case *schema.Resource:
		f.resource(d)
	case *schema.Struct:
		f.structure(d)
	case *schema.Config:
		f.config(d)
	case *schema.Union:
		f.union(d)
	case *schema.Function:
		f.function(d)
	case *schema.Enum:
		f.enum(d)
	case *schema.Alias:
		f.alias(d)
	case *schema.Const:
		f.doc("", described(d.Doc, d.Deprecated))
		f.put("export const ", d.Name, " = ", d.Literal(quote), ";\n")
	}
}
