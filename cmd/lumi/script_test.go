package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write the golden files in the scripts instead of comparing with them")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"lumi": main})
}

// TestScripts runs testdata/script/*.txtar, each of which is a bug report and its test. With -update, what the scripts
// compare output with is rewritten.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", UpdateScripts: *update})
}

// TestExamples holds that every command has examples, and that each runs in a folder that holds testdata/examples: the
// input may be wrong in them, but not the use.
func TestExamples(t *testing.T) {
	files, err := filepath.Abs("testdata/examples")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, c := range commands() {
		if c.hidden {
			continue
		}
		if len(c.examples) == 0 || c.short == "" || c.long == "" {
			t.Errorf("'lumi %s' has no help with an example", c.name)
		}
		var script strings.Builder
		for _, e := range c.examples {
			if !strings.Contains(e.line, "lumi "+c.name) {
				t.Errorf("%q is no example of 'lumi %s'", e.line, c.name)
			}
			fmt.Fprintf(&script, "exec bash -o pipefail -c '%s; test $? -lt 2'\n", strings.ReplaceAll(e.line, "'", "''"))
		}
		if err := os.WriteFile(filepath.Join(dir, c.name+".txtar"), []byte(script.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	testscript.Run(t, testscript.Params{
		Dir:   dir,
		Setup: func(env *testscript.Env) error { return os.CopyFS(env.WorkDir, os.DirFS(files)) },
	})
}
