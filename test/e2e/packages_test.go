package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/lumi-idl/lumi/test/kit/commands"
	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/kit/node"
)

// TestPackages compiles the IDLs of two modules, one of which refers to resources of the other, and deploys a program
// that uses both packages and plugins. Then a resource that others refer to is renamed.
func TestPackages(t *testing.T) {
	t.Parallel()
	w := newPackages(t)
	w.build()
	w.expect("2 to create", "deploy", "--yes")
	w.expect("main-id", "state", "get", "shop", "netID")
	w.expect("No resources to change", "plan")

	// The IDL of the application says neither what the resource is called now, nor what it was called.
	w.rename(strings.NewReplacer("type Network", "//\n//lumi:was=Network\ntype VPC", "A Network", "A VPC",
		"core.Network", "core.VPC", "NewNetwork", "NewVPC", "NetworkProvider", "VPCProvider", "*network", "*vpc",
		"{Network", "{VPC", "{ Network", "{ VPC"))
	w.build()
	stub := string(must.Get(os.ReadFile(filepath.Join(w.dir, "app", "provider", "app_stub.go")))(t))
	if want := `lumi.Capability("acme/net:core:VPC", "acme/net:core:Network")`; !strings.Contains(stub, want) {
		t.Errorf("the stub lacks %s:\n%s", want, stub)
	}
	plan := w.expect("1 to move", "deploy", "--yes")
	if want := `~ (type): "acme/net:core:Network" → "acme/net:core:VPC"`; !strings.Contains(plan, want) {
		t.Errorf("the plan lacks %s:\n%s", want, plan)
	}
	w.rename(strings.NewReplacer(`label: "a"`, `label: "b"`))
	w.compileProgram()
	w.expect("1 to update", "deploy", "--yes")
	w.expect("No resources to change", "plan")

	// Programs and providers reject a resource of another type.
	w.rename(strings.NewReplacer("// @ts-expect-error", "//", "(): App => new", "new", "net: shop", "net: shop as never"))
	w.compileProgram()
	w.expect(`net: expected a resource of type acme/net:core:VPC`, "plan")
}

// packages is a folder with the modules net and app, their packages in node_modules, and a program.
type packages struct {
	*testing.T
	dir string
}

func newPackages(t *testing.T) packages {
	w := packages{t, must.Get(filepath.EvalSymlinks(t.TempDir()))(t)}
	for _, f := range must.Get(txtar.ParseFile("testdata/packages.txtar"))(t).Files {
		content := strings.ReplaceAll(string(f.Data), "$LUMI", checkout)
		writeFile(t, filepath.Join(w.dir, filepath.FromSlash(f.Name)), content)
	}
	lumi := node.Package(t, checkout)
	modules := filepath.Join(w.dir, "node_modules")
	must.Do(t,
		os.MkdirAll(filepath.Join(modules, "@lumi"), 0o755),
		os.MkdirAll(filepath.Join(modules, "@acme"), 0o755),
		os.MkdirAll(filepath.Join(modules, ".bin"), 0o755),
		os.Symlink(lumi, filepath.Join(modules, "@lumi", "lumi")),
		os.Symlink(filepath.Join(w.dir, "net", "pack"), filepath.Join(modules, "@acme", "net")),
		os.Symlink(filepath.Join(w.dir, "app", "pack"), filepath.Join(modules, "@acme", "app")),
		os.Symlink(filepath.Join(lumi, "dist", "bin", "lumi-program.js"), filepath.Join(modules, ".bin", "lumi-program")),
		os.Chmod(filepath.Join(lumi, "dist", "bin", "lumi-program.js"), 0o755))
	commands.Build(t, checkout, w.dir, "cmd/lumi")
	return w
}

// build compiles both IDLs, packages and plugins, and the program.
func (w packages) build() {
	for _, name := range []string{"net", "app"} {
		dir := filepath.Join(w.dir, name)
		if got := compile(w.T, dir, []string{"GOFLAGS=-mod=mod"}, "idl", "--out-pack", "--out-provider", "-q"); got.code != 0 || got.stderr != "" {
			w.Fatalf("%s: exit code %d\n%s", name, got.code, got.stderr)
		}
		node.Compile(w.T, checkout, filepath.Join(dir, "pack"))
		node.Run(w.T, dir, "env", "GOFLAGS=-mod=mod", "GOPROXY=off", "GOSUMDB=off", "GOWORK=off",
			"go", "build", "-o", w.dir, "./lumi-resource-acme_"+name)
	}
	w.compileProgram()
}

func (w packages) compileProgram() { node.Compile(w.T, checkout, w.dir) }

// rename replaces text in all sources.
func (w packages) rename(replacer *strings.Replacer) {
	for _, pattern := range []string{"*/idl/*.go", "*/idl/*/*.go", "*/provider/ops.go", "*/provider/*/ops.go", "*/*/main.go", "main.ts"} {
		for _, name := range must.Get(filepath.Glob(filepath.Join(w.dir, pattern)))(w.T) {
			writeFile(w.T, name, replacer.Replace(string(must.Get(os.ReadFile(name))(w.T))))
		}
	}
}

// expect runs lumi, whose output must contain text, and returns the output.
func (w packages) expect(text string, args ...string) string {
	w.Helper()
	cmd := exec.Command(filepath.Join(w.dir, "lumi"), args...)
	cmd.Dir = w.dir
	out, err := cmd.CombinedOutput()
	if failed := new(exec.ExitError); err != nil && !errors.As(err, &failed) || !strings.Contains(string(out), text) {
		w.Fatalf("%s: %v; the output lacks %q:\n%s", cmd, err, text, out)
	}
	return string(out)
}
