// Package golden compares output with golden files. With the flag -update, it rewrites the files instead.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// Update is the value of the flag -update.
var Update = flag.Bool("update", false, "write what comes out now to the golden files instead of comparing with them")

// Archives runs test as a subtest for each txtar archive that matches the pattern, and fails if there are none. With
// -update, it then writes the archive back.
func Archives(t *testing.T, pattern string, test func(t *testing.T, a *txtar.Archive)) {
	t.Helper()
	names := must.Get(filepath.Glob(pattern))(t)
	if len(names) == 0 {
		t.Fatalf("no files match %s", pattern)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a := must.Get(txtar.ParseFile(name))(t)
			test(t, a)
			if *Update {
				must.Do(t, os.WriteFile(name, txtar.Format(a), 0o644))
			}
		})
	}
}

// Part compares got with a file in an archive. With -update, it replaces the file's content instead.
func Part(t *testing.T, f *txtar.File, got string) {
	t.Helper()
	if *Update {
		f.Data = []byte(got)
	}
	expect.Equal(t, string(f.Data), got, f.Name)
}

// File compares got with the named file. With -update, it writes the file instead.
func File(t *testing.T, name, got string) {
	t.Helper()
	if *Update {
		must.Do(t, os.WriteFile(name, []byte(got), 0o644))
	}
	expect.Equal(t, string(must.Get(os.ReadFile(name))(t)), got, name)
}
