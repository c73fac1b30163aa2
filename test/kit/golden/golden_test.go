package golden

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestUpdate(t *testing.T) {
	dir := t.TempDir()
	archive, text := filepath.Join(dir, "a.txtar"), filepath.Join(dir, "text")
	must.Do(t, os.WriteFile(archive, []byte("-- want --\nold\n"), 0o644))
	for _, update := range []bool{true, false} {
		func() {
			defer func(old bool) { *Update = old }(*Update)
			*Update = update
			Archives(t, filepath.Join(dir, "*.txtar"), func(t *testing.T, a *txtar.Archive) { Part(t, &a.Files[0], "new\n") })
			File(t, text, "new\n")
		}()
	}
	expect.Equal(t, "-- want --\nnew\n", string(must.Get(os.ReadFile(archive))(t)))
	expect.Equal(t, "new\n", string(must.Get(os.ReadFile(text))(t)))
}
