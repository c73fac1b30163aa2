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

var update = flag.Bool("update", false, "write what comes out of the programs now to the files that hold it")

// TestPrograms compiles the programs with all checks that TypeScript has, which includes that types.ts is as wrong as it
// says, and compares what they print with their files output.txt.
func TestPrograms(t *testing.T) {
	t.Parallel()
	programs, _ := compile(t)
	for _, program := range []string{"gallery", "mistakes"} {
		got := node.Run(t, filepath.Join(programs, program), "node", "main.js")
		compare(t, filepath.Join(program, "output.txt"), got)
	}
}

// TestGraph compares what a program evaluates to with its file graph.json.
func TestGraph(t *testing.T) {
	t.Parallel()
	programs, lumi := compile(t)
	command := filepath.Join(lumi, "dist", "bin", "lumi-program.js")
	got := node.Run(t, programs, "node", command, filepath.Join("web", "main.js"))
	compare(t, filepath.Join("web", "graph.json"), got)
	snapshot, err := lumigl.ParseSnapshot(got)
	if err != nil {
		t.Fatal(err)
	}
	canonical, err := lumigl.Append(nil, snapshot)
	if diff := cmp.Diff(got, string(canonical)); diff != "" || err != nil {
		t.Errorf("%v, and 'lumi fmt' would change it:\n%s", err, diff)
	}
}

// compile compiles the programs and the package that they use, and returns the folder that the programs are in now,
// and the one of @lumi/lumi.
func compile(t *testing.T) (programs, lumi string) {
	t.Helper()
	checkout, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	example := t.TempDir()
	for _, name := range []string{"pack", "programs"} {
		source := os.DirFS(filepath.Join(checkout, "examples", "aws", name))
		if err := os.CopyFS(filepath.Join(example, name), source); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(example, "package.json"), []byte(`{"type": "module"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	scope := filepath.Join(example, "node_modules", "@lumi")
	if err := os.MkdirAll(scope, 0o755); err != nil {
		t.Fatal(err)
	}
	lumi = node.Package(t, checkout)
	if err := os.Symlink(lumi, filepath.Join(scope, "lumi")); err != nil {
		t.Fatal(err)
	}
	node.Compile(t, checkout, filepath.Join(example, "programs"))
	return filepath.Join(example, "programs", "bin", "programs"), lumi
}

// compare compares a text with a golden file.
func compare(t *testing.T, golden, got string) {
	t.Helper()
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
}
