package schema_test

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// sum combines the digests of all files, in order.
func sum(p *schema.Package) string {
	digests := p.Digests()
	var all strings.Builder
	for f := range p.Files() {
		fmt.Fprintf(&all, "%x ", digests[f])
	}
	return all.String()
}

// TestDigests changes every field of the model, one at a time. Each change must change the digest, except for
// positions.
func TestDigests(t *testing.T) {
	model := must.Get(os.ReadFile("testdata/schema.json"))(t)
	p := must.Get(schema.Read(strings.NewReader(string(model))))(t)
	before := sum(p)
	changed := 0
	eachField(reflect.ValueOf(p), "package", map[any]bool{}, func(path string, field reflect.Value) {
		undo := reflect.New(field.Type()).Elem()
		undo.Set(field)
		switch field.Kind() {
		case reflect.String:
			field.SetString(field.String() + "x")
		case reflect.Bool:
			field.SetBool(!field.Bool())
		case reflect.Int:
			field.SetInt(field.Int() + 1)
		case reflect.Float64:
			field.SetFloat(field.Float() + 1e6)
		case reflect.Slice:
			field.Set(field.Slice(0, field.Len()-1))
		case reflect.Interface:
			switch value := field.Interface().(type) {
			case schema.Type:
				field.Set(reflect.ValueOf(&schema.List{Elem: value}))
			case nil:
				field.Set(reflect.ValueOf("x"))
			case uint64:
				field.Set(reflect.ValueOf(int64(7)))
			case float64:
				field.Set(reflect.ValueOf(-value))
			case []any:
				field.Set(reflect.ValueOf(value[1:]))
			default:
				t.Fatalf("%s: unsupported type %T", path, value)
			}
		default:
			t.Fatalf("%s: unsupported type %s", path, field.Type())
		}
		if sum(p) == before {
			t.Errorf("digests unchanged after a change of %s, want new ones", path)
		}
		field.Set(undo)
		changed++
	})
	if sum(p) != before || changed < 50 {
		t.Errorf("changed %d fields, want at least 50 and the original digests afterward", changed)
	}
}

