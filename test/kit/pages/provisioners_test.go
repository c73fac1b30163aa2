package pages_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/kit/node"
	"github.com/lumi-idl/lumi/test/kit/tutorial"
)

// The commands in docs/provisioners.md work in an empty folder without network access. The page shows the provisioner of
// the example.
func TestProvisioners(t *testing.T) {
	if testing.Short() {
		t.Skip("deploys")
	}
	t.Parallel()
	checkout, env := deployer(t)
	bin := t.TempDir() // contains jq, which may not be installed
	node.Run(t, filepath.Join(checkout, "tools"), "go", "build", "-o", filepath.Join(bin, "jq"), "github.com/itchyny/gojq/cmd/gojq")
	steps := must.Get(tutorial.Steps(read(t, filepath.Join(checkout, "docs", "provisioners.md")), ""))(t)
	main := read(t, filepath.Join(checkout, "examples", "provisioners", "folder", "lumi-provisioner-folder", "main.go"))
	if !slices.ContainsFunc(steps, func(s tutorial.Step) bool { return s.File == "lumi-provisioner-folder/main.go" && s.Text == main }) {
		t.Error("main.go in docs/provisioners.md differs from examples/provisioners/folder/lumi-provisioner-folder/main.go")
	}
	for i := range steps {
		steps[i].Text = strings.ReplaceAll(steps[i].Text, install, offline)
	}
	r := &tutorial.Reader{Page: "docs/provisioners.md", Dir: t.TempDir(), Env: env, Errors: true}
	r.Do(t, tutorial.Step{Kind: tutorial.RunCommands, Text: "export PATH=" + bin + ":$PATH\n"})
	r.Do(t, steps...)
}
