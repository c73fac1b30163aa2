package atomicfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// jobEnv names the environment variable that makes the test binary run a job instead of tests.
const jobEnv = "LUMI_ATOMICFILE_TEST_JOB"

// job is the work of a child process.
type job struct {
	Do    string
	Path  string
	Text  string
	Fault fault
	User  int // the ID of the user to switch to, unless 0
}

// jobs maps each name to a job. The child prints the error of its job.
var jobs = map[string]func(job) error{
	"write":  func(j job) error { return write(j.Fault.disk(), j.Path, Bytes([]byte(j.Text)), 0o600) },
	"small":  small,
	"refuse": refuse,
}

// refuse makes every sync fail and prints the results of syncing and writing.
func refuse(j job) error {
	if err := refuseSync(j.Fault.Errno); err != nil {
		return fmt.Errorf("no filter: %w", err)
	}
	fmt.Println(system{}.syncDir(filepath.Dir(j.Path)))
	fmt.Println(Write(j.Path, []byte(j.Text)))
	return nil
}

// small prints the results of writing to a full disk and to a read-only one.
func small(j job) error {
	if err := mountSmall(filepath.Dir(j.Path)); err != nil {
		fmt.Println("no disk:", err)
		return nil
	}
	if err := Write(j.Path, []byte(j.Text)); err != nil {
		return err
	}
	tell := func() {
		fmt.Println(Write(j.Path, make([]byte, smallDisk)))
		text, err := os.ReadFile(j.Path)
		entries, _ := os.ReadDir(filepath.Dir(j.Path))
		fmt.Println(string(text), err, len(entries))
	}
	tell()
	if err := remountSmall(filepath.Dir(j.Path)); err != nil {
		return err
	}
	tell()
	return nil
}

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
	if testing.CoverMode() != "" { // every user must be able to write coverage data
		dir := t.TempDir()
		must(t, os.Chmod(filepath.Dir(dir), 0o755))
		must(t, os.Chmod(dir, 0o777))
		cmd.Env = append(cmd.Env, "GOCOVERDIR="+dir)
	}
	return cmd
}

// run runs a child and returns its output. Killed reports whether the child was killed.
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
		t.Fatalf("child: %v\n%s", err, exit.Stderr)
	}
	return strings.TrimSpace(string(out)), exit.ExitCode() < 0
}
