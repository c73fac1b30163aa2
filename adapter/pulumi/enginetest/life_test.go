package enginetest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestLife(t *testing.T) {
	s := newStack(t)
	path := filepath.Join(s.dir, "a.txt")
	file := func(content string) program {
		return one("local:index:File", "a", map[string]any{"path": path, "content": content})
	}
	s.up("create a", file("one"))
	if got := string(must.Get(os.ReadFile(path))(t)); got != "one" {
		t.Errorf("the file has %q, want one", got)
	}
}
