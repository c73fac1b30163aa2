package host

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/test/kit/sshd"
)

// machines calls f with each kind of host: this machine, this machine with only busybox, and a host over SSH. state is
// the directory that contains their states. Other tests use only this machine to save time.
func machines(t *testing.T, f func(t *testing.T, h *shell, state string)) {
	t.Helper()
	t.Run("local", func(t *testing.T) {
		t.Parallel()
		h, state := here(t)
		f(t, h, state)
	})
	t.Run("busybox", func(t *testing.T) {
		t.Parallel()
		busybox, err := exec.LookPath("busybox")
		if err != nil {
			t.Skip("busybox is not installed; run 'apt-get install busybox'")
		}
		bin := t.TempDir()
		if out, err := exec.Command(busybox, "--install", "-s", bin).CombinedOutput(); err != nil {
			t.Fatalf("busybox --install: %v\n%s", err, out)
		}
		h, state := here(t)
		h.transport = local{shell: filepath.Join(bin, "sh"), env: []string{"XDG_STATE_HOME=" + state, "PATH=" + bin}}
		f(t, h, state)
	})
	t.Run("ssh", func(t *testing.T) {
		t.Parallel()
		s := sshd.Start(t)
		f(t, over(t, s), s.State)
	})
}

func here(t *testing.T) (*shell, string) {
	state := t.TempDir()
	return &shell{transport: local{env: []string{"XDG_STATE_HOME=" + state}}, patience: time.Second}, state
}

