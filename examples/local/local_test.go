package local_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/lumi-idl/lumi/runtime/providertest"
)

func TestOutputIsCurrent(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("go", "run", "../../cmd/cidlc", "idl", "--out-pack", "--out-provider", "--out-schema=schema.json", "--check")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("generated code is out of date; run 'make example': %v\n%s", err, out)
	}
}

// The provider passes 'lumi provider test' with fixture.json and leaves no files behind.
func TestFixture(t *testing.T) {
	t.Parallel()
	lumi, plugin := providertest.Build(t, "../../cmd/lumi"), providertest.Build(t, "./provider/lumi-resource-local")
	dir := t.TempDir()
	fixture, err := os.ReadFile("fixture.json")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "fixture.json"), fixture, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(lumi, "provider", "test", plugin, "--fixture=fixture.json")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("lumi provider test: %v\n%s", err, out)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("working directory contains %v, %v, want only fixture.json", entries, err)
	}
}
