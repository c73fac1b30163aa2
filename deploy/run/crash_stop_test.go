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
			t.Errorf("ended with %s", out)
		}
	}
	want := []string{"Create Net/a\n", "Create Disk/b\n", "Create Key/c\n"}
	if got := s.calls(); !slices.Equal(got, want) {
		t.Errorf("got calls %q", got)
	}
}

// An executor stopped between the intent and the call, or during the call, changes nothing when it continues after
// another one has finished the deployment.
func TestStopped(t *testing.T) {
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
				t.Error("the other executor did not wait for the deadline of the call")
			}
			rows, calls := s.backup(), s.calls()
			s.must(c.Process.Signal(syscall.SIGCONT))
			s.must(c.Wait())
			if !strings.HasSuffix(out.String(), "\nDONE \n") {
				t.Errorf("ended with %s", out)
			}
			if !bytes.Equal(rows, s.backup()) {
				t.Error("rows have changed")
			}
			if got := s.calls(); !slices.Equal(got, calls) || !slices.Equal(got, tc.calls) {
				t.Errorf("got calls %q, want %q", got, calls)
			}
		})
	}
}

// A stopped executor continues as soon as another one has taken over, before the deadline of its call.
func TestResumed(t *testing.T) {
	t.Parallel()
	s := newSite(t, "Net/a\nDisk/b on=[@a]\nNet/c at=@b.arn")
	s.Lease, s.Timeout = 300*time.Millisecond, 2*time.Second
	c, out := s.start(&childJob{
		Folder: s.Folder, Number: 1, Lease: s.Lease, Timeout: s.Timeout, Before: "Create b", Signal: syscall.SIGSTOP,
	})
	s.awaitStop(c.Process.Pid)
	s.live = func(e store.Event) {
		if e.State == store.Running && e.Task == 0 { // it has taken over
			s.must(c.Process.Signal(syscall.SIGCONT))
		}
	}
	s.hurry()
	s.finish()
	s.must(c.Wait())
	if !strings.HasSuffix(out.String(), "\nDONE \n") {
		t.Errorf("ended with %s", out)
	}
	s.hasAll(3)
}

// write writes a file that the plugin waits for.
func (s *site) write(name string) {
	s.t.Helper()
	s.must(os.WriteFile(s.cloud().path(name), nil, 0o600))
}

// awaitStop waits until a child was stopped.
func (s *site) awaitStop(pid int) {
	s.t.Helper()
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		s.t.Fatalf("the executor was not stopped: %v, %v", status, err)
	}
}

// deadline returns the latest deadline of a call without a result.
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
		s.t.Error("no call has started")
	}
	return latest
}

// run runs the deployment in this process until its first call arrives. The channel receives the outcome.
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

func TestCancel(t *testing.T) {
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
		t.Errorf("the call ended after %v", took)
	}
	if d.State != store.Running || len(s.calls()) != 1 {
		t.Errorf("ended as %s %s after %q", d.State, d.Message, s.calls())
	}
	s.again()
}

func TestStop(t *testing.T) {
	t.Parallel()
	s := newSite(t, "Net/a\nDisk/b on=[@a]")
	ended := s.run("wait")
	s.here().Stop()
	s.write("go")
	if d := <-ended; d.State != store.Running || len(s.calls()) != 1 {
		t.Errorf("ended as %s %s after %q", d.State, d.Message, s.calls())
	}
	s.again()
	want := []string{"Create Net/a\n", "Create Disk/b\n"}
	if got := s.calls(); !slices.Equal(got, want) {
		t.Errorf("got calls %q", got)
	}
}

// again runs the deployment to its end in a new engine.
func (s *site) again() {
	s.t.Helper()
	s.opened = s.engine(s.opened.Store, s.opened.Providers(""))
	if questions := s.finish(); len(questions) > 0 {
		s.t.Errorf("got questions %q", questions)
	}
}
