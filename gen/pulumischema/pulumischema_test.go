package pulumischema_test

import (
	"errors"
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
  "config": {},
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

func TestPackageNames(t *testing.T) {
	for name, ok := range map[string]bool{
		"storage": true, "acme/net": true, "a-b_c": true, "pulumi": false, "input": false, "3d": false, "func": false,
	} {
		want := ""
		if !ok {
			want = "disk.go: Pulumi cannot use the package name " + name + "; choose another name with //lumi:package="
		}
		pkg := &schema.Package{Name: name, Modules: []*schema.Module{{Files: []*schema.File{{Name: "disk.go", Decls: []schema.Decl{
			&schema.Resource{Header: schema.Header{Name: "Disk"}, Token: name + ":index:Disk"},
		}}}}}}
		pkg.Link()
		got := ""
		if _, err := pulumischema.Of(pkg, ""); err != nil {
			got = err.Error()
		}
		expect.Equal(t, want, got, name)
	}
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
