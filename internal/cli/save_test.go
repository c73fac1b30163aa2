package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/test/kit/must"
)

const (
	brokenGraph = `{"vertices": {},}`
	rawGraph    = `{"vertices": {}}` // valid but not canonical
)

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(path, []byte(content), 0o644))
	return path
}

func TestConvertPrivateMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not support file modes")
	}
	mode := func(path string, want os.FileMode) {
		t.Helper()
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("mode of %s = %v, %v, want %v", filepath.Base(path), info.Mode(), err, want)
		}
	}
	out := filepath.Join(t.TempDir(), "out.json")
	path := write(t, "state.json", `{"version": 4, "terraform_version": "1.9.0", "serial": 1, "lineage": "x", "outputs": {}, "resources": []}`)
	var stderr bytes.Buffer
	if code := runLumi(t.Context(), []string{"convert", "-o", out, path}, strings.NewReader(""), io.Discard, &stderr, noEnv); code != console.ExitOK {
		t.Fatalf("lumi convert = exit code %d, want 0: %s", code, &stderr)
	}
	mode(out, 0o600)
}

func TestFmtReadOnlyFile(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root can write anywhere")
	}
	path := write(t, "graph.json", rawGraph)
	if err := os.Chmod(filepath.Dir(path), 0o555); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	code := runLumi(t.Context(), []string{"fmt", path}, strings.NewReader(""), io.Discard, &stderr, noEnv)
	if code != console.ExitFailed || !strings.Contains(stderr.String(), "lumi: cannot write ") {
		t.Errorf("lumi fmt = exit code %d, stderr %q, want a write error", code, &stderr)
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != rawGraph {
		t.Errorf("content = %q, %v, want it unchanged", content, err)
	}
	if err := os.Chmod(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
}
