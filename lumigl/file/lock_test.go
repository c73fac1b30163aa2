package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// holder is how a child says who it is, but for the time.
func holder(child *running) string {
	me := self("lumi hold")
	me.PID = child.Process.Pid
	text, _, _ := strings.Cut(me.String(), ", since")
	return text
}

// TestTwoWriters has two processes write at once. One is told who the other is, and waits for it if it wants to.
func TestTwoWriters(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "prod.json")
	old := mustSave(t, path, snapshot(t, 1, "old"))
	first := start(t, job{Do: "hold", Path: path, Word: "first"})
	if line := first.line(t); line != "locked" {
		t.Fatalf("the first says %q", line)
	}
	printed, _ := run(t, job{Do: "save", Path: path, Word: "second"})
	if want := path + " is locked by " + holder(first); !strings.HasPrefix(printed, want) ||
		!strings.HasSuffix(printed, " UTC): wait until it is done") {
		t.Errorf("the second says %q, want %q", printed, want)
	}
	second := start(t, job{Do: "hold", Path: path, Word: "second"})
	if line := second.line(t); !strings.HasPrefix(line, "waiting for "+holder(first)) {
		t.Errorf("the second says %q", line)
	}
	if s, _, err := Load(path); err != nil || s.Serial != old.Serial {
		t.Errorf("a reader gets %v, %v", s, err)
	}
	must(t, first.in.Close())
	must(t, first.Wait())
	if line := second.line(t); line != "locked" {
		t.Errorf("the second says %q", line)
	}
	must(t, second.in.Close())
	must(t, second.Wait())
	s, _, err := Load(path)
	must(t, err)
	if s.Serial != old.Serial+2 || word(t, s) != "second" {
		t.Errorf("there is serial %d of %q", s.Serial, word(t, s))
	}
}

// TestDeadHolder kills who holds the lock. What it has said of itself then confuses nobody.
func TestDeadHolder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "prod.json")
	child := start(t, job{Do: "hold", Path: path})
	if line := child.line(t); line != "locked" {
		t.Fatalf("the child says %q", line)
	}
	must(t, child.Process.Kill())
	_ = child.Wait() // It was killed.
	note := mustRead(t, path+lockSuffix)
	if !strings.Contains(note, fmt.Sprintf(`"pid":%d,`, child.Process.Pid)) {
		t.Fatalf("the lock file says %s", note)
	}
	// Somebody has locked the file this instant, and has not said so yet.
	f, err := openLock(system{}, path+lockSuffix)
	must(t, err)
	must(t, f.lock())
	_, err = Open(context.Background(), path, Options{})
	wantError(t, dir, err,
		"DIR/prod.json is locked by another process, which has not said who it is: wait until it is done")
	must(t, f.Close())
	must(t, open(t, path, nil).Close())
	if note := mustRead(t, path+lockSuffix); note != "" {
		t.Errorf("when all is done, the lock file says %s", note)
	}
}

func TestGiveUp(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "prod.json")
	open(t, path, nil)
	ctx, cancel := context.WithCancelCause(context.Background())
	interrupted := errors.New("interrupted")
	var told []Process
	_, err := Open(ctx, path, Options{Waiting: func(p Process) {
		told = append(told, p)
		cancel(interrupted)
	}})
	wantError(t, dir, err, "gave up waiting for DIR/prod.json, locked by ME: interrupted")
	if len(told) != 1 || told[0].PID != os.Getpid() || told[0].Command != "lumi test" {
		t.Errorf("told %v", told)
	}
	var locked *LockedError
	if !errors.As(err, &locked) || locked.Holder != told[0] || !errors.Is(err, interrupted) {
		t.Errorf("the error is %#v", err)
	}
}

// TestNextHolder waits while the lock goes from one holder to the next. Each is told of once.
func TestNextHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prod.json")
	f, err := openLock(system{}, path+lockSuffix)
	must(t, err)
	defer f.Close()
	must(t, f.lock())
	first, second := self("first"), self("second")
	note{Holder: &first}.write(f)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var told []string
	_, err = Open(ctx, path, Options{Waiting: func(p Process) {
		if !p.Known() {
			return // The note is just being written.
		}
		if told = append(told, p.Command); len(told) == 1 {
			time.AfterFunc(10*shortestSleep, func() { note{Holder: &second}.write(f) })
		} else {
			time.AfterFunc(10*shortestSleep, cancel)
		}
	}})
	if diff := cmp.Diff([]string{"first", "second"}, told); diff != "" || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, told of (-want +got):\n%s", err, diff)
	}
}

