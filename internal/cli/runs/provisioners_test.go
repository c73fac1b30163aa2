package runs

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	lumiyaml "github.com/lumi-idl/lumi/deploy/workspace"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestFindProvisioners(t *testing.T) {
	first, second := t.TempDir(), filepath.Join(t.TempDir(), "with [brackets]")
	write := func(path string, mode os.FileMode) {
		must.Do(t, os.WriteFile(path, nil, mode))
	}
	for _, dir := range []string{filepath.Join(first, "lumi-provisioner-folder"), second} {
		must.Do(t, os.Mkdir(dir, 0o755))
	}
	must.Do(t, os.Symlink("gone", filepath.Join(first, "lumi-provisioner-link")))
	write(filepath.Join(first, "lumi-provisioner-git"), 0o755)
	write(filepath.Join(first, "lumi-provisioner-Git"), 0o755)
	write(filepath.Join(first, "lumi-provisioner-"), 0o755)
	write(filepath.Join(first, "lumi-provisioner-text"), 0o644)
	write(filepath.Join(first, "lumi-resource-local"), 0o755)
	write(filepath.Join(second, "lumi-provisioner-git"), 0o755)
	write(filepath.Join(second, "lumi-provisioner-folder"), 0o755)
	write(filepath.Join(second, "lumi-provisioner-tofu.exe"), 0o755)
	t.Chdir(second)
	t.Setenv("PATH", filepath.Join(first, "missing")+string(os.PathListSeparator)+first+string(os.PathListSeparator)+second)
	s := &workspace.Session{Console: console.New(nil, io.Discard, io.Discard, os.Getenv), Workspace: &lumiyaml.Workspace{}}
	want := map[string]string{
		"git":    filepath.Join(first, "lumi-provisioner-git"),
		"folder": filepath.Join(second, "lumi-provisioner-folder"),
		"tofu":   filepath.Join(second, "lumi-provisioner-tofu.exe"),
	}
	found := findProvisioners(s).paths
	expect.Equal(t, want, found)
	t.Setenv("PATH", "."+string(os.PathListSeparator)) // exec.LookPath ignores relative folders
	if got := findProvisioners(s).paths; len(got) > 0 {
		t.Errorf("findProvisioners with a relative folder = %v, want none", got)
	}
}