func over(t *testing.T, s *sshd.Server) *shell {
	t.Helper()
	h, err := (&Pool{Home: s.Home, patience: 10 * time.Second, Agent: "/nonexistent"}).Open(t.Context(), s.Node("web-1"), Access{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h.(*shell)
}

// run runs a command and returns its exit status and output.
func run(t *testing.T, h *shell, c Command) (int, string) {
	t.Helper()
	exit, out, err := try(t.Context(), h, c)
	if err != nil {
		t.Fatal(err)
	}
	return exit, out
}

func try(ctx context.Context, h *shell, c Command) (int, string, error) {
	var out []string
	c.Output = func(line string) { out = append(out, line) }
	exit, err := h.Run(ctx, c)
	return exit, strings.Join(out, "\n"), err
}

func TestRun(t *testing.T) {
	t.Parallel()
	h, _ := here(t)
	folder := filepath.Join(t.TempDir(), "a 'folder'")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		c    Command
		exit int
		out  string
	}{
		{"output", Command{Script: "echo one; echo two >&2; printf three"}, 0, "one\ntwo\nthree"},
		{"exit status", Command{Script: "exit 3"}, 3, ""},
		{"set -e", Command{Script: "set -e\nfalse\necho not reached"}, 1, ""},
		{"empty", Command{}, 0, ""},
		{"standard input", Command{Script: "cat; echo end"}, 0, "end"},
		{"quotes", Command{Script: `printf '%s' "$A" '"' \\ "$(echo x)"`, Env: []string{"A=it's \"$HOME\" `x`\n\\n=", "B="}}, 0,
			"it's \"$HOME\" `x`\n\\n=\"\\x"},
		{"folder", Command{Script: "pwd", Dir: folder}, 0, folder},
		{"carriage return", Command{Script: `printf 'a\r\nb\r'`}, 0, "a\nb"},
		{"status 255", Command{Script: "echo lumi: exit 0 >&2; exit 255"}, 255, "lumi: exit 0"},
		{"long script", Command{Script: "x='" + strings.Repeat("long ", 200_000) + "'\necho ${#x}"}, 0, "1000000"},
		{"umask", Command{Script: "umask 022; umask"}, 0, "0022"},
	}
	for i, test := range tests {
		for _, token := range []string{"", fmt.Sprintf("prod/it's-%d", i)} {
			test.c.Token = token
			exit, out := run(t, h, test.c)
			if exit != test.exit || out != test.out {
				t.Errorf("%s, token %q: Run = %d, %.200q, want %d, %.200q", test.name, token, exit, out, test.exit, test.out)
			}
		}
	}
	// Line numbers in errors of the shell refer to the script.
	_, out := run(t, h, Command{Token: "line", Script: "true\nabsent-command", Dir: folder, Env: []string{"A=b"}})
	if !strings.Contains(out, ": 2: ") && !strings.Contains(out, "line 2: ") {
		t.Errorf("output = %q, want line 2", out)
	}
}

// The files of the wrapper are private, but it does not change the mode of files created by commands.
func TestUmask(t *testing.T) {
	t.Parallel()
	h, state := here(t)
	_, plain := run(t, h, Command{Script: "umask"})
	if _, out := run(t, h, Command{Token: "a", Script: "umask"}); out != plain {
		t.Errorf("umask of a command = %s, want %s", out, plain)
	}
	for _, name := range []string{"lumi", "lumi/tasks"} {
		info, err := os.Stat(filepath.Join(state, name))
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("mode of %s = %v, %v, want 0700", name, info.Mode(), err)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	h, state := here(t)
	fails := func(c Command, want string) {
		t.Helper()
		if _, _, err := try(t.Context(), h, c); err == nil || err.Error() != want {
			t.Errorf("Run = %v, want %s", err, want)
		}
	}
	fails(Command{Script: "true", Env: []string{"a b=secret"}}, `invalid variable name "a b"`)
	run(t, h, Command{Token: "same", Script: "true"})
	fails(Command{Token: "same", Script: "false"}, `a different command already ran as "same" on the node`)
	if exit, out := run(t, h, Command{Script: "true", Dir: "/no/such"}); exit != 2 || !strings.Contains(out, "/no/such") {
		t.Errorf("Run in a missing folder = %d, %s, want 2 and the name of the folder", exit, out)
	}
	h.transport = local{shell: "/no/such/sh"}
	fails(Command{Token: "a", Script: "true"}, "fork/exec /no/such/sh: no such file or directory")
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "ln"), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	h.transport = local{env: []string{"XDG_STATE_HOME=" + state, "PATH=" + bin + ":" + os.Getenv("PATH")}}
	fails(Command{Token: "b", Script: "true"}, "cannot start the command: cannot write its state to ~/.local/state/lumi")
	file := filepath.Join(state, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h.transport = local{env: []string{"XDG_STATE_HOME=" + file, "LC_ALL=C"}}
	fails(Command{Token: "a", Script: "true"},
		"cannot run the command: exit status 1 (mkdir: cannot create directory '"+file+"': Not a directory)")
}

// Running a command again returns the recorded outcome.
func TestRunOnce(t *testing.T) {
	t.Parallel()
	machines(t, func(t *testing.T, h *shell, state string) {
		count := filepath.Join(t.TempDir(), "count")
		c := Command{Token: "prod/1-2", Script: "echo run >>" + quote(count) + "; echo out; echo err >&2; exit 7"}
		for range 3 {
			if exit, out := run(t, h, c); exit != 7 || out != "out\nerr" {
				t.Errorf("Run = %d, %q, want 7, \"out\\nerr\"", exit, out)
			}
		}
		if text, _ := os.ReadFile(count); string(text) != "run\n" {
			t.Errorf("the command ran %d times, want once", strings.Count(string(text), "run"))
		}
		folders, _ := filepath.Glob(filepath.Join(state, "lumi/tasks/*"))
		if len(folders) != 1 || !strings.HasPrefix(filepath.Base(folders[0]), "prod_1_2-") {
			t.Errorf("state folders = %q, want one that starts with prod_1_2-", folders)
		}
		var files []string
		for _, f := range must(filepath.Glob(folders[0] + "/*")) {
			files = append(files, filepath.Base(f))
		}
		if diff := cmp.Diff([]string{"claim", "exit", "output"}, files); diff != "" {
			t.Errorf("files in the state folder mismatch (-want +got):\n%s", diff)
		}
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// If a command is run four times concurrently, it is executed once, and all callers get its output.
func TestRunConcurrently(t *testing.T) {
	t.Parallel()
	h, _ := here(t)
	count := filepath.Join(t.TempDir(), "count")
	c := Command{Token: "a", Script: "echo run >>" + quote(count) + "; echo begin; sleep .3; echo end; exit 4"}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if exit, out, err := try(t.Context(), h, c); exit != 4 || out != "begin\nend" || err != nil {
				t.Errorf("Run = %d, %q, %v, want 4, \"begin\\nend\"", exit, out, err)
			}
		})
	}
	group.Wait()
	if text, _ := os.ReadFile(count); string(text) != "run\n" {
		t.Errorf("the command ran %d times, want once", strings.Count(string(text), "run"))
	}
}

// Cancellation and timeouts also end the descendants of a command.
func TestStop(t *testing.T) {
	t.Parallel()
	machines(t, func(t *testing.T, h *shell, _ string) {
		for _, test := range []struct {
			name       string
			now, later error
		}{{"cancel", context.Canceled, ErrUncertain}, {"timeout", context.DeadlineExceeded, context.DeadlineExceeded}} {
			ctx, end := context.WithTimeout(t.Context(), time.Minute)
			if test.name == "timeout" {
				ctx, end = context.WithTimeout(t.Context(), time.Second)
			}
			var child string
			c := Command{Token: test.name, Script: "sleep 60 & echo $!; wait"}
			c.Output = func(line string) {
				child = line
				if test.name == "cancel" {
					end()
				}
			}
			if _, err := h.Run(ctx, c); !errors.Is(err, test.now) {
				t.Errorf("%s: Run = %v, want %v", test.name, err, test.now)
			}
			end()
			if _, out, err := try(t.Context(), h, c); !errors.Is(err, test.later) || out != child {
				t.Errorf("%s: later Run = %q, %v, want %q, %v", test.name, out, err, child, test.later)
			}
			stat, err := os.ReadFile("/proc/" + child + "/stat")
			if err == nil && !strings.Contains(string(stat), ") Z ") {
				t.Errorf("%s: a descendant of the command is still running: %s", test.name, stat)
			}
		}
	})
}

// A running command can be left to another process.
func TestRunLeftToAnotherProcess(t *testing.T) {
	t.Parallel()
	h, _ := here(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	c := Command{Token: "a", Script: "echo begin; sleep 1; echo end"}
	c.Output = func(string) { cancel(errors.New("the lease is lost")) }
	timed, end := context.WithTimeout(ctx, time.Minute)
	defer end()
	if _, err := h.Run(timed, c); !errors.Is(err, context.Canceled) || errors.Is(err, ErrUncertain) {
		t.Errorf("Run = %v, want %v without %v", err, context.Canceled, ErrUncertain)
	}
	if exit, out := run(t, h, c); exit != 0 || out != "begin\nend" {
		t.Errorf("Run = %d, %q, want 0, \"begin\\nend\"", exit, out)
	}
}

// TestStopEarly cancels a command before it starts, and a command that ignores SIGTERM.
func TestStopEarly(t *testing.T) {
	t.Parallel()
	h, state := here(t)
	// The wrapper sleeps 50 times between SIGTERM and SIGKILL.
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "sleep"), []byte("#!/bin/sh\nPATH=${PATH#*:} exec sleep .01\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	h.transport = local{env: []string{"XDG_STATE_HOME=" + state, "PATH=" + bin + ":" + os.Getenv("PATH")}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	marker := filepath.Join(t.TempDir(), "marker")
	if _, _, err := try(ctx, h, Command{Token: "a", Script: "echo >" + quote(marker)}); !errors.Is(err, context.Canceled) {
		t.Errorf("Run = %v, want %v", err, context.Canceled)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("the command ran although it was canceled")
	}
	// The command can still be run.
	run(t, h, Command{Token: "a", Script: "echo >" + quote(marker)})
	ctx, cancel = context.WithCancel(t.Context())
	c := Command{Token: "b", Script: "trap '' TERM; echo begin; while :; do sleep .1; done", Output: func(string) { cancel() }}
	if _, err := h.Run(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("Run = %v, want %v", err, context.Canceled)
	}
	if _, _, err := try(t.Context(), h, c); err == nil || err.Error() != ErrUncertain.Error()+": it was stopped" {
		t.Errorf("later Run = %v, want %v: it was stopped", err, ErrUncertain)
	}
}

// TestUncertain kills the wrapper of a command and forges a claim from before a reboot.
func TestUncertain(t *testing.T) {
	t.Parallel()
	h, state := here(t)
	c := Command{Token: "a", Script: "echo begin; kill -9 $PPID; sleep .1"}
	if _, out, err := try(t.Context(), h, c); !errors.Is(err, ErrUncertain) || out != "begin" {
		t.Errorf("Run = %q, %v, want \"begin\", %v", out, err, ErrUncertain)
	}
	c = Command{Token: "b", Script: "sleep 60 & echo $!; wait"}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	found := make(chan string, 1)
	c.Output = func(line string) { found <- line }
	ended := make(chan error, 1)
	go func() {
		_, err := h.Run(ctx, c)
		ended <- err
	}()
	<-found
	claim := must(filepath.Glob(filepath.Join(state, "lumi/tasks/b-*/claim")))[0]
	text := string(must(os.ReadFile(claim)))
	words := strings.Fields(text)
	words[len(words)-2] = "another-boot"
	if err := os.WriteFile(claim, []byte(strings.Join(words, " ")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, ErrUncertain) {
		t.Errorf("Run with a forged claim = %v, want %v", err, ErrUncertain)
	}
	if err := os.WriteFile(claim, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := h.Run(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("Run = %v, want %v", err, context.Canceled)
	}
}

// Recent states and states of running commands are not pruned.
func TestPrune(t *testing.T) {
	t.Parallel()
	h, state := here(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	begun, ended := make(chan bool), make(chan bool)
	go func() {
		_, _ = h.Run(ctx, Command{Token: "running", Script: "echo; sleep 60", Output: func(string) { close(begun) }})
		close(ended)
	}()
	<-begun
	run(t, h, Command{Token: "old", Script: "true"})
	run(t, h, Command{Token: "young", Script: "true"})
	before := time.Now().Add(-9 * 24 * time.Hour)
	for _, name := range []string{"running", "old"} {
		folder := must(filepath.Glob(filepath.Join(state, "lumi/tasks", name+"-*")))[0]
		if err := os.Chtimes(folder, before, before); err != nil {
			t.Fatal(err)
		}
	}
	h.pruned.Store(false)
	run(t, h, Command{Token: "young", Script: "true"})
	var names []string
	for _, f := range must(filepath.Glob(filepath.Join(state, "lumi/tasks/*"))) {
		name, _, _ := strings.Cut(filepath.Base(f), "-")
		names = append(names, name)
	}
	if diff := cmp.Diff([]string{"running", "young"}, names); diff != "" {
		t.Errorf("states after pruning mismatch (-want +got):\n%s", diff)
	}
	cancel()
	<-ended
}

// TestLargeOutput runs a command with ten megabytes of output and an overlong line.
func TestLargeOutput(t *testing.T) {
	t.Parallel()
	h, _ := here(t)
	lines, size := 0, 0
	c := Command{Token: "a", Script: "yes 'twenty characters..' | head -n 500000; head -c 100000 /dev/zero"}
	c.Output = func(line string) { lines, size = lines+1, size+len(line) }
	if exit, err := h.Run(t.Context(), c); exit != 0 || err != nil || lines != 500_002 || size != 9_600_000 {
		t.Errorf("Run = %d, %v with %d lines and %d bytes, want 0 with 500002 and 9600000", exit, err, lines, size)
	}
}

// TestMain acts as the process killed by TestClientKilled if requested.
func TestMain(m *testing.M) {
	if home, ok := os.LookupEnv("LUMI_TEST_HOME"); ok {
		h := &shell{transport: local{}}
		if port, err := strconv.Atoi(os.Getenv("LUMI_TEST_PORT")); err == nil {
			s := &sshd.Server{Port: port, User: os.Getenv("LUMI_TEST_USER")}
			h = must((&Pool{Home: home}).new(s.Node("web-1")))
		}
		exit, err := h.Run(context.Background(), Command{
			Token: "a", Script: os.Getenv("LUMI_TEST_SCRIPT"), Output: func(line string) { fmt.Println(line) },
		})
		fmt.Println(exit, err)
		os.Exit(0)
	}
	// The tests spend most of their time waiting for other processes.
	if err := flag.Set("test.parallel", "12"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// If a client is killed, another process can wait for its command.
func TestClientKilled(t *testing.T) {
	t.Parallel()
	killed := func(t *testing.T, h *shell, env ...string) {
		count := filepath.Join(t.TempDir(), "count")
		c := Command{Token: "a", Script: "echo run >>" + quote(count) + "; echo begin; sleep .5; echo end; exit 5"}
		child := exec.Command(must(os.Executable()))
		child.Env = append(append(os.Environ(), env...), "LUMI_TEST_SCRIPT="+c.Script)
		out := must(child.StdoutPipe())
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		_ = child.Process.Kill()
		_ = child.Wait()
		if exit, text := run(t, h, c); exit != 5 || text != "begin\nend" {
			t.Errorf("Run = %d, %q, want 5, \"begin\\nend\"", exit, text)
		}
		if text, _ := os.ReadFile(count); string(text) != "run\n" {
			t.Errorf("the command ran %d times, want once", strings.Count(string(text), "run"))
		}
	}
	t.Run("local", func(t *testing.T) {
		t.Parallel()
		h, state := here(t)
		killed(t, h, "LUMI_TEST_HOME=", "XDG_STATE_HOME="+state)
	})
	t.Run("ssh", func(t *testing.T) {
		t.Parallel()
		s := sshd.Start(t)
		killed(t, over(t, s), "LUMI_TEST_HOME="+s.Home, "LUMI_TEST_PORT="+strconv.Itoa(s.Port), "LUMI_TEST_USER="+s.User)
	})
}
