package pages_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/kit/tutorial"
)

func TestTasks(t *testing.T) {
	t.Parallel()
	steps := must.Get(tutorial.Steps(read(t, filepath.Join("..", "..", "..", "docs", "tasks.md")), ""))(t)
	dir := t.TempDir()
	path := filepath.Dir(providertest.Build(t, "../../../cmd/lumi")) + string(filepath.ListSeparator) + os.Getenv("PATH")
	r := &tutorial.Reader{
		Page: "docs/tasks.md", Dir: dir, Env: append(os.Environ(), "PATH="+path, "XDG_STATE_HOME="+dir, "NO_COLOR=1"), Errors: true,
	}
	r.Do(t, steps...)
}
