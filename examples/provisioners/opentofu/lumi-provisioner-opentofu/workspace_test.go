package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// The commands in README.md deploy the example. A provider and OpenTofu use each other's outputs.
func TestWorkspace(t *testing.T) {
	needTofu(t)
	dir := t.TempDir()
	must.Do(t, os.CopyFS(dir, os.DirFS("../workspace")))
	var path []string
	for _, pkg := range []string{"../../../../cmd/lumi", "../../../local/provider/lumi-resource-local", "."} {
		path = append(path, filepath.Dir(providertest.Build(t, pkg)))
	}
	lumi := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(filepath.Join(path[0], "lumi"), args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "LUMI_PASSPHRASE=correct horse", "PATH="+strings.Join(append(path, os.Getenv("PATH")), string(filepath.ListSeparator)))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("lumi %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	read := func(name string) string {
		t.Helper()
		return string(must.Get(os.ReadFile(filepath.Join(dir, name)))(t))
	}
	has := func(text, want string) {
		t.Helper()
		if !strings.Contains(text, want) {
			t.Errorf("text does not contain %q:\n%s", want, text)
		}
	}
	edit := func(from, to string) {
		t.Helper()
		text := read("zoo.json")
		has(text, from)
		must.Do(t, os.WriteFile(filepath.Join(dir, "zoo.json"), []byte(strings.Replace(text, from, to, 1)), 0o600))
	}
	out := lumi("plan", "--details", "zoo.json")
	has(out, `
Task 2, opentofu:
    # random_pet.mascot will be created
    + resource "random_pet" "mascot" {
        + id        = (known after apply)
        + length    = 2
        + prefix    = (known after apply)
        + separator = "-"
      }
`)
	has(out, "\n  Plan: 2 to add, 0 to change, 0 to destroy.\n")
	lumi("deploy", "--yes", "zoo.json")
	mascot := read("mascot.txt")
	equal(t, strings.Count(mascot, "-"), 2) // the prefix from the provider

	// An update of another property does not change the pet's id in the file and in OpenTofu's state.
	edit(`"visits": 1`, `"visits": 2`)
	lumi("deploy", "--yes", "zoo.json")
	equal(t, read("mascot.txt"), mascot)
	has(read(".lumi/opentofu/dev/zoo/terraform.tfstate"), `"animal": "`+mascot+`"`)

	// Replacing the pet updates the resources that depend on its id.
	edit(`"length": 2`, `"length": 3`)
	lumi("deploy", "--yes", "zoo.json")
	equal(t, strings.Count(read("mascot.txt"), "-"), 3)
	has(read(".lumi/opentofu/dev/zoo/terraform.tfstate"), `"animal": "`+read("mascot.txt")+`"`)
	has(lumi("plan", "zoo.json"), "No resources to change, 4 unchanged\n")

	lumi("destroy", "--yes")
	equal(t, exists(filepath.Join(dir, "mascot.txt")), false)
	equal(t, exists(filepath.Join(dir, ".lumi", "opentofu", "dev", "zoo")), false)
}
