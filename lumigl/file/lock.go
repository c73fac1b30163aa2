package file

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"time"
)

const lockSuffix = ".lock"

// note is what stands in a lock file, for those who are refused. It locks nothing itself.
type note struct {
	// Holder is who has locked the file. It is of no more use when that process has ended.
	Holder *Process `json:"holder,omitempty"`
	// Saved is what was saved last.
	Saved *saved `json:"saved,omitempty"`
}

type saved struct {
	Digest string  `json:"digest"`
	By     Process `json:"by"`
}

// maxNote is more than an honest note needs.
const maxNote = 16 << 10

// readNote returns what stands in a lock file, as far as it makes sense.
func readNote(f handle) note {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, maxNote))
	if err != nil {
		return note{}
	}
	var n note
	if json.Unmarshal(text, &n) != nil {
		return note{} // Its writer is not done, or never was.
	}
	if n.Holder != nil {
		*n.Holder = n.Holder.printable()
	}
	if n.Saved != nil {
		n.Saved.By = n.Saved.By.printable()
	}
	return n
}

// notForeign holds that a file may be a lock file, so that nothing is lost when a note is put into it. It may hold a part
// of a note, whose writer was killed, or zeros, if the power failed.
func notForeign(f handle) error {
	start := []byte(`{"`)
	text := make([]byte, len(start))
	n, err := f.ReadAt(text, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if text = text[:n]; bytes.HasPrefix(start, text) || bytes.Count(text, []byte{0}) == n {
		return nil
	}
	return errors.New("it is a file of something else: move it away, or give one of the two another name")
}

// write puts a note into a lock file. Nothing depends on it, so it may fail; but first the old one goes, so that nobody
// takes who held the lock before for who holds it now.
func (n note) write(f handle) {
	if f.Truncate(0) != nil || n == (note{}) {
		return
	}
	if text, err := json.Marshal(n); err == nil {
		_, _ = f.WriteAt(append(text, '\n'), 0) // See above.
	}
}

// lockFile is a lock file that this process has locked. It is never removed: another process might just have opened it,
// and would then lock what nobody else can see.
type lockFile struct {
	disk disk
	name string
	file handle
	note note
}

// How long those who wait sleep between attempts: at first not long, since most saves take milliseconds.
const (
	shortestSleep = 5 * time.Millisecond
	longestSleep  = 250 * time.Millisecond
	// shy is how many attempts there are before a holder counts as one that does not say who it is. Between locking the
	// file and saying so there is an instant.
	shy = 10
)

// lock locks the file at path, whose lock file is name. If somebody else has locked it, waiting is called whenever that
// is somebody new, until the file is free or ctx ends. If waiting is nil, the error says who it is.
func lock(ctx context.Context, d disk, path, name string, waiting func(Process)) (*lockFile, error) {
	var told *Process
	sleep := shortestSleep
	for attempt := 1; ; attempt++ {
		l, holder, err := tryLock(d, name)
		switch {
		case err == nil:
			return l, nil
		case !errors.Is(err, errHeld):
			return nil, fmt.Errorf("cannot lock %s: %s: %w", path, name, cause(err))
		}
		if holder.Known() || attempt >= shy {
			if waiting == nil {
				return nil, &LockedError{Path: path, Holder: holder}
			}
			if told == nil || *told != holder {
				told = &holder
				waiting(holder)
			}
		}
		select {
		case <-ctx.Done():
			return nil, &LockedError{Path: path, Holder: holder, Err: context.Cause(ctx)}
		case <-time.After(sleep/2 + rand.N(sleep)):
		}
		if attempt >= shy {
			sleep = min(sleep*2, longestSleep)
		}
	}
}

// tryLock locks a lock file, or says who has, along with errHeld.
func tryLock(d disk, name string) (*lockFile, Process, error) {
	f, err := openLock(d, name)
	if err != nil {
		return nil, Process{}, err
	}
	l := &lockFile{disk: d, name: name, file: f}
	err = f.lock()
	if err == nil {
		err = l.current() // Somebody may have put another lock file there, so that this one locks nothing.
	}
	if err == nil {
		err = notForeign(f)
	}
	if err == nil {
		l.note.Saved = readNote(f).Saved
		return l, Process{}, nil
	}
	var holder Process
	if n := readNote(f); errors.Is(err, errHeld) && n.Holder != nil && !n.Holder.gone() {
		holder = *n.Holder
	}
	_ = f.Close() // Nothing was written.
	return nil, holder, err
}

// openLock opens a lock file, and makes it if need be.
func openLock(d disk, name string) (handle, error) {
	for {
		// Where all may write to a folder, Linux lets nobody open what another has made with O_CREATE.
		f, _, err := openRegular(d, name, os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			f, _, err = openRegular(d, name, os.O_RDWR|os.O_CREATE|os.O_EXCL, newMode)
		}
		if errors.Is(err, fs.ErrExist) {
			continue // Somebody was faster.
		}
		return f, err
	}
}

// current holds that the lock file is still the one that others will find. If it is not, the error is errHeld.
func (l *lockFile) current() error {
	mine, err := l.file.Stat()
	if err != nil {
		return err
	}
	found, err := l.disk.lstat(l.name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(mine, found) {
		return errHeld
	}
	return err
}

// hold says who has the lock. Those who may write the file are to be able to lock it, so the lock file gets its owner,
// its group and its mode.
func (l *lockFile) hold(by Process, target fs.FileInfo) {
	if target != nil {
		mode := target.Mode().Perm() | newMode // Whoever makes a file read-only for a while does not lock themselves out.
		_ = imitate(l.file, target, mode)      // If it is somebody else's, they do it.
	}
	l.note.Holder = &by
	l.note.write(l.file)
}

// saved notes who saved what.
func (l *lockFile) saved(digest string) {
	l.note.Saved = &saved{Digest: digest, By: *l.note.Holder}
	l.note.write(l.file)
}

// release lets others lock the file.
func (l *lockFile) release() error {
	l.note.Holder = nil
	l.note.write(l.file)
	return errors.Join(l.file.unlock(), l.file.Close())
}
