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

// errIrregular says that a file is a folder, a pipe or a device.
var errIrregular = errors.New("it is not a regular file")

// Locked is a file that nobody else may write until it is closed. It must not be used concurrently.
type Locked struct {
	path   string // as the caller named it
	target string // the file itself, behind any symbolic links
	disk   disk
	lock   *lockFile // nil once it is closed
	most   int64     // how large the file may become
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
	if !filepath.IsAbs(target) {
		d = anchor(d)
	}
	if _, err := d.lstat(target + backupSuffix); tooLong(err) {
		return nil, fmt.Errorf("cannot open %s: its name is so long that there is no room for %s behind it: "+
			"give it a shorter one", path, backupSuffix)
	}
	l, err := lock(ctx, d, path, target+lockSuffix, options.Waiting)
	if err != nil {
		return nil, err
	}
	l.hold(self(options.Command), info)
	clearAway(d, target, stagedSuffix)
	clearAway(d, target, looseSuffix)
	return &Locked{path: path, target: target, disk: d, lock: l, most: maxSize}, nil
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
	if path == "" {
		return "", nil, errors.New("the path is empty")
	}
	target, err = filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		// The folder may be behind a link all the same, and has to be there. It is not to be shortened before it is
		// followed: link/.. is the folder above the one that the link leads to.
		dir, base := filepath.Split(path)
		dir, err = filepath.EvalSymlinks(dir)
		target = filepath.Join(dir, base)
	}
	if err != nil {
		if _, err := os.Stat(path); isLink(err) {
			return "", nil, errors.New("it is a symbolic link that leads to itself")
		}
		return "", nil, err
	}
	info, err = d.lstat(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return target, nil, nil
	case err != nil:
		return "", nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return "", nil, errors.New("it is a symbolic link that leads nowhere")
	case !info.Mode().IsRegular():
		return "", nil, errIrregular
	}
	return target, info, nil
}

// openTarget opens the file to be read, and to be replaced if it is to be. Both are nil if there is none.
func openTarget(d disk, target string, replace bool) (handle, fs.FileInfo, error) {
	// Whoever may not write to a file is not to replace it either, though the system would let them.
	flag := os.O_RDONLY
	if replace {
		flag = os.O_RDWR
	}
	f, info, err := openRegular(d, target, flag, 0)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return f, info, err
}

// openRegular opens a file that must be a regular one. Both are nil if it cannot be opened.
func openRegular(d disk, name string, flag int, perm fs.FileMode) (handle, fs.FileInfo, error) {
	f, err := d.open(name, flag|withoutTricks, perm)
	if isLink(err) {
		return nil, nil, errors.New("it is a symbolic link")
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errIrregular
	}
	if err != nil {
		_ = f.Close() // Nothing was written.
		return nil, nil, err
	}
	return f, info, nil
}