// TestNote reads lock files that no honest writer made.
func TestNote(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "prod.json")
	const unknown = "another process, which has not said who it is"
	tests := []struct{ name, note, want string }{
		{"empty", "", unknown},
		{"cut short", `{"holder":{"pid":1,"user":"al`, unknown},
		{"not JSON", "\x00\x00\x00", unknown},
		{"of another form", `{"holder":{"pid":7,"since":"yesterday"}}`, unknown},
		{"endless", strings.Repeat(" ", maxNote) + `{"holder":{"pid":7}}`, unknown},
		{"of another host", `{"holder":{"pid":99999999,"user":"al","host":"elsewhere","since":"2026-01-02T03:04:05Z"}}`,
			"an unnamed command (process 99999999 of al on elsewhere, since 2026-01-02 03:04:05 UTC)"},
		{"from the future", `{"holder":{"pid":99999999,"host":"elsewhere","since":"2999-01-02T03:04:05Z"}}`,
			"an unnamed command (process 99999999 on elsewhere, since 2999-01-02 03:04:05 UTC)"},
		{"for a terminal", `{"holder":{"pid":7,"host":"h\u001b[2J\n","command":"` + strings.Repeat("x", 300) + `"}}`,
			strings.Repeat("x", 200) + "… (process 7 on h\uFFFD[2J\uFFFD, since 0001-01-01 00:00:00 UTC)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			mustWrite(t, path+lockSuffix, test.note)
			f, err := openLock(system{}, path+lockSuffix)
			must(t, err)
			defer f.Close()
			must(t, f.lock())
			_, err = Open(context.Background(), path, Options{})
			wantError(t, dir, err, "DIR/prod.json is locked by "+test.want+": wait until it is done")
		})
	}
}

// TestForeignLock holds that a file that only happens to be called like a lock is left as it is, and that what writers
// that were killed leave in a lock file is no hindrance.
func TestForeignLock(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "yarn")
	for _, text := range []string{"# THIS IS AN AUTOGENERATED FILE.\n", "{\n  \"nodes\": {}\n}\n", " ", "\x00{"} {
		mustWrite(t, path+lockSuffix, text)
		_, err := Open(context.Background(), path, Options{})
		wantError(t, dir, err, "cannot lock DIR/yarn: DIR/yarn.lock: "+
			"it is a file of something else: move it away, or give one of the two another name")
		if got := mustRead(t, path+lockSuffix); got != text {
			t.Errorf("the file has become %q", got)
		}
	}
	for _, text := range []string{"", "{", `{"holder":{"pid":1,"us`, `{"of":"a later version"}`, "\x00", "\x00\x00\x00\x00"} {
		mustWrite(t, path+lockSuffix, text)
		must(t, open(t, path, nil).Close())
	}
}

// TestLockRemoved takes the lock file away under its holder, who then does not write.
func TestLockRemoved(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "prod.json")
	mustSave(t, path, snapshot(t, 1, "older"))
	v := mustSave(t, path, snapshot(t, 1, "old"))
	before := contents(t, dir)
	first := open(t, path, nil)
	must(t, os.Remove(path+lockSuffix))
	second := open(t, path, nil)
	_, err := first.Save(snapshot(t, 1, "first"), v)
	wantError(t, dir, err, "cannot save DIR/prod.json: DIR/prod.json.lock was removed or replaced meanwhile, "+
		"so that another process may write too: leave that file alone, and start anew")
	if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
	if _, err := second.Save(snapshot(t, 1, "second"), v); err != nil {
		t.Error(err)
	}
	must(t, os.Remove(path+lockSuffix))
	must(t, os.Mkdir(path+lockSuffix, 0o755))
	_, err = Open(context.Background(), path, Options{})
	wantError(t, dir, err, "cannot lock DIR/prod.json: DIR/prod.json.lock: is a directory")
}

// TestReplacedWhileLocking puts another lock file into the place of the one that is just being locked.
func TestReplacedWhileLocking(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prod.json")
	times := 0
	d := &faulty{before: func(o op) error {
		if o.name == "lock" && times < 3 {
			times++
			return os.Remove(o.path)
		}
		return nil
	}}
	l := open(t, path, d)
	if times != 3 {
		t.Errorf("the lock file was replaced %d times", times)
	}
	if err := l.lock.current(); err != nil {
		t.Error(err)
	}
}

