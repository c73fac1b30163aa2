package peering_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/kit/node"
)

func TestOutputIsCurrent(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("go", "-C", "../..", "run", "./cmd/cidlc", "examples/peering/idl", "--out-pack", "--out-provider", "--check")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("generated code is out of date; run 'make example': %v\n%s", err, out)
	}
}

// The packs and the program compile in strict mode, and the connection refers to networks of the other package.
func TestProgram(t *testing.T) {
	t.Parallel()
	checkout := must.Get(filepath.Abs("../.."))(t)
	programs, lumi := node.Workspace(t, checkout, "peering")
	aws := filepath.Join(filepath.Dir(programs), "node_modules", "aws")
	must.Do(t, os.CopyFS(aws, os.DirFS(filepath.Join(checkout, "examples", "aws", "pack"))))
	for _, dir := range []string{aws, filepath.Join(filepath.Dir(programs), "pack"), programs} {
		node.Compile(t, checkout, dir)
	}
	got := node.Run(t, programs, "node", filepath.Join(lumi, "dist", "bin", "lumi-program.js"), filepath.Join("bin", "programs", "main.js"))
	if want := `"requester": { "#ref": "urn:lumi:dev::peering-example:index::aws:ec2:VPC::shop" }`; !strings.Contains(got, want) {
		t.Errorf("graph does not contain %s:\n%s", want, got)
	}
}
