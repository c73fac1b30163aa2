package enginetest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	gogen "github.com/pulumi/pulumi/pkg/v3/codegen/go"
	"github.com/pulumi/pulumi/pkg/v3/codegen/nodejs"
	"github.com/pulumi/pulumi/pkg/v3/codegen/python"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"

	"github.com/lumi-idl/lumi/gen/pulumischema"
	"github.com/lumi-idl/lumi/idl/compile"
	idl "github.com/lumi-idl/lumi/idl/schema"
)

const root = "../../.."

// TestSDKs generates SDKs from schemas and compiles them.
func TestSDKs(t *testing.T) {
	dir := t.TempDir()
	run(t, dir, "npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts",
		"@pulumi/pulumi@3.259.0", "typescript@5.9.3", "@types/node@22")
	for name, folder := range map[string]string{
		"local": "examples/local/idl", "aws": "examples/aws/idl",
		"traps": "gen/pulumischema/testdata/traps/idl", "files": "gen/pulumischema/testdata/files/idl",
	} {
		t.Run(name, func(t *testing.T) {
			pkg := load(t, filepath.Join(root, folder))
			data, err := pulumischema.Of(pkg, "1.2.3")
			if err != nil {
				t.Fatal(err)
			}
			t.Run("nodejs", func(t *testing.T) {
				files, err := nodejs.GeneratePackage("test", bind(t, data), nil, nil, true, nil)
				out := write(t, filepath.Join(dir, name, "nodejs"), files, err)
				run(t, out, filepath.Join(dir, "node_modules", ".bin", "tsc"), "--noEmit")
			})
			t.Run("go", func(t *testing.T) {
				files, err := gogen.GeneratePackage("test", bind(t, data), nil)
				delete(files, "go.mod")
				out := write(t, filepath.Join(dir, name, "go"), files, err)
				for _, file := range []string{"go.mod", "go.sum"} {
					content, err := os.ReadFile(file)
					write(t, out, map[string][]byte{file: content}, err)
				}
				const lumi, adapter = "github.com/lumi-idl/lumi", "github.com/lumi-idl/lumi/adapter/pulumi"
				run(t, out, "go", "mod", "edit", "-module=example.com/pulumi-"+bind(t, data).Name+"/sdk/go",
					"-droprequire="+lumi, "-dropreplace="+lumi, "-droprequire="+adapter, "-dropreplace="+adapter)
				run(t, out, "go", "build", "-mod=mod", "./...")
			})
			t.Run("python", func(t *testing.T) {
				files, err := python.GeneratePackage("test", bind(t, data), nil, nil)
				run(t, write(t, filepath.Join(dir, name, "python"), files, err), "python3", "-m", "compileall", "-q", ".")
			})
		})
	}
}

func load(t *testing.T, dir string) *idl.Package {
	t.Helper()
	pkg, diags, err := compile.Load(t.Context(), compile.Options{Dir: dir})
	if err != nil || len(diags) > 0 {
		t.Fatalf("Load(%s) = %v, %v, want a package", dir, diags, err)
	}
	return pkg
}

// bind reads a schema as Pulumi does. Each generator needs a package of its own.
func bind(t *testing.T, data []byte) *schema.Package {
	t.Helper()
	var spec schema.PackageSpec
	if err := json.Unmarshal(data, &spec); err != nil {
		t.Fatal(err)
	}
	pkg, diags, err := schema.BindSpec(spec, schema.NewNullLoader(), schema.ValidationOptions{})
	if err != nil || len(diags) > 0 {
		t.Fatalf("BindSpec = %v, %v, want no errors and no warnings", diags, err)
	}
	return pkg
}

// write writes files to dir, unless there was an error, and returns dir.
func write(t *testing.T, dir string, files map[string][]byte, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
}