// TestUnreadLock holds that a file of which nobody knows what it is is not taken for a lock file.
func TestUnreadLock(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "yarn")
	mustWrite(t, path+lockSuffix, "# THIS IS AN AUTOGENERATED FILE.\n")
	locked := false
	_, err := Open(context.Background(), path, Options{disk: &faulty{before: func(o op) error {
		locked = locked || o.name == "lock"
		if locked && o.name == "read" {
			return syscall.EIO
		}
		return nil
	}}})
	wantError(t, dir, err, "cannot lock DIR/yarn: DIR/yarn.lock: input/output error")
	if got := mustRead(t, path+lockSuffix); got != "# THIS IS AN AUTOGENERATED FILE.\n" {
		t.Errorf("the file has become %q", got)
	}
}

// TestMadeWhileLocking has another process make the lock file that is just about to be made.
func TestMadeWhileLocking(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prod.json")
	open(t, path, &faulty{before: func(o op) error {
		if o.name == "create" {
			mustWrite(t, o.path, "")
		}
		return nil
	}})
}

// TestUnlockFails holds that who cannot unlock a file is told so, and does not hold it all the same.
func TestUnlockFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "prod.json")
	l := open(t, path, &faulty{before: func(o op) error {
		if o.name == "unlock" {
			return syscall.EIO
		}
		return nil
	}})
	wantError(t, dir, l.Close(), "cannot unlock DIR/prod.json: input/output error")
	must(t, open(t, path, nil).Close())
}

// TestSystemErrors holds that the disk of the system loses no errors: one that has no locks, or no links, is not to be
// taken for one that has.
func TestSystemErrors(t *testing.T) {
	dir := t.TempDir()
	f, err := openLock(system{}, filepath.Join(dir, "lock"))
	must(t, err)
	must(t, f.Close()) // What is closed cannot be locked.
	if err := f.lock(); err == nil || errors.Is(err, errHeld) {
		t.Errorf("lock: %v", err)
	}
	if err := f.unlock(); err == nil {
		t.Error("unlock: no error")
	}
	if err := (system{}).link(dir, filepath.Join(dir, "link")); err == nil {
		t.Error("link to a folder: no error")
	}
	if err := (system{}).syncDir(filepath.Join(dir, "no")); err == nil {
		t.Error("sync of a folder that is not there: no error")
	}
}

// TestIncrement has many processes add to a file, each of which loads it before it locks it. None is lost.
func TestIncrement(t *testing.T) {
	const writers = 50
	path := filepath.Join(t.TempDir(), "prod.json")
	children := make([]*running, writers)
	for i := range children {
		children[i] = start(t, job{Do: "increment", Path: path, Word: "w" + strconv.Itoa(i)})
	}
	var serials []int
	for _, c := range children {
		line := c.line(t)
		serial, err := strconv.Atoi(line)
		if err != nil {
			t.Fatalf("a child says %s", line)
		}
		serials = append(serials, serial)
		must(t, c.Wait())
	}
	slices.Sort(serials)
	for i, serial := range serials {
		if serial != i+1 {
			t.Fatalf("the serials are %v", serials)
		}
	}
	s, v, err := Load(path)
	must(t, err)
	if v.Serial != writers || s.Len() != writers {
		t.Errorf("%d resources at %s", s.Len(), v)
	}
	wantNames(t, filepath.Dir(path), "prod.json", "prod.json.backup", "prod.json.lock")
}

func TestProcess(t *testing.T) {
	p := Process{
		PID: 812, User: "bob", Host: "build-2", Command: "lumi deploy",
		Since: time.Date(2026, 11, 21, 12, 55, 21, 0, time.FixedZone("", 2*60*60)),
	}
	if got, want := p.String(), "lumi deploy (process 812 of bob on build-2, since 2026-11-21 10:55:21 UTC)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := (Process{PID: 7}).String(), "an unnamed command (process 7, since 0001-01-01 00:00:00 UTC)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if me := self(""); me.Command != filepath.Base(os.Args[0]) || me.gone() {
		t.Errorf("this process is %v, gone: %v", me, me.gone())
	}
}
