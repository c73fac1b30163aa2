//go:build !windows

package view_test

import (
	"bytes"
	"fmt"
	"os"
	"os/signal"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/view"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// patience is the timeout for waits that should take milliseconds.
const patience = 20 * time.Second

// terminal is a pseudo-terminal that records its output.
type terminal struct {
	*testing.T
	master, tty *os.File
	mutex       sync.Mutex
	output      bytes.Buffer
	gone        chan struct{}
}

func open(t *testing.T) *terminal {
	t.Helper()
	t.Setenv("TERM", "xterm-256color")
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	x := &terminal{T: t, master: master, tty: tty, gone: make(chan struct{})}
	x.resize(24, 80)
	go func() {
		defer close(x.gone)
		for buffer := make([]byte, 4096); ; {
			n, err := master.Read(buffer)
			x.mutex.Lock()
			x.output.Write(buffer[:n])
			x.mutex.Unlock()
			if err != nil { // EIO once the other side is closed
				return
			}
		}
	}()
	t.Cleanup(func() { _, _ = tty.Close(), master.Close() })
	return x
}

func (x *terminal) resize(rows, columns uint16) {
	if err := pty.Setsize(x.master, &pty.Winsize{Rows: rows, Cols: columns}); err != nil {
		x.Fatal(err)
	}
}

func (x *terminal) text() string {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	return x.output.String()
}

func (x *terminal) await(text string) {
	x.Helper()
	for end := time.Now().Add(patience); !strings.Contains(x.text(), text); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			x.Fatalf("no output %q within the timeout, got %q", text, x.text())
		}
	}
}

func ends(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("call did not return within %v", patience)
	}
}

func send(r view.Reporter, e store.Event) {
	e.Time, e.Deployment, e.Name = time.Now(), 7, "shop[7]"
	if e.URN != "" {
		e.Source = urn.URN(e.URN).Name() + ".ts:1:2"
	}
	r.Event(e)
}

func bucket(name string) string { return "urn:lumi:dev::shop:index::aws:s3:Bucket::" + name }

