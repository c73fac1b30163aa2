package programs_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/internal/nodetest"
)

var update = flag.Bool("update", false, "write what the programs print now to the files that hold it")

// TestPrograms compiles the programs with all checks that TypeScript has, which includes that types.ts is as wrong as it
// says, and compares what they print with their files output.txt.
func TestPrograms(t *testing.T) {
	t.Parallel()
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
	if err := os.Symlink(nodetest.Package(t, checkout), filepath.Join(scope, "lumi")); err != nil {
		t.Fatal(err)
	}
	nodetest.Compile(t, checkout, filepath.Join(example, "programs"))
	for _, program := range []string{"gallery", "mistakes"} {
		got := nodetest.Run(t, filepath.Join(example, "programs", "bin", "programs", program), "node", "main.js")
		golden := filepath.Join(program, "output.txt")
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
			t.Errorf("%s prints something else (-want +got):\n%s", program, diff)
		}
	}
}
