package gostubs_test

import (
	"fmt"

	"github.com/lumi-idl/lumi/idl/schema"
)

// corpus returns the package for benchmarks. It has modules of 50 resources, one per file, with 12 properties on
// average. Each resource has two structs of five properties and an enum. Everything is documented.

func corpus(resources int) *schema.Package {
	pkg := &schema.Package{Name: "corpus"}
	var vpc *schema.Resource
	for i := range resources {
		if i%50 == 0 {
			name := fmt.Sprintf("m%03d", i/50)
			pkg.Modules = append(pkg.Modules, &schema.Module{Path: name, GoName: name})
		}
		m := pkg.Modules[len(pkg.Modules)-1]
		f, r := corpusFile(i, m.Path, vpc)
		m.Files = append(m.Files, f)
		vpc = r
	}
	pkg.Link()
	return pkg
}

func corpusFile(i int, module string, other *schema.Resource) (*schema.File, *schema.Resource) {
	name := fmt.Sprintf("Thing%04d", i)
	enum := &schema.Enum{Header: header(name+"Kind", "says what kind of thing it is.")}
	for _, value := range []string{"Small", "Medium", "Large"} {
		enum.Members = append(enum.Members, &schema.Member{
			Name: name + value, Value: value, Doc: "things are neither more nor less than that.",
		})
	}
	rule := corpusStruct(name+"Rule", schema.Number)
	target := corpusStruct(name+"Target", &schema.Ref{Decl: enum})
	r := &schema.Resource{
		Header: header(name, "is a thing of which a corpus has many.\n\nIt is documented at some length, as things are."),
		Token:  "corpus:" + module + ":" + name, Named: true,
	}
	if other == nil {
		other = r
	}
	capability := &schema.Ref{Decl: other}
	r.Properties = []*schema.Property{
		required("Name", schema.String),
		required("Description", schema.String),
		optional("VPC", capability),
		required("Owner", capability),
		optional("Rules", &schema.List{Elem: &schema.Ref{Decl: rule}}),
		required("Target", &schema.Ref{Decl: target}),
		optional("Tags", &schema.Map{Key: schema.String, Elem: schema.String}),
		optional("Kind", &schema.Ref{Decl: enum}),
		optional("Size", schema.Number),
		optional("Fast", schema.Bool),
		computed("ARN", schema.String),
		computed("Endpoint", schema.String),
	}
	r.Properties[0].Replaces, r.Properties[1].Replaces, r.Properties[2].Replaces = true, true, true
	return &schema.File{
		Name: fmt.Sprintf("thing_%04d.go", i), Decls: []schema.Decl{enum, rule, target, r},
	}, r
}

func corpusStruct(name string, t schema.Type) *schema.Struct {
	return &schema.Struct{Header: header(name, "is a part of a thing."), Properties: []*schema.Property{
		required("Protocol", schema.String),
		required("Enabled", schema.Bool),
		optional("From", schema.Number),
		optional("Names", &schema.List{Elem: schema.String}),
		optional("Special", t),
	}}
}

func header(name, doc string) schema.Header {
	return schema.Header{Name: name, Doc: "A " + name + " " + doc}
}

func required(field string, t schema.Type) *schema.Property {
	return &schema.Property{
		Field: field, Name: schema.PropertyName(field), Type: t,
		Doc: field + " is one of the properties, and this says what it is for.",
	}
}

func optional(field string, t schema.Type) *schema.Property {
	p := required(field, t)
	p.Optional, p.Pointer = true, needsPointer(t)
	return p
}

func computed(field string, t schema.Type) *schema.Property {
	p := required(field, t)
	p.Out, p.Pointer = true, needsPointer(t)
	return p
}

// needsPointer reports whether an optional property of type t is a pointer.
func needsPointer(t schema.Type) bool {
	switch t := schema.Underlying(t).(type) {
	case schema.Primitive:
		return t == schema.Bool || t == schema.Number || t == schema.String
	case *schema.Ref:
		_, capability := t.Decl.(*schema.Resource)
		return !capability
	}
	return false
}
