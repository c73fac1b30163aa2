package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
)

// lostError reports that the database file was removed or replaced while it was open.
type lostError struct {
	path     string
	replaced bool
	saved    string // path of the copy, or ""
	changed  bool   // whether the database changed since the copy
	err      error  // reason that there is no copy, or no final copy
}

// Error describes the problem and how to recover.
func (e *lostError) Error() string {
	what, move := "removed", "move it to %[2]s"
	if e.replaced {
		what, move = "replaced by another file", "replace %[2]s with it, delete %[2]s-wal and %[2]s-shm"
	}
	text := fmt.Sprintf("%s was %s while lumi was using it", e.path, what)
	if e.saved != "" {
		text += fmt.Sprintf("; the state is saved in %[1]s: "+move+", and run 'lumi retry'", e.saved, e.path)
	}
	if e.err != nil {
		text += fmt.Sprintf("; the final state cannot be saved: %s", e.err)
	}
	return text
}

// Unwrap returns [store.ErrLost].
func (e *lostError) Unwrap() error { return store.ErrLost }

// isGone reports whether the opened file no longer exists at its path (gone), and whether another file exists there
// (replaced).
func (s *Store) isGone() (gone, replaced bool) {
	now, err := os.Stat(s.path)
	if err != nil {
		return !errors.Is(err, fs.ErrPermission), false
	}
	return !os.SameFile(s.file, now), true
}

// salvage saves a copy of the database if its file is gone, since the open connection can still read it. It saves a
// copy when it first notices the loss, in case the process is killed, and again at the end. It returns a *lostError if
// the file is gone, and nil otherwise.
func (s *Store) salvage(c *conn, end bool) error {
	if s.lost == nil {
		gone, replaced := s.isGone()
		if !gone {
			return nil
		}
		s.lost = &lostError{path: s.path, replaced: replaced, changed: true}
		s.save(c)
	} else if s.lost.changed = !end || s.lost.changed; end && s.lost.changed {
		s.save(c)
	}
	if _, replaced := s.isGone(); end && !replaced && s.lost.err == nil {
		for _, suffix := range []string{"-wal", "-shm"} { // SQLite would apply leftover files to the copy.
			_ = os.Remove(s.path + suffix)
		}
	}
	failed := *s.lost
	return &failed
}

// save writes a copy of the database, replacing any earlier copy.
func (s *Store) save(c *conn) {
	saved := s.lost.saved
	if saved == "" {
		saved = filepath.Join(s.rescue, time.Now().UTC().Format("lumi-rescue-20060102T150405.000000Z.db"))
	}
	for _, path := range []string{saved, filepath.Join(os.TempDir(), filepath.Base(saved))} {
		if s.lost.err = s.copy(context.Background(), c, path+".part", true); s.lost.err == nil {
			s.lost.err = os.Rename(path+".part", path)
		}
		if s.lost.err == nil {
			s.lost.saved, s.lost.changed = path, false
			return
		}
	}
}
