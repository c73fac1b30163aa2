//go:build linux || darwin

package run_test

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
)

func TestTwoExecutors(t *testing.T) {
	t.Parallel()
	s := newSite(t, "Net/a\nDisk/b on=[@a]\nKey/c at=@b.arn")
	_, err := s.find(t.Context(), s.here())
	s.must(err)
	s.expire()
	first, out1 := s.start(&s.childJob)
	second, out2 := s.start(&s.childJob)
	s.must(first.Wait())
	s.must(second.Wait())
	for _, out := range []string{out1.String(), out2.String()} {
		if !strings.HasSuffix(out, "\nDONE \n") {
			t.Errorf("executor printed %s, want DONE at the end", out)
		}
	}
	want := []string{"Create Net/a\n", "Create Disk/b\n", "Create Key/c\n"}
	if got := s.calls(); !slices.Equal(got, want) {
		t.Errorf("calls = %q, want %q", got, want)
	}
}

// If an executor is stopped between the intent and the call, or during the call, and another one finishes the
// deployment, the first one changes nothing when it continues.
func TestExecutorStopped(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, before string
		at           int
		calls        []string
	}{
		{"before the call", "Create b", 0, []string{"Create Net/a\n", "Create Disk/b\n", "Create Net/c\n"}},
		{"in the call", "", 2, []string{"Create Net/a\n", "Create Disk/b\n", "Create Net/c\n"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "Net/a\nDisk/b on=[@a]\nNet/c at=@b.arn")
			s.Timeout = 2 * time.Second
			s.trap(tc.at, "stop")
			c, out := s.start(&childJob{Folder: s.Folder, Number: 1, Timeout: s.Timeout, Before: tc.before, Signal: syscall.SIGSTOP})
			s.awaitStop(c.Process.Pid)
			s.write("go")
			deadline := s.deadline()
			s.expire()
			s.finish()
			if time.Now().Before(deadline) {
				t.Error("the second executor did not wait for the deadline of the call")
			}
			rows, calls := s.backup(), s.calls()
			s.must(c.Process.Signal(syscall.SIGCONT))
			s.must(c.Wait())
			if !strings.HasSuffix(out.String(), "\nDONE \n") {
				t.Errorf("continued executor printed %s, want DONE at the end", out)
			}
			if !bytes.Equal(rows, s.backup()) {
				t.Error("the continued executor changed the database")
			}
			if got := s.calls(); !slices.Equal(got, calls) || !slices.Equal(got, tc.calls) {
				t.Errorf("calls = %q, want %q as before the continuation, and %q", got, calls, tc.calls)
			}
		})
	}
}

// If an executor continues before the deadline of its call, the executor that has taken over finishes the deployment.
func TestExecutorResumed(t *testing.T) {
	t.Parallel()
	s := newSite(t, "Net/a\nDisk/b on=[@a]\nNet/c at=@b.arn")
	s.Lease, s.Timeout = 300*time.Millisecond, 2*time.Second
	c, out := s.start(&childJob{
		Folder: s.Folder, Number: 1, Lease: s.Lease, Timeout: s.Timeout, Before: "Create b", Signal: syscall.SIGSTOP,
	})
	s.awaitStop(c.Process.Pid)
	s.live = func(e store.Event) {
		if e.State == store.Running && e.Task == 0 { // The second executor has taken over.
			s.must(c.Process.Signal(syscall.SIGCONT))
		}
	}
	s.hurry()
	s.finish()
	s.must(c.Wait())
	if !strings.HasSuffix(out.String(), "\nDONE \n") {
		t.Errorf("continued executor printed %s, want DONE at the end", out)
	}
	s.hasAll(3)
}

// write creates a file that the plugin waits for.
func (s *site) write(name string) {
	s.t.Helper()
	s.must(os.WriteFile(s.cloud().path(name), nil, 0o600))
}

// awaitStop waits until a child process is stopped.
func (s *site) awaitStop(pid int) {
	s.t.Helper()
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		s.t.Fatalf("executor has status %v, %v, want it to be stopped", status, err)
	}
}

// deadline returns the latest deadline of any call without a result.
func (s *site) deadline() (latest time.Time) {
	s.t.Helper()
	s.must(s.here().Store.Read(s.t.Context(), func(tx store.Tx) error {
		steps, err := tx.Steps(1)
		for _, step := range steps {
			if (step.State == store.Started || step.State == store.Unknown) && step.Deadline.After(latest) {
				latest = step.Deadline
			}
		}
		return err
	}))
	if latest.IsZero() {
		s.t.Error("no step has a started call without a result")
	}
	return latest
}

// run runs the deployment in this process until its first call is received. It returns a channel for the deployment at
// its end.
func (s *site) run(trap string) <-chan store.Job {
	s.t.Helper()
	s.trap(1, trap)
	e, ended := s.here(), make(chan store.Job, 1)
	go func() {
		d, err := s.drive(context.Background(), e)
		if err != nil {
			s.t.Error(err)
		}
		ended <- d
	}()
	for len(s.calls()) == 0 && s.t.Context().Err() == nil {
		time.Sleep(time.Millisecond)
	}
	return ended
}

func TestStopCancelsCalls(t *testing.T) {
	t.Parallel()
	s := newSite(t, "Net/a\nDisk/b on=[@a]")
	ended := s.run("hang")
	s.here().Stop()
	start := time.Now()
	s.here().Stop()
	d := <-ended
	for !exists(s.cloud().path("canceled")) && t.Context().Err() == nil {
		time.Sleep(time.Millisecond)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("canceled call ended after %v, want at most 1s", took)
	}
	if d.State != store.Running || len(s.calls()) != 1 {
		t.Errorf("deployment ended with %s %s after calls %q, want RUNNING after 1 call", d.State, d.Message, s.calls())
	}
	s.again()
}

func TestStopBetweenSteps(t *testing.T) {
	t.Parallel()
	s := newSite(t, "Net/a\nDisk/b on=[@a]")
	ended := s.run("wait")
	s.here().Stop()
	s.write("go")
	if d := <-ended; d.State != store.Running || len(s.calls()) != 1 {
		t.Errorf("deployment ended with %s %s after calls %q, want RUNNING after 1 call", d.State, d.Message, s.calls())
	}
	s.again()
	want := []string{"Create Net/a\n", "Create Disk/b\n"}
	if got := s.calls(); !slices.Equal(got, want) {
		t.Errorf("calls = %q, want %q", got, want)
	}
}

// again runs the deployment until it has ended, using a new engine.
func (s *site) again() {
	s.t.Helper()
	s.opened = s.engine(s.opened.Store, s.opened.Providers(""))
	if questions := s.finish(); len(questions) > 0 {
		s.t.Errorf("deployment asked %q, want no questions", questions)
	}
}