// eachField calls visit for every field of a model, except for the fields set by Link.
func eachField(v reflect.Value, path string, seen map[any]bool, visit func(string, reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !seen[v.Interface()] {
			seen[v.Interface()] = true
			eachField(v.Elem(), path, seen, visit)
		}
	case reflect.Interface:
		if !v.IsNil() {
			eachField(v.Elem(), path, seen, visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachField(v.Index(i), path, seen, visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			at := path + "." + v.Type().Name() + "." + name
			switch {
			case name == "File" || name == "Module" || name == "Imports" || name == "Foreign" || name == "Decl" || name == "Pos":
			case name == "Header":
				eachField(v.Field(i), at, seen, visit)
			case v.Field(i).Kind() == reflect.Slice && v.Field(i).Len() == 0:
			default:
				if target := reflect.Indirect(v.Field(i)); v.Field(i).Kind() != reflect.Pointer ||
					target.Kind() == reflect.Float64 || target.Kind() == reflect.Int {
					visit(at, target)
				}
				eachField(v.Field(i), at, seen, visit)
			}
		}
	}
}

// references returns a package of two modules and its declarations by name. The declaration User refers to declarations
// in other files and to the target of another module's alias.
func references() (*schema.Package, map[string]schema.Decl) {
	decls := map[string]schema.Decl{
		"Target":   &schema.Struct{Header: schema.Header{Name: "Target"}},
		"Resource": &schema.Resource{Header: schema.Header{Name: "Resource"}, Token: "x:b:Resource"},
		"Enum": &schema.Enum{
			Header: schema.Header{Name: "Enum"}, Members: []*schema.Member{{Name: "One", Value: "1"}},
		},
	}
	ref := func(name string) *schema.Ref { return &schema.Ref{Decl: decls[name]} }
	decls["Inner"] = &schema.Alias{Header: schema.Header{Name: "Inner"}, Target: &schema.List{Elem: ref("Target")}}
	decls["Alias"] = &schema.Alias{Header: schema.Header{Name: "Alias"}, Target: ref("Inner")}
	decls["Variant"] = &schema.Struct{Header: schema.Header{Name: "Variant"}}
	decls["Union"] = &schema.Union{Header: schema.Header{Name: "Union"}, Variants: []*schema.Property{
		{Field: "V", Name: "v", Type: ref("Variant")}, {Field: "T", Name: "t", Type: ref("Target")},
	}}
	decls["Near"] = &schema.Struct{Header: schema.Header{Name: "Near"}}
	user := &schema.Struct{Header: schema.Header{Name: "User"}, Properties: []*schema.Property{
		{Field: "A", Name: "a", Type: ref("Alias")}, {Field: "R", Name: "r", Type: ref("Resource")},
		{Field: "E", Name: "e", Type: &schema.Map{Key: ref("Enum"), Elem: schema.Bool}},
		{Field: "U", Name: "u", Type: ref("Union")},
	}}
	p := &schema.Package{Name: "x", Modules: []*schema.Module{
		{Path: "a", GoName: "a", Files: []*schema.File{
			{Name: "near.go", Decls: []schema.Decl{decls["Near"]}}, {Name: "user.go", Decls: []schema.Decl{user}},
		}},
		{Path: "b", GoName: "b", Files: []*schema.File{
			{Name: "b.go", Decls: []schema.Decl{decls["Target"], decls["Resource"], decls["Enum"], decls["Inner"], decls["Alias"], decls["Union"], decls["Variant"]}},
			{Name: "c.go"},
		}},
		{Path: "c", GoName: "c", Files: []*schema.File{{Name: "c.go"}}},
	}}
	p.Link()
	return p, decls
}

func TestDigestsReferences(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(p *schema.Package, decls map[string]schema.Decl)
		want   bool // whether the digest changes
	}{
		{"no change", func(*schema.Package, map[string]schema.Decl) {}, false},
		{"package name", func(p *schema.Package, _ map[string]schema.Decl) { p.Name = "y" }, true},
		{"other name in the module", func(_ *schema.Package, d map[string]schema.Decl) { d["Near"].Head().Name = "Far" }, false},
		{"property of a neighbor", func(_ *schema.Package, d map[string]schema.Decl) {
			d["Near"].(*schema.Struct).Properties = []*schema.Property{{Field: "A", Name: "a", Type: schema.Bool}}
		}, false},
		{"documentation of a neighbor", func(_ *schema.Package, d map[string]schema.Decl) { d["Near"].Head().Doc = "x" }, false},
		{"name of a referenced declaration", func(_ *schema.Package, d map[string]schema.Decl) { d["Enum"].Head().Name = "Other" }, true},
		{"documentation of a referenced declaration", func(_ *schema.Package, d map[string]schema.Decl) { d["Target"].Head().Doc = "x" }, false},
		{"properties of a referenced declaration", func(_ *schema.Package, d map[string]schema.Decl) {
			d["Target"].(*schema.Struct).Properties = []*schema.Property{{Field: "A", Name: "a", Type: schema.Bool}}
		}, false},
		{"name of an alias target", func(_ *schema.Package, d map[string]schema.Decl) { d["Target"].Head().Name = "other" }, true},
		{"alias target", func(_ *schema.Package, d map[string]schema.Decl) {
			d["Inner"].(*schema.Alias).Target = schema.String
		}, true},
		{"constraints of an alias", func(_ *schema.Package, d map[string]schema.Decl) {
			d["Inner"].(*schema.Alias).Constraints = &schema.Constraints{Unique: true}
		}, true},
		{"type of a variant", func(_ *schema.Package, d map[string]schema.Decl) {
			d["Union"].(*schema.Union).Variants[0].Type = &schema.Ref{Decl: d["Resource"]}
		}, true},
		{"name of a variant", func(_ *schema.Package, d map[string]schema.Decl) { d["Union"].(*schema.Union).Variants[0].Name = "w" }, false},
		{"type token", func(_ *schema.Package, d map[string]schema.Decl) { d["Resource"].(*schema.Resource).Token = "x:y:Z" }, true},
		{"file of a referenced declaration", func(p *schema.Package, d map[string]schema.Decl) {
			b, c := p.Modules[1].Files[0], p.Modules[1].Files[1]
			b.Decls, c.Decls = b.Decls[1:], b.Decls[:1]
		}, true},
		{"kind of a referenced declaration", func(p *schema.Package, d map[string]schema.Decl) {
			other := &schema.Resource{Header: *d["Target"].Head()}
			d["Inner"].(*schema.Alias).Target = &schema.List{Elem: &schema.Ref{Decl: other}}
			p.Modules[1].Files[0].Decls[0] = other
		}, true},
		{"name of an imported module", func(p *schema.Package, _ map[string]schema.Decl) { p.Modules[1].GoName = "other" }, true},
		{"name of an unrelated module", func(p *schema.Package, _ map[string]schema.Decl) { p.Modules[2].GoName = "other" }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, decls := references()
			user := p.Modules[0].Files[1]
			before := p.Digests()[user]
			test.change(p, decls)
			p.Link()
			if changed := p.Digests()[user] != before; changed != test.want {
				t.Errorf("digest changed = %v, want %v", changed, test.want)
			}
		})
	}
}
