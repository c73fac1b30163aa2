package typescript_test

import (
	"fmt"
	"testing"

	"github.com/lumi-idl/lumi/gen/typescript"
	"github.com/lumi-idl/lumi/idl/schema"
)

// corpus is a package of n resources, 50 a folder and one a file, with twelve properties each, and beside each of them
// two structs of five properties and an enum.
func corpus(n int) *schema.Package {
	pkg := &schema.Package{Name: "corpus"}
	var before *schema.Resource
	for i := range n {
		if i%50 == 0 {
			name := fmt.Sprintf("m%03d", i/50)
			pkg.Modules = append(pkg.Modules, &schema.Module{Path: name, GoName: name})
		}
		m := pkg.Modules[len(pkg.Modules)-1]
		name := fmt.Sprintf("Resource%d", i)
		header := func(name string) schema.Header {
			return schema.Header{Name: name, Doc: name + " is one of many.\nIt says so on two lines."}
		}
		enum := &schema.Enum{Header: header(name + "Mode")}
		for _, value := range []string{"on", "off", "auto"} {
			enum.Members = append(enum.Members, &schema.Member{Name: name + "Mode" + value, Value: value})
		}
		inner := &schema.Struct{Header: header(name + "Inner"), Properties: properties(5, schema.String)}
		outer := &schema.Struct{Header: header(name + "Outer"), Properties: properties(4, schema.Number)}
		outer.Properties = append(outer.Properties, property("Inner", &schema.List{Elem: &schema.Ref{Decl: inner}}))
		r := &schema.Resource{
			Header: header(name), Token: "corpus:" + m.Path + ":" + name, Named: true,
			Properties: append(properties(10, schema.String),
				property("Outer", &schema.Ref{Decl: outer}), property("Mode", &schema.Ref{Decl: enum})),
		}
		if before != nil {
			r.Properties = append(r.Properties, property("Peer", &schema.Ref{Decl: before}))
		}
		m.Files = append(m.Files, &schema.File{
			Name: fmt.Sprintf("resource%d.go", i), Decls: []schema.Decl{r, outer, inner, enum},
		})
		before = r
	}
	pkg.Link()
	return pkg
}

func properties(n int, t schema.Type) []*schema.Property {
	list := make([]*schema.Property, n)
	for i := range list {
		list[i] = property(fmt.Sprintf("Property%d", i), t)
		list[i].Optional = i%2 == 1
	}
	list[0].Name = "name"
	return list
}

func property(field string, t schema.Type) *schema.Property {
	return &schema.Property{
		Field: field, Name: schema.PropertyName(field), Type: t, Doc: field + " is what it is, and documented.",
	}
}

func BenchmarkGenerate(b *testing.B) {
	for _, n := range []int{100, 1000, 5000} {
		pkg := corpus(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := typescript.Generate(pkg, typescript.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestDeterminism holds that files which are rendered in parallel come out the same every time.
func TestDeterminism(t *testing.T) {
	pkg := corpus(200)
	want := contents(t, generate(t, pkg))
	for range 5 {
		for name, content := range contents(t, generate(t, pkg)) {
			if content != want[name] {
				t.Fatalf("%s comes out in different ways", name)
			}
		}
	}
}
