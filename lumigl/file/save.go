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
	"os"

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
	digest, err := l.replace(s, loaded, info)
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
func (l *Locked) replace(s *lumigl.Snapshot, loaded Version, old fs.FileInfo) (string, error) {
	h := sha256.New()
	staged, err := stage(l.disk, l.target, stagedSuffix, newMode, old, func(w io.Writer) error {
		return lumigl.Write(&limited{io.MultiWriter(w, h), l.most}, s)
	})
	var faults *lumigl.InvalidError
	switch {
	case errors.As(err, &faults):
		return "", fmt.Errorf("cannot save %s, since the new snapshot is not valid:\n%w", l.path, faults)
	case errors.Is(err, errTooLarge):
		return "", fmt.Errorf("cannot save %s, since the new snapshot has more than %d bytes, which nobody could load",
			l.path, l.most)
	case err != nil:
		return "", l.failed(err)
	}
	if err := l.swap(staged, loaded, old); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), synced(l.disk, l.path, l.target)
}

// swap puts the temporary files for the snapshot and the backup in their places. All that takes long is done before.
func (l *Locked) swap(staged string, loaded Version, old fs.FileInfo) error {
	var kept string
	defer func() {
		for _, name := range []string{staged, kept} {
			if name != "" {
				_ = l.disk.remove(name) // If that fails, whoever locks the file next does it.
			}
		}
	}()
	unkept := func(err error) error {
		return fmt.Errorf("cannot keep %s as %s, so it was not saved: %w", l.path, l.target+backupSuffix, cause(err))
	}
	if old != nil {
		var err error
		if kept, err = keep(l.disk, l.target, old); err != nil {
			return cmp.Or(l.undisturbed(loaded, old), unkept(err))
		}
	}
	if err := l.undisturbed(loaded, old); err != nil {
		return err
	}
	if kept != "" {
		if err := l.disk.rename(kept, l.target+backupSuffix); err != nil {
			return unkept(err)
		}
		kept = ""
	}
	if err := l.disk.rename(staged, l.target); err != nil {
		return l.failed(err)
	}
	staged = ""
	return nil
}

// undisturbed holds that nobody has taken the lock away, or changed the file without caring for it, while the snapshot
// was being written, which may have taken a while.
func (l *Locked) undisturbed(loaded Version, old fs.FileInfo) error {
	switch err := l.lock.current(); {
	case errors.Is(err, errHeld):
		return fmt.Errorf("cannot save %s: %s was removed or replaced meanwhile, so that another process may write too: "+
			"leave that file alone, and start anew", l.path, l.lock.name)
	case err != nil:
		return l.failed(err)
	}
	now, err := l.disk.lstat(l.target)
	switch {
	case errors.Is(err, fs.ErrNotExist) && old == nil:
		return nil
	case err == nil && old != nil && os.SameFile(now, old) && now.Size() == old.Size() && now.ModTime().Equal(old.ModTime()):
		return nil
	}
	_, err = l.expect(loaded)
	return err
}

// limited is a writer of so many bytes and no more.
type limited struct {
	w    io.Writer
	left int64
}

var errTooLarge = errors.New("it is too large")

func (l *limited) Write(data []byte) (int, error) {
	if l.left -= int64(len(data)); l.left < 0 {
		return 0, errTooLarge
	}
	return l.w.Write(data)
}

func (l *Locked) failed(err error) error {
	return fmt.Errorf("cannot save %s, which stays as it was: %w", l.path, cause(err))
}
