package file

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/lumi-idl/lumi/lumigl"
)

// maxSize is the size of the largest file that is read.
const maxSize = lumigl.DefaultMaxSize

// Load reads a snapshot without locking the file: it is then what one save left, whole, though perhaps not the last one
// any more. If there is no file, the snapshot is nil and the version is zero. If it is not valid, the error is an
// *[InvalidError].
func Load(path string) (*lumigl.Snapshot, Version, error) {
	target, _, err := resolve(system{}, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Version{}, nil
	}
	if err != nil {
		return nil, Version{}, fmt.Errorf("cannot open %s: %w", path, cause(err))
	}
	return load(system{}, path, target)
}

// Load reads the snapshot. If there is no file, the snapshot is nil and the version is zero. If it is not valid, the
// error is an *[InvalidError].
func (l *Locked) Load() (*lumigl.Snapshot, Version, error) {
	if l.lock == nil {
		return nil, Version{}, fmt.Errorf("cannot load %s: %w", l.path, errClosed)
	}
	return load(l.disk, l.path, l.target)
}

func load(d disk, path, target string) (*lumigl.Snapshot, Version, error) {
	text, digest, err := readText(d, target)
	if err != nil {
		return nil, Version{}, fmt.Errorf("cannot read %s: %w", path, cause(err))
	}
	if digest == "" {
		return nil, Version{}, nil
	}
	s, err := lumigl.ParseSnapshot(text)
	if err != nil {
		return nil, Version{}, invalid(d, path, target, err)
	}
	return s, Version{Lineage: s.Lineage, Serial: s.Serial, Digest: digest}, nil
}

func invalid(d disk, path, target string, err error) error {
	var faults *lumigl.InvalidError
	if !errors.As(err, &faults) {
		return fmt.Errorf("cannot read %s: %w", path, err)
	}
	e := &InvalidError{Path: path, Err: faults}
	if _, err := d.lstat(target + backupSuffix); err == nil {
		e.Backup = target + backupSuffix
	}
	return e
}

// readText returns what is in a file, and its digest, which is empty if there is none.
func readText(d disk, target string) (text, digest string, err error) {
	f, info, err := openTarget(d, target, false)
	if f == nil {
		return "", "", err
	}
	defer func() { _ = f.Close() }() // Nothing was written.
	var b strings.Builder
	b.Grow(int(min(info.Size(), maxSize)))
	h := sha256.New()
	// A byte too many tells the parser that there are too many.
	if _, err := io.Copy(io.MultiWriter(&b, h), io.LimitReader(f, maxSize+1)); err != nil {
		return "", "", err
	}
	return b.String(), hex.EncodeToString(h.Sum(nil)), nil
}
