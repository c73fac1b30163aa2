package gostubs_test

import (
	"fmt"

	"github.com/lumi-idl/lumi/idl/schema"
)

// hostile returns a package with names and documentation chosen to break generated code.
func hostile() *schema.Package {
	pkg := &schema.Package{Name: "hostile"}
	main := &schema.Module{Path: "main-part", GoName: "mainpart"}
	var uses []*schema.Property
	// These modules have the names of their siblings, of imports and locals in stubs, or of predeclared identifiers.
	paths := []string{
		"a/net", "b/net", "lumi", "tokens", "urn", "context", "string", "error", "any", "err", "s", "p", "ops",
		"alloc",
	}
	for i, path := range paths {
		name := path
		if path[1:] == "/net" {
			name = "net"
		}
		shared := &schema.Struct{Header: schema.Header{Name: "Shared"}, Properties: []*schema.Property{
			required("Value", schema.String),
		}}
		m := &schema.Module{Path: path, GoName: name, Files: []*schema.File{{
			Name: "shared.go", Decls: []schema.Decl{shared},
		}}}
		pkg.Modules = append(pkg.Modules, m)
		uses = append(uses, optional(fmt.Sprintf("Use%d", i), &schema.List{Elem: &schema.Ref{Decl: shared}}))
	}
	main.Files = []*schema.File{
		{Name: "constants.go", Doc: "+build never\n", Decls: []schema.Decl{
			&schema.Const{Header: header("Big", ""), Value: uint64(1 << 63)},
			&schema.Const{Header: header("small", ""), Value: int64(-1)},
			&schema.Const{Header: header("Half", ""), Value: 0.5},
			&schema.Const{Header: header("Huge", ""), Value: 1e300},
			&schema.Const{Header: header("Whole", ""), Value: 4.0},
			&schema.Const{Header: header("Text", ""), Value: "\"\\\n\u2028\x00`\ufeff\x7f\r"},
			&schema.Const{Header: header("yes", ""), Value: true},
		}},
		{Name: "enums.go", Decls: []schema.Decl{longEnum()}},
		{Name: "nothing.go"},
		{Name: "uses.go", Doc: hostileDoc, Decls: []schema.Decl{
			&schema.Struct{Header: schema.Header{Name: "Uses", Doc: hostileDoc}, Properties: uses},
		}},
		{Name: "names.go", Decls: hostileNames()},
	}
	pkg.Modules = append(pkg.Modules, main)
	pkg.Link()
	return pkg
}

const hostileDoc = `go:build never
go:embed everything
+build never

line x.go:1
	+build ignore
*/ /* import "C"
export Nothing
nolint // @@

Title

 - a list
- of things   ` + "\r\n1. and\r\n2. more\n\n\n\t\tcode\n\n[link]: https://example.com\n``quoted''\n# Heading\n#not\n\n"

// longEnum returns an enum whose values do not fit on one line.
func longEnum() *schema.Enum {
	e := &schema.Enum{Header: header("Long", hostileDoc)}
	for i := range 40 {
		m := &schema.Member{Name: fmt.Sprintf("Long%d", i*i*i), Value: fmt.Sprintf("value \"%d\"", i)}
		if i%7 == 3 {
			m.Doc = hostileDoc
		}
		e.Members = append(e.Members, m)
	}
	e.Members[5].Name = "größer" // has more bytes than characters
	return e
}

// hostileNames returns declarations with names that conflict with locals, imports, and predeclared names.
func hostileNames() []schema.Decl {
	var decls []schema.Decl
	for _, name := range []string{"ctx", "want", "string", "len", "context", "lumi", "urn", "net", "net1", "any", "nil"} {
		e := &schema.Enum{Header: schema.Header{Name: name}, Members: []*schema.Member{{Name: "e" + name, Value: "x"}}}
		list := &schema.List{Elem: &schema.Ref{Decl: e}}
		decls = append(decls, e, &schema.Struct{
			Header: schema.Header{Name: "Holds" + name}, Properties: []*schema.Property{optional("Enum", list)},
		})
	}
	for _, name := range []string{"Ops", "S", "Alloc", "New", "Tokens", "Error", "Func", "Main", "Init"} {
		decls = append(decls, &schema.Resource{
			Header: schema.Header{Name: name, Doc: hostileDoc}, Token: "hostile:main-part:" + name,
			Properties: []*schema.Property{required("Wide", schema.Bool), required("X", schema.Any)},
		})
	}
	for _, name := range []string{"Call", "Refs", "Function", "Object"} {
		decls = append(decls, &schema.Function{
			Header: schema.Header{Name: name, Doc: hostileDoc, Deprecated: "Use nothing."}, Token: "hostile:main-part:" + name,
			Properties: []*schema.Property{required("Wide", schema.Bool), computed("X", schema.Any)},
		})
	}
	return decls
}
