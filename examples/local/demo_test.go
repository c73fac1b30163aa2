package local_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/commands"
	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/kit/node"
)

// The commands printed at the end of 'make demo' work.
func TestDemo(t *testing.T) {
	t.Parallel()
	bin, temporary := t.TempDir(), t.TempDir()
	checkout := must.Get(filepath.Abs("../.."))(t)
	commands.Build(t, checkout, bin, "cmd/lumi", "examples/local/provider/lumi-resource-local")
	lumi := node.Package(t, checkout)
	shell := func(script string) string {
		cmd := exec.Command("sh", "-euc", script, "sh", bin, lumi)
		cmd.Env = append(os.Environ(), "TMPDIR="+temporary)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("running the demo: %v\n%s", err, out)
		}
		return string(out)
	}
	out := shell(`./demo.sh "$@"`)
	_, files, _ := strings.Cut(out, "now contains:\n")
	files, next, _ := strings.Cut(files, "destroy everything:\n")
	for _, want := range []string{"site/index.txt", "site/password.txt", "site/site/css/site.css", "site/site/index.html"} {
		if !strings.Contains(files, "    "+want+"\n") {
			t.Errorf("output does not list file %s:\n%s", want, out)
		}
	}
	next = strings.NewReplacer("lumi deploy", "lumi deploy --yes", "lumi destroy", "lumi destroy --yes").Replace(next)
	next = strings.Replace(next, "rm -r", "find site -type f\nrm -r", 1)
	if out = shell(next); !strings.Contains(out, "No resources to change, 4 unchanged\n") || !strings.HasSuffix(out, "\nsite/main.ts\n") {
		t.Errorf("output of the printed commands does not report 4 unchanged resources and a successful destroy:\n%s", out)
	}
	if left, err := filepath.Glob(filepath.Join(temporary, "lumi-demo-*")); err != nil || len(left) > 0 {
		t.Errorf("temporary folders = %v, %v, want none", left, err)
	}
}
