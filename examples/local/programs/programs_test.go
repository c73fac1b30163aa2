package programs_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/internal/testkit/node"
	"github.com/lumi-idl/lumi/lumigl"
)

var update = flag.Bool("update", false, "write what the programs evaluate to now to the files that hold it")

// TestGraphs compiles the programs with all checks that TypeScript has, and compares what each evaluates to with its file
// graph.json.
func TestGraphs(t *testing.T) {
	t.Parallel()
	checkout, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	lumi, example := node.Package(t, checkout), t.TempDir()
	scope := filepath.Join(example, "node_modules", "@lumi")
	for _, err := range []error{
		os.CopyFS(filepath.Join(example, "pack"), os.DirFS(filepath.Join(checkout, "examples", "local", "pack"))),
		os.CopyFS(filepath.Join(example, "programs"), os.DirFS(".")),
		os.WriteFile(filepath.Join(example, "package.json"), []byte(`{"type": "module"}`), 0o644),
		os.MkdirAll(scope, 0o755),
		os.Symlink(lumi, filepath.Join(scope, "lumi")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	node.Compile(t, checkout, filepath.Join(example, "programs"))
	programs, command := filepath.Join(example, "programs", "bin", "programs"), filepath.Join(lumi, "dist", "bin", "lumi-program.js")
	for _, program := range []string{"site"} {
		got := node.Run(t, programs, "node", command, filepath.Join(program, "main.js"))
		golden := filepath.Join(program, "graph.json")
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s is not what comes out (-want +got):\n%s", golden, diff)
		}
		if _, err := lumigl.ParseSnapshot(got); err != nil {
			t.Error(err)
		}
	}
}
