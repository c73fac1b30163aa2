package file

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/lumigl"
)

// jobEnv holds what a child process is to do. It does so instead of running tests.
const jobEnv = "LUMI_FILE_TEST_JOB"

// job is what a child process is to do.
type job struct {
	Do     string
	Path   string
	Word   string // of the snapshot that it saves
	Fault  fault
	NoLink bool // hard links fail
	User   int  // who it becomes, if not 0
}

// jobs are what a child process can do. What they return as error it prints.
var jobs = map[string]func(job) error{
	"save":      func(j job) error { _, err := save(j.Path, j.snapshot(), j.disk()); return err },
	"write":     func(j job) error { return writeAtomic(j.disk(), j.Path, []byte(j.Word)) },
	"hold":      hold,
	"increment": increment,
	"small":     small,
	"refuse":    refuse,
	"who":       func(job) error { return errors.New(userName()) },
}

// refuse has the system refuse to sync anything, and tells what comes of it.
func refuse(j job) error {
	if err := refuseSync(j.Fault.Errno); err != nil {
		return fmt.Errorf("no filter: %w", err)
	}
	fmt.Println(system{}.syncDir(filepath.Dir(j.Path)))
	fmt.Println(writeAtomic(system{}, j.Path, []byte(j.Word)))
	return nil
}

// small fills what is left of a small disk, and tries to save all the same. Then it makes the disk read-only.
func small(j job) error {
	if err := mountSmall(filepath.Dir(j.Path)); err != nil {
		fmt.Println("no disk:", err)
		return nil
	}
	if _, err := save(j.Path, j.snapshot(), nil); err != nil {
		return err
	}
	tell := func() {
		_, err := save(j.Path, j.snapshot(), nil)
		fmt.Println(err)
		fmt.Println(writeAtomic(system{}, j.Path, make([]byte, smallDisk)))
		s, v, err := Load(j.Path)
		if err != nil {
			fmt.Println(err)
			return
		}
		entries, _ := os.ReadDir(filepath.Dir(j.Path))
		fmt.Println(s.Len(), v.Serial, len(entries))
	}
	tell()
	if err := remountSmall(filepath.Dir(j.Path)); err != nil {
		return err
	}
	tell()
	return nil
}

// crowd is how many resources there are in a large snapshot.
const crowd = 10

// large makes a snapshot that is written in several pieces.
func large(t testing.TB, word string) *lumigl.Snapshot {
	t.Helper()
	s := snapshot(t, crowd, word)
	for v := range s.Vertices() {
		filler := lumigl.Member{Key: "filler", Value: lumigl.TextOf(strings.Repeat("x", 8<<10))}
		v.Properties = lumigl.ObjectOf(lumigl.Member{Key: "word", Value: lumigl.TextOf(word)}, filler)
	}
	return s
}

func (j job) snapshot() *lumigl.Snapshot { return large(&testing.T{}, j.Word) }

func (j job) disk() disk { return j.Fault.disk(j.NoLink) }

func TestMain(m *testing.M) {
	if text := os.Getenv(jobEnv); text != "" {
		var j job
		err := json.Unmarshal([]byte(text), &j)
		if err == nil && j.User != 0 {
			err = become(j.User)
		}
		if err == nil {
			err = jobs[j.Do](j)
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func command(t testing.TB, j job) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(j)
	must(t, err)
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), jobEnv+"="+string(text))
	if testing.CoverMode() != "" { // What the child covers has to go to where any user can write.
		dir := t.TempDir()
		must(t, os.Chmod(filepath.Dir(dir), 0o755))
		must(t, os.Chmod(dir, 0o777))
		cmd.Env = append(cmd.Env, "GOCOVERDIR="+dir)
	}
	return cmd
}

// run runs a child to its end and returns what it prints and whether it was killed.
func run(t testing.TB, j job) (printed string, killed bool) {
	t.Helper()
	out, err := command(t, j).Output()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return string(out), false
	case !errors.As(err, &exit):
		t.Fatal(err)
	case exit.ExitCode() > 1 || len(exit.Stderr) > 0:
		t.Fatalf("the child failed: %v\n%s", err, exit.Stderr)
	}
	return strings.TrimSpace(string(out)), exit.ExitCode() < 0
}

// hold locks the file, says so, and holds it until standard input ends. Then it saves.
func hold(j job) error {
	l, err := Open(context.Background(), j.Path, Options{Command: "lumi hold", Waiting: func(p Process) {
		fmt.Println("waiting for", p)
	}})
	if err != nil {
		return err
	}
	fmt.Println("locked")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	_, loaded, err := l.Load()
	if err != nil {
		return err
	}
	if _, err := l.Save(j.snapshot(), loaded); err != nil {
		return err
	}
	return l.Close()
}

// increment adds a resource to what is there, and tries again for as long as others are faster. It loads before it
// locks.
func increment(j job) error {
	for {
		s, loaded, err := Load(j.Path)
		if err != nil {
			return err
		}
		if s == nil {
			s = &lumigl.Snapshot{}
		}
		add(&testing.T{}, s, j.Word, "x")
		l, err := Open(context.Background(), j.Path, Options{Waiting: func(Process) {}})
		if err != nil {
			return err
		}
		v, err := l.Save(s, loaded)
		if closeErr := l.Close(); err == nil {
			err = closeErr
		}
		var stale *StaleError
		if errors.As(err, &stale) {
			continue
		}
		if err == nil {
			fmt.Println(v.Serial)
		}
		return err
	}
}

// running is a child that has been started.
type running struct {
	*exec.Cmd
	in    io.WriteCloser
	lines *bufio.Reader
}

func start(t testing.TB, j job) *running {
	t.Helper()
	cmd := command(t, j)
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	return &running{cmd, in, bufio.NewReader(out)}
}

func (r *running) line(t testing.TB) string {
	t.Helper()
	line, err := r.lines.ReadString('\n')
	must(t, err)
	return strings.TrimSpace(line)
}
