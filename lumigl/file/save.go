package file

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"github.com/lumi-idl/lumi/lumigl"
)

// Save replaces the file by a snapshot, if it is still what was loaded. It sets the snapshot's lineage and serial: the
// lineage is that of the file, or a new one if it has none; the serial is the next. The file before is kept as backup.
//
// If the file has changed since, the error is a *[StaleError], or an *[InvalidError] if what is there now is no
// snapshot. Whatever the error, the file is then what it was, and the snapshot too, but for [ErrUnsynced]: then the file
// is the new one, and its version is returned.
func (l *Locked) Save(s *lumigl.Snapshot, loaded Version) (Version, error) {
	if l.lock == nil {
		return Version{}, fmt.Errorf("cannot save %s: %w", l.path, errClosed)
	}
	if loaded.Serial == math.MaxUint64 {
		return Version{}, fmt.Errorf("cannot save %s: there is no serial after %d", l.path, loaded.Serial)
	}
	info, err := l.expect(loaded)
	if err != nil {
		return Version{}, err
	}
	lineage, serial := s.Lineage, s.Serial
	s.Lineage, s.Serial = cmp.Or(loaded.Lineage, rand.Text()), loaded.Serial+1
	digest, err := l.replace(s, info)
	if err != nil && !errors.Is(err, ErrUnsynced) {
		s.Lineage, s.Serial = lineage, serial
		return Version{}, err
	}
	l.lock.saved(digest)
	return Version{Lineage: s.Lineage, Serial: s.Serial, Digest: digest}, err
}

// expect holds that the file is what was loaded, and returns what the system knows of it, nil if there is none.
func (l *Locked) expect(loaded Version) (fs.FileInfo, error) {
	f, info, err := openTarget(l.disk, l.target, true)
	if err != nil {
		return nil, l.failed(err)
	}
	digest := ""
	if f != nil {
		defer func() { _ = f.Close() }() // Nothing was written.
		h := sha256.New()
		if _, err := io.Copy(h, f); err != nil {
			return nil, l.failed(err)
		}
		digest = hex.EncodeToString(h.Sum(nil))
	}
	if digest == loaded.Digest {
		return info, nil
	}
	_, found, err := load(l.disk, l.path, l.target)
	var broken *InvalidError
	if errors.As(err, &broken) {
		broken.Kept = true
	}
	if err != nil {
		return nil, err
	}
	stale := &StaleError{Path: l.path, Loaded: loaded, Found: found}
	if last := l.lock.note.Saved; last != nil && last.Digest == found.Digest {
		stale.By = last.By
	}
	return nil, stale
}

// replace writes the snapshot and puts it in the place of the file, and what was there in the place of the backup. It
// returns the digest.
func (l *Locked) replace(s *lumigl.Snapshot, old fs.FileInfo) (string, error) {
	h := sha256.New()
	staged, err := stage(l.disk, l.target, stagedSuffix, newMode, old, func(w io.Writer) error {
		return lumigl.Write(io.MultiWriter(w, h), s)
	})
	var faults *lumigl.InvalidError
	if errors.As(err, &faults) {
		return "", fmt.Errorf("cannot save %s, since the new snapshot is not valid:\n%w", l.path, faults)
	}
	if err != nil {
		return "", l.failed(err)
	}
	defer func() {
		if staged != "" {
			_ = l.disk.remove(staged) // If that fails, whoever locks the file next does it.
		}
	}()
	if old != nil {
		if err := backup(l.disk, l.target, old); err != nil {
			return "", fmt.Errorf("cannot keep %s as %s, so it was not saved: %w", l.path, l.target+backupSuffix, cause(err))
		}
	}
	switch err := l.lock.current(); {
	case errors.Is(err, errHeld):
		return "", fmt.Errorf("cannot save %s: %s was removed or replaced meanwhile, so that another process may write too: "+
			"leave that file alone, and start anew", l.path, l.lock.name)
	case err != nil:
		return "", l.failed(err)
	}
	if err := l.disk.rename(staged, l.target); err != nil {
		return "", l.failed(err)
	}
	staged = ""
	return hex.EncodeToString(h.Sum(nil)), synced(l.disk, l.path, l.target)
}

func (l *Locked) failed(err error) error {
	return fmt.Errorf("cannot save %s, which stays as it was: %w", l.path, cause(err))
}
