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

// childEnv names the folder that a child process is to write to. It does so instead of running tests.
const childEnv = "LUMI_GEN_TEST_WRITES_TO"

func TestMain(m *testing.M) {
	if root := os.Getenv(childEnv); root != "" {
		child(root)
	}
	os.Exit(m.Run())
}

// child writes two versions to root by turns until it is killed or fails. It says on standard output when the first is
// in place.
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

// TestKill kills a process that writes, again and again, and holds that every file is the old one or the new one, and
// that the next run clears away what is left.
func TestKill(t *testing.T) {
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
			t.Fatalf("child: %q, %v", line, err)
		}
		time.Sleep(rand.N(12 * time.Millisecond))
		must.Do(t, cmd.Process.Kill())
		if err := cmd.Wait(); err == nil {
			t.Fatal("the child ended before it was killed")
		}
		wantWhole(t, root, versions)
		for name := range tree(t, root) {
			if strings.HasPrefix(filepath.Base(name), temporaryStart) {
				leftovers++
			}
		}
	}
	if leftovers == 0 {
		t.Error("no process was killed while it wrote: this test shows nothing")
	}
	write(t, root, versions[0]...)
	got := tree(t, root)
	// A process killed between making a folder and the file in it leaves a folder that nobody can know to be ours.
	maps.DeleteFunc(got, func(name, _ string) bool { return strings.HasSuffix(name, "/") })
	expect.Equal(t, contents(versions[0]), got, "the next run does not clear up")
}

// TestFullDisk runs into a limit on the size of files, which fails a write in its middle as a full disk does.
func TestFullDisk(t *testing.T) {
	self := must.Get(os.Executable())(t)
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell to set the limit")
	}
	root := t.TempDir()
	old := generated("m/a.ts", "old")
	write(t, root, old)
	cmd := exec.Command(sh, "-c", `ulimit -f 4; exec "$0"`, self)
	cmd.Env = append(os.Environ(), childEnv+"="+root)
	out, err := cmd.Output()
	want := "cannot write " + filepath.Join(root, "a", "b", "x.ts") + ": file too large\n"
	if err == nil || string(out) != want {
		t.Errorf("child: %q, %v, want %q", out, err, want)
	}
	got := tree(t, root)
	for name, content := range got {
		if name != "m/a.ts" || content != string(old.Content) {
			t.Errorf("%s was left behind", name)
		}
	}
	if got["m/a.ts"] == "" {
		t.Error("the old file is gone")
	}
}
