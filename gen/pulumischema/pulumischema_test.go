package pulumischema_test

import (
	"errors"
	"path"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/gen/pulumischema"
	"github.com/lumi-idl/lumi/idl/compile"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/golden"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func load(t *testing.T, dir string) *schema.Package {
	t.Helper()
	pkg, diags, err := compile.Load(t.Context(), compile.Options{Dir: dir})
	if err != nil || len(diags) > 0 {
		t.Fatalf("Load(%s) = %v, %v, want a package", dir, diags, err)
	}
	return pkg
}

// Pulumi's own tools check the same schemas in adapter/pulumi/enginetest.
func TestOf(t *testing.T) {
	for name, dir := range map[string]string{
		"traps": "testdata/traps/idl", "files": "testdata/files/idl", "local": "../../examples/local/idl",
	} {
		schema := must.Get(pulumischema.Of(load(t, dir), ""))(t)
		golden.File(t, "testdata/"+name+".json", string(schema))
	}
}

func TestOfVersion(t *testing.T) {
	got := string(must.Get(pulumischema.Of(&schema.Package{Name: "empty"}, "1.2.3"))(t))
	expect.Equal(t, `{
  "name": "empty",
  "version": "1.2.3",
  "meta": {
    "moduleFormat": "(.*)",
    "supportPack": true
  },
  "language": {
    "go": {
      "generateResourceContainerTypes": true,
      "importBasePath": "example.com/pulumi-empty/sdk/go/empty",
      "modulePath": "example.com/pulumi-empty/sdk/go",
      "packageImportAliases": {}
    },
    "nodejs": {
      "packageName": "pulumi-empty"
    },
    "python": {
      "pyproject": {
        "enabled": true
      }
    }
  },
  "provider": {}
}
`, got, "Of")
}

func TestNames(t *testing.T) {
	pkg := load(t, "testdata/names/idl")
	_, err := pulumischema.Of(pkg, "")
	golden.File(t, "testdata/names.txt", err.Error()+"\n")
	var nameErr *pulumischema.NameError
	if !errors.As(err, &nameErr) {
		t.Errorf("Of = %T, want a *NameError in it", err)
	}
}

// These names break the code that the generators write, or the SDK at run time.
func TestReservedTypes(t *testing.T) {
	for kind, names := range map[string]map[string]string{
		"resource": {
			"TypeScript": "Error Object", "Python": "Outputs False None True", "any language": "Provider Größe",
			"Go": "Doc Init PulumiEnums PulumiTypes PulumiUtilities ProviderArgs File_linux",
		},
		"function": {
			"TypeScript": "Pulumi Utilities", "Python": "False None True", "any language": "Provider",
			"Go": "Doc Init PulumiEnums PulumiTypes PulumiUtilities ProviderArgs File_linux",
		},
		"struct": {"Python": "False None True", "any language": "Provider"},
		"enum":   {"Python": "False None True", "any language": "Provider", "Go": "String"},
		"union":  {"Python": "False None True", "any language": "Provider"},
	} {
		for generator, names := range names {
			for name := range strings.FieldsSeq(names) {
				help := "rename it"
				if kind == "resource" {
					help += " and keep its former name with //lumi:was=" + name
				}
				want := "disk.go: Pulumi cannot generate the " + kind + " " + name + " for " + generator + "; " + help
				expect.Equal(t, want, errorOf(packageOf("disks", "", declare(kind, name))), kind+" "+name)
			}
		}
		for _, name := range []string{"Disk", "Version", "Index", "Promise", "Class"} {
			expect.Equal(t, "", errorOf(packageOf("disks", "", declare(kind, name))), kind+" "+name)
		}
	}
}

