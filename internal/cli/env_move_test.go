package cli

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// A failed export leaves no file, which would fail the next attempt.
func TestExportCleanup(t *testing.T) {
	t.Chdir(t.TempDir())
	must.Do(t, os.WriteFile("Lumi.yaml", []byte("environment: dev\n"), 0o600))
	run := func(want int, args ...string) {
		t.Helper()
		var stderr bytes.Buffer
		if code := runLumi(t.Context(), args, strings.NewReader(""), io.Discard, &stderr, noEnv); code != want {
			t.Errorf("lumi %v = exit code %d, want %d: %s", args, code, want, &stderr)
		}
	}
	run(console.ExitOK, "env", "new", "dev")
	must.Do(t, os.MkdirAll("dev.db-wal/blocked", 0o700)) // SQLite cannot create its log
	run(console.ExitFailed, "env", "export", "dev", "dev.db")
	if _, err := os.Stat("dev.db"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat after a failed export = %v, want ErrNotExist", err)
	}
	must.Do(t, os.RemoveAll("dev.db-wal"))
	run(console.ExitOK, "env", "export", "dev", "dev.db")
	run(console.ExitWrong, "env", "import", "dev.db")
	run(console.ExitOK, "env", "delete", "dev", "--yes", "--force")
	run(console.ExitOK, "env", "import", "dev.db")
}
