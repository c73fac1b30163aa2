package providertest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/tutorial"
)

// The steps in docs/testing.md work in an empty folder without a network.
func TestDocs(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a plugin in a separate module")
	}
	t.Parallel()
	checkout, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(checkout, "docs/testing.md"))
	if err != nil {
		t.Fatal(err)
	}
	steps, err := tutorial.Steps(string(text), "From an empty folder to the built plugin")
	if err != nil {
		t.Fatal(err)
	}
	r := &tutorial.Reader{
		Page: "docs/testing.md", Dir: t.TempDir(), Env: tutorial.Environment(t, checkout), Errors: true,
	}
	r.Do(t, steps...)
}