func live(t *testing.T, tty *os.File) view.Reporter {
	t.Helper()
	r, err := view.NewLive(tty, view.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A terminal that displays a deployment can be resized. The view does not handle other signals or change the terminal
// mode.
func TestLive(t *testing.T) {
	x := open(t)
	mode, err := term.GetState(int(x.tty.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, syscall.SIGINT)
	defer signal.Stop(interrupts)

	r := live(t, x.tty)
	send(r, store.Event{State: store.Running})
	long := strings.Repeat("long-", 12) + "name"
	send(r, store.Event{URN: bucket(long), Kind: "create", State: store.Started})
	x.await("creating " + long)
	send(r, store.Event{URN: bucket(long), Level: "progress", Message: "half of it"})
	x.await("half of it")
	for i := range 30 {
		send(r, store.Event{URN: bucket(long), Level: "warn", Message: fmt.Sprintf("warning number %d", i)})
	}
	x.await("shop[7] " + long + ":") // The rest is on the next line.
	x.await("warning: warning number 29")

	if now, err := term.GetState(int(x.tty.Fd())); err != nil || !reflect.DeepEqual(now, mode) {
		t.Errorf("terminal mode = %+v, %v, want it unchanged", now, err)
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	<-interrupts

	x.resize(10, 40)
	if err := syscall.Kill(os.Getpid(), syscall.SIGWINCH); err != nil { // x is not the controlling terminal of this process
		t.Fatal(err)
	}
	x.await("creating " + long[:24] + "…")
	for i := range 50 {
		state := store.Done
		if i%25 == 7 {
			state = store.Failed
		}
		send(r, store.Event{URN: bucket(fmt.Sprint("b", i)), Kind: "update", State: state, Message: strings.Repeat("x", i%25/7*70)})
	}
	send(r, store.Event{URN: bucket("last"), Level: "info", Message: "the end"})
	ends(t, r.Close)
	r.Close()
	_ = x.tty.Close()
	<-x.gone
	got := strings.ReplaceAll(x.text(), "\r\n", "\n")
	if !strings.Contains(got, "shop[7] last: the end") {
		t.Error("output does not contain the last message")
	}
	printed := got[strings.LastIndex(got, "\x1b")+1:]
	for _, want := range []string{
		"shop[7]  running  ", "\n  … + creating " + long + " aws:s3:Bucket  ", "\n      half of it\n", "\n  ✓ 48 done\n",
		"\n  ✗ ~ update b7 aws:s3:Bucket\n      " + strings.Repeat("x", 70) + "\n      b7.ts:1:2\n", "\n      b32.ts:1:2\n",
	} {
		if !strings.Contains(printed, want) {
			t.Errorf("final output does not contain %q:\n%s", want, printed)
		}
	}
	if strings.Count(got, "\x1b[?25h") != strings.Count(got, "\x1b[?25l") {
		t.Error("cursor is still hidden after Close")
	}
}

// A deployment continues if the terminal is lost.
func TestLiveTerminalLost(t *testing.T) {
	x := open(t)
	r := live(t, x.tty)
	send(r, store.Event{State: store.Running})
	send(r, store.Event{URN: bucket("a"), Kind: "create", State: store.Started})
	x.await("creating a")
	_ = x.master.Close()
	ends(t, func() {
		for i := range 300 {
			send(r, store.Event{URN: bucket("a"), Level: "warn", Message: fmt.Sprint("warning ", i)})
			time.Sleep(time.Millisecond)
		}
		_ = syscall.Kill(os.Getpid(), syscall.SIGWINCH) // querying the size now fails
		send(r, store.Event{URN: bucket("a"), Kind: "create", State: store.Done})
		r.Waits(map[string][]string{"b[1]": {"shop[7]: b uses shop"}})
		r.Close()
	})
}

// A deployment continues while the terminal is stalled, for example by Ctrl-S.
func TestLiveTerminalStalled(t *testing.T) {
	t.Setenv("TERM", "xterm")
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	r := live(t, tty)
	ends(t, func() {
		for range 20_000 {
			send(r, store.Event{URN: bucket("a"), Level: "warn", Message: strings.Repeat("warning ", 10)})
		}
	})
	_ = master.Close()
	ends(t, r.Close)
}

// Reporters are safe for concurrent use and write whole lines.
func TestReportersConcurrent(t *testing.T) {
	x := open(t)
	var text, json bytes.Buffer
	reporters := []view.Reporter{view.NewLines(&text, view.Options{}), view.NewJSON(&json), live(t, x.tty)}
	var wait sync.WaitGroup
	for _, r := range reporters {
		for i := range 8 {
			wait.Go(func() {
				for n := range 20 {
					u := bucket(fmt.Sprint(i, "-", n))
					send(r, store.Event{URN: u, Kind: "create", State: store.Started})
					send(r, store.Event{URN: u, Level: "warn", Message: "warned"})
					send(r, store.Event{URN: u, Kind: "create", State: store.Done})
					r.Waits(map[string][]string{fmt.Sprintf("b[%d]", i): {fmt.Sprintf("a[%d]: b uses a", n)}})
				}
			})
		}
	}
	wait.Wait()
	for _, r := range reporters {
		ends(t, r.Close)
	}
	x.await("✓ 160 done\r\n")
	if n := strings.Count(json.String(), "}\n{"); n != 3*160-1 {
		t.Errorf("NewJSON wrote %d lines, want %d", n+1, 3*160)
	}
	for _, want := range []string{": started\n", ": warning: warned\n", ": done"} {
		if n := strings.Count(text.String(), want); n != 160 {
			t.Errorf("NewLines wrote %d lines with %q, want 160", n, want)
		}
	}
}

// A reporter can be closed before it has drawn anything.
func TestLiveClosedImmediately(t *testing.T) {
	x := open(t)
	r := live(t, x.tty)
	send(r, store.Event{State: store.Failed, Message: "it cannot be planned"})
	ends(t, r.Close)
	x.await("shop[7]  failed\r\n  it cannot be planned\r\n")
}

func TestNewLiveErrors(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := view.NewLive(file, view.Options{}); err == nil || err.Error() != file.Name()+" is not a terminal" {
		t.Errorf("NewLive(file) error = %v, want that it is not a terminal", err)
	}
	x := open(t)
	t.Setenv("TERM", "dumb")
	if _, err := view.NewLive(x.tty, view.Options{}); err == nil || err.Error() != x.tty.Name()+" cannot move its cursor: TERM is dumb" {
		t.Error(err)
	}
}
