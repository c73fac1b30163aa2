package local_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/commands"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/kit/node"
)

const readsProgram = `
import * as lumi from "@lumi/lumi";
import * as local from "../../pack/index.js";

const greeting = local.readFile({ path: "greeting.txt" });
const motd = local.File.get("motd.txt");
const made = new local.Command("made", { create: "echo made > made.txt; printf made.txt" });
const later = local.readFile({ path: made.stdout });
new local.File({ path: "all.txt", content: lumi.interpolate` + "`${greeting.content} ${motd.checksum} ${later.size}`" + ` });
new local.File({ path: "absent/copy.txt", content: greeting.content });
`

// A program reads a file with a function, looks up another one, and reads one that the deployment creates. A failed deployment
// keeps the results, a changed file changes what refers to it, and no file that is only read is deleted.
func TestReads(t *testing.T) {
	t.Parallel()
	checkout, bin := must.Get(filepath.Abs("../.."))(t), t.TempDir()
	commands.Build(t, checkout, bin, "cmd/lumi", "examples/local/provider/lumi-resource-local")
	programs, _ := node.Workspace(t, checkout, "local")
	site := filepath.Join(programs, "site")
	lumi := func(args ...string) string { return node.Run(t, programs, filepath.Join(bin, "lumi"), args...) }
	fails := func(want string, args ...string) {
		t.Helper()
		cmd := exec.Command(filepath.Join(bin, "lumi"), args...)
		cmd.Dir = programs
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v, want an error with %q:\n%s", cmd, err, want, out)
		}
	}
	write := func(name, text string) { must.Do(t, os.WriteFile(filepath.Join(site, name), []byte(text), 0o600)) }
	read := func(name string) string { return string(must.Get(os.ReadFile(filepath.Join(site, name)))(t)) }
	write("main.ts", readsProgram)
	write("greeting.txt", "hello")
	fails(`local:index:File "#1": File "motd.txt" does not exist: correct the id, or create the resource first`, "plan")
	write("motd.txt", "welcome")
	node.Compile(t, checkout, programs, "--noEmit")
	expect.Equal(t, true, strings.Contains(lumi("plan"), "\n< read #2 local:index:ReadFile  site/main.ts:8:21\n"))
	fails("the directory absent does not exist", "deploy", "--yes")
	must.Do(t, os.Mkdir(filepath.Join(site, "absent"), 0o755))
	write("greeting.txt", "bye")
	lumi("retry")
	const checksum = "280d44ab1e9f79b5cce2dd4f58f5fe91f0fbacdac9f7447dffc318ceb79f2d02"
	expect.Equal(t, "hello "+checksum+" 5", read("all.txt"))
	expect.Equal(t, "hello", read("absent/copy.txt"))
	fails("2 to update, 1 unchanged\n", "plan", "--check")
	lumi("deploy", "--yes")
	expect.Equal(t, "bye "+checksum+" 5", read("all.txt"))
	lumi("plan", "--check")
	lumi("destroy", "--yes")
	expect.Equal(t, "bye welcome", read("greeting.txt")+" "+read("motd.txt"))
	if _, err := os.Stat(filepath.Join(site, "all.txt")); !os.IsNotExist(err) {
		t.Errorf("all.txt exists after destroy: %v", err)
	}
}