func TestReservedProperties(t *testing.T) {
	for kind, names := range map[string]map[string]string{
		"resource": {
			"any language": "pulumi", "TypeScript": "getProvider", "Go": "_hidden pulumiResourceType",
			"Python": "get pulumiResourceName translateInputProperty translateOutputProperty",
		},
		"struct":   {"any language": "pulumi", "Go": "_hidden"},
		"union":    {"any language": "pulumi", "Go": "_hidden"},
		"function": {"any language": "pulumi", "Go": "_hidden", "Python": "opts"},
		"config": {
			"any language": "pulumi id urn version", "Go": "_hidden pulumiResourceType",
			"Python": "get pulumiResourceName translateInputProperty translateOutputProperty",
			"TypeScript": "getProvider arguments break case catch class const continue debugger default delete do else enum eval export " +
				"extends false finally for function if import in instanceof let new null return super switch this throw true try typeof " +
				"utilities var void while with",
		},
	} {
		for generator, names := range names {
			for name := range strings.FieldsSeq(names) {
				want := "disk.go: Pulumi cannot generate the property " + name + " of the " + kind + " Disk for " + generator +
					"; choose another name with `lumi:\"name=…\"`"
				expect.Equal(t, want, errorOf(packageOf("disks", "", declare(kind, "Disk", name))), kind+" "+name)
			}
		}
		for _, name := range []string{"size", "type", "self", "args", "lambda", "interface"} {
			expect.Equal(t, "", errorOf(packageOf("disks", "", declare(kind, "Disk", name))), kind+" "+name)
		}
	}
}

func TestReservedFolders(t *testing.T) {
	for name := range strings.FieldsSeq("enums inputs internal outputs pulumi types utilities func go Upper v1.2 a/types") {
		want := "disk.go: Pulumi cannot generate the folder " + path.Base(name) + "; rename the folder"
		expect.Equal(t, want, errorOf(packageOf("disks", name, declare("resource", "Disk"))), name)
	}
	for name := range strings.FieldsSeq("ec2 config class provider api-gateway a/b-c x_y string") {
		expect.Equal(t, "", errorOf(packageOf("disks", name, declare("resource", "Disk"))), name)
	}
}

func TestReservedPackages(t *testing.T) {
	for _, name := range []string{"pulumi", "input", "3d", "func"} {
		want := "disk.go: Pulumi cannot use the package name " + name + "; choose another name with //lumi:package="
		expect.Equal(t, want, errorOf(packageOf(name, "", declare("resource", "Disk"))), name)
	}
	for _, name := range []string{"storage", "acme/net", "a-b_c", "d3"} {
		expect.Equal(t, "", errorOf(packageOf(name, "", declare("resource", "Disk"))), name)
	}
}

// declare returns a declaration with string properties, preceded by the resource that uses it, if it is a type.
func declare(kind, name string, properties ...string) []schema.Decl {
	h := schema.Header{Name: name}
	var list []*schema.Property
	for _, p := range properties {
		list = append(list, &schema.Property{Field: "F", Name: p, Type: schema.String})
	}
	var d schema.Decl
	switch kind {
	case "resource":
		return []schema.Decl{&schema.Resource{Header: h, Token: "disks:index:" + name, Properties: list}}
	case "function":
		return []schema.Decl{&schema.Function{Header: h, Token: "disks:index:" + name, Properties: list}}
	case "config":
		return []schema.Decl{&schema.Config{Header: h, Properties: list}}
	case "struct":
		d = &schema.Struct{Header: h, Properties: list}
	case "enum":
		d = &schema.Enum{Header: h}
	case "union":
		d = &schema.Union{Header: h, Variants: list}
	}
	user := &schema.Property{Field: "Use", Name: "use", Type: &schema.Ref{Decl: d}}
	return []schema.Decl{
		&schema.Resource{Header: schema.Header{Name: "User"}, Token: "disks:index:User", Properties: []*schema.Property{user}}, d,
	}
}

func packageOf(name, folder string, decls []schema.Decl) *schema.Package {
	pkg := &schema.Package{Name: name, Modules: []*schema.Module{{Path: folder, Files: []*schema.File{{Name: "disk.go", Decls: decls}}}}}
	pkg.Link()
	return pkg
}

// errorOf returns the error for a package, without the path of its folder.
func errorOf(pkg *schema.Package) string {
	if _, err := pulumischema.Of(pkg, ""); err != nil {
		return strings.TrimPrefix(strings.TrimPrefix(err.Error(), pkg.Modules[0].Path), "/")
	}
	return ""
}

func TestTokens(t *testing.T) {
	for token, want := range map[string]string{
		"aws:ec2:VPC": "aws:ec2:VPC", "acme/net:index:Network": "acme_net:index:Network", "a/b-c/d:x/y:Z": "a_b_c_d:x/y:Z",
	} {
		got := pulumischema.Token(token)
		expect.Equal(t, want, got, token)
		pkg, _, _ := strings.Cut(token, ":")
		expect.Equal(t, token, pulumischema.FromToken(pkg, got), got)
	}
}
