package gen

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// childEnv names the environment variable that makes the test binary run child with its value instead of running tests.
const childEnv = "LUMI_GEN_TEST_WRITES_TO"

func TestMain(m *testing.M) {
	if root := os.Getenv(childEnv); root != "" {
		child(root)
	}
	os.Exit(m.Run())
}

// child alternately writes two versions of the corpus to root until it is killed or fails. It prints "ready" after the
// first.
func child(root string) {
	versions := [][]File{corpus("a"), corpus("b")}
	for i := 0; ; i++ {
		p, err := Compare(root, versions[i%2])
		if err == nil {
			_, err = Write(context.Background(), p)
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		if i == 0 {
			fmt.Println("ready")
		}
	}
}

// TestWriteKilled repeatedly kills a process while it writes. Each file must then be either the old or the new version, and
// the next run must remove leftovers.
func TestWriteKilled(t *testing.T) {
	self := must.Get(os.Executable())(t)
	root := t.TempDir()
	versions := [][]File{corpus("a"), corpus("b")}
	leftovers := 0
	for range 25 {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), childEnv+"="+root)
		out := must.Get(cmd.StdoutPipe())(t)
		must.Do(t, cmd.Start())
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil || line != "ready\n" {
			t.Fatalf("child printed %q, %v, want ready", line, err)
		}
		time.Sleep(rand.N(12 * time.Millisecond))
		must.Do(t, cmd.Process.Kill())
		if err := cmd.Wait(); err == nil {
			t.Fatal("the child exited before it was killed")
		}
		wantWhole(t, root, versions)
		for name := range tree(t, root) {
			if strings.HasPrefix(filepath.Base(name), temporaryStart) {
				leftovers++
			}
		}
	}
	if leftovers == 0 {
		t.Error("no process was killed while writing, want some leftovers")
	}
	write(t, root, versions[0]...)
	got := tree(t, root)
	// A process killed right after creating a folder leaves an empty folder that nothing identifies as ours.
	maps.DeleteFunc(got, func(name, _ string) bool { return strings.HasSuffix(name, "/") })
	expect.Equal(t, contents(versions[0]), got, "folder after the next run")
}

// A limit on the file size interrupts a write, like a full disk.
func TestWriteInterrupted(t *testing.T) {
	self := must.Get(os.Executable())(t)
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell to set the limit")
	}
	root := t.TempDir()
	old := generated("m/a.ts", "old")
	write(t, root, old)
	cmd := exec.Command(sh, "-c", `ulimit -f 4; exec "$0"`, self)
	cmd.Env = append(os.Environ(), childEnv+"="+root)
	out, err := cmd.Output()
	want := "cannot write " + filepath.Join(root, "a", "b", "x.ts") + ": file too large\n"
	if err == nil || string(out) != want {
		t.Errorf("child printed %q, error %v, want %q and an error", out, err, want)
	}
	got := tree(t, root)
	for name, content := range got {
		if name != "m/a.ts" || content != string(old.Content) {
			t.Errorf("found the leftover file %s", name)
		}
	}
	if got["m/a.ts"] == "" {
		t.Error("the old file m/a.ts was removed, want it kept")
	}
}
