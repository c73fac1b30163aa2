package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Options say how to open a file.
type Options struct {
	// Command is what others are told about this process when they are refused, such as "lumi deploy". It should hold
	// no arguments, which may be secret. It is the name of the program if it is empty.
	Command string
	// Waiting is called with who has locked the file, and again when that changes. Then [Open] waits. If Waiting is
	// nil, it does not.
	Waiting func(Process)

	disk disk // nil for that of the system
}

// Locked is a file that nobody else may write until it is closed. It must not be used concurrently.
type Locked struct {
	path   string // as the caller named it
	target string // the file itself, behind any symbolic links
	disk   disk
	lock   *lockFile // nil once it is closed
}

// errClosed says that a Locked was used after Close.
var errClosed = fs.ErrClosed

// Open locks a file, which need not be there yet, and clears away what writers that were killed have left. Symbolic
// links are followed.
//
// If another process has locked it, the error is a *[LockedError], at once or, if the options say so, when ctx ends.
func Open(ctx context.Context, path string, options Options) (*Locked, error) {
	d := options.disk
	if d == nil {
		d = system{}
	}
	target, info, err := resolve(d, path)
	if err != nil {
		return nil, fmt.Errorf("cannot open %s: %w", path, cause(err))
	}
	l, err := lock(ctx, d, path, target+lockSuffix, options.Waiting)
	if err != nil {
		return nil, err
	}
	l.hold(self(options.Command), info)
	clearAway(d, target, stagedSuffix)
	clearAway(d, target, looseSuffix)
	return &Locked{path: path, target: target, disk: d, lock: l}, nil
}

// Close lets others write the file. It may be called twice.
func (l *Locked) Close() error {
	if l.lock == nil {
		return nil
	}
	err := l.lock.release()
	l.lock = nil
	if err != nil {
		return fmt.Errorf("cannot unlock %s: %w", l.path, cause(err))
	}
	return nil
}

// resolve returns the path of the file that a path leads to, and what is there, nil if nothing is.
func resolve(d disk, path string) (target string, info fs.FileInfo, err error) {
	target, err = filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := d.lstat(path); err == nil {
			return "", nil, errors.New("it is a symbolic link that leads nowhere")
		}
		// The folder may be behind a link all the same, and has to be there.
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		return filepath.Join(dir, filepath.Base(path)), nil, err
	}
	if err != nil {
		return "", nil, err
	}
	info, err = d.lstat(target)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	return target, info, err
}

// openTarget opens the file to be read, and to be replaced if it is to be. Both are nil if there is none.
func openTarget(d disk, target string, replace bool) (handle, fs.FileInfo, error) {
	// Whoever may not write to a file is not to replace it either, though the system would let them.
	flag := os.O_RDONLY
	if replace {
		flag = os.O_RDWR
	}
	f, err := d.open(target, flag|withoutTricks, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		_ = f.Close() // Nothing was written.
		return nil, nil, err
	}
	return f, info, nil
}
