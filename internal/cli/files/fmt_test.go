package files

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/document"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// A file that has changed since it was read is not rewritten.
func TestRewriteChangedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prod.json")
	must.Do(t, os.WriteFile(path, []byte(`{"vertices": {}}`), 0o644))
	f := &formatter{con: console.New(strings.NewReader(""), io.Discard, io.Discard, os.Getenv)}
	in := must.Get(document.ReadFile(f.con, path))(t)
	const changed = `{"vertices": {},}`
	must.Do(t, os.WriteFile(path, []byte(changed), 0o644))
	err := f.rewrite(in, path, []byte("{}"))
	if want := path + " changed while it was being formatted, and was not rewritten: try again"; err == nil || err.Error() != want {
		t.Errorf("rewrite = %v, want %s", err, want)
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != changed {
		t.Errorf("content = %q, %v, want the changed file", content, err)
	}
}
