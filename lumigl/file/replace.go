package file

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	backupSuffix = ".backup"
	// stagedSuffix is that of temporary files of those who have locked the file. Nobody else removes them.
	stagedSuffix = ".staged"
	// looseSuffix is that of temporary files of those who have not. Anybody may remove them, believing that their writer
	// was killed; if it was not, it makes another.
	looseSuffix = ".loose"
)

// newMode is for files that may hold secrets. Whoever gives a file another mode finds it kept.
const newMode = 0o600

// WriteAtomic replaces a file without locking it, for files that only people change, such as general graphs. It keeps
// no backup. Symbolic links are followed, and the mode stays. A file that has that content already is left alone.
//
// Whatever the error, the file is what it was, but for [ErrUnsynced]: then it is the new one.
func WriteAtomic(path string, content []byte) error { return writeAtomic(system{}, path, content) }

func writeAtomic(d disk, path string, content []byte) error { return write(d, path, content, 0o666) }

// WriteMode is like [WriteAtomic], but gives a new file the mode.
func WriteMode(path string, content []byte, mode fs.FileMode) error {
	return write(system{}, path, content, mode)
}

// WriteNew creates a file with the mode, whole or not at all. The error wraps [fs.ErrExist] if there is anything at path,
// including a symbolic link, even if it was created by another process at the same time.
func WriteNew(path string, content []byte, mode fs.FileMode) error {
	return writeNew(system{}, path, content, mode)
}

func writeNew(d disk, path string, content []byte, mode fs.FileMode) error {
	return replaceBy(d, path, path, content, mode, nil, func(staged, target string) error {
		err := d.link(staged, target)
		if err == nil {
			_ = d.remove(staged) // If that fails, the next writer does it.
			return nil
		}
		if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) { // Another writer has cleared staged away.
			return err
		}
		// Some file systems have no hard links. There, an empty file claims the name.
		f, err := d.open(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err != nil {
			return err
		}
		_ = f.Close() // Nothing was written.
		if err = d.rename(staged, target); err != nil {
			_ = d.remove(target)
		}
		return err
	})
}

// LockPath is where the lock of a file is, if it has ever been locked. Symbolic links are followed.
func LockPath(path string) (string, error) {
	target, _, err := resolve(system{}, path)
	if err != nil {
		return "", fmt.Errorf("cannot use %s: %w", path, cause(err))
	}
	return target + lockSuffix, nil
}

func write(d disk, path string, content []byte, mode fs.FileMode) error {
	target, _, err := resolve(d, path)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, cause(err))
	}
	failed := func(err error) error {
		return fmt.Errorf("cannot write %s, which stays as it was: %w", path, cause(err))
	}
	f, old, err := openTarget(d, target, true)
	if err != nil {
		return failed(err)
	}
	if f != nil {
		same, err := holds(f, old, content)
		_ = f.Close() // Nothing was written.
		if err != nil {
			return failed(err)
		}
		if same {
			return nil
		}
	}
	return replaceBy(d, path, target, content, mode, old, d.rename)
}

// replaceBy writes a temporary file that has the mode and the owner of another, or a mode if there is no other, and
// calls put to make it the target.
func replaceBy(d disk, path, target string, content []byte, mode fs.FileMode, like fs.FileInfo,
	put func(staged, target string) error,
) error {
	clearAway(d, target, looseSuffix)
	const attempts = 10 // Another process clears away once, when it starts.
	var err error
	for range attempts {
		var staged string
		staged, err = stage(d, target, looseSuffix, mode, like, func(w io.Writer) error {
			_, err := w.Write(content)
			return err
		})
		if err == nil {
			if err = put(staged, target); err == nil {
				return synced(d, path, target)
			}
			_ = d.remove(staged) // If that fails, the next writer does it.
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if like == nil {
		return fmt.Errorf("cannot write %s: %w", path, cause(err))
	}
	return fmt.Errorf("cannot write %s, which stays as it was: %w", path, cause(err))
}

// holds reports whether a file has a content.
func holds(f io.Reader, info fs.FileInfo, content []byte) (bool, error) {
	if info.Size() != int64(len(content)) {
		return false, nil
	}
	found, err := io.ReadAll(io.LimitReader(f, int64(len(content))+1))
	return bytes.Equal(found, content), err
}

// stage writes a new temporary file beside the target, and waits until the disk has it. The file is given the mode and
// the owner of the one that it is to replace, or a mode if there is none. If anything fails, it is removed.
func stage(d disk, target, suffix string, mode fs.FileMode, old fs.FileInfo, write func(io.Writer) error) (string, error) {
	if old != nil {
		mode = newMode // Until it is known who may read it.
	}
	name := temporary(target, suffix)
	f, err := d.open(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", err
	}
	err = write(f)
	if err == nil && old != nil {
		err = imitate(f, old, old.Mode().Perm())
	}
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = d.remove(name) // If that fails, the next writer does it.
		return "", err
	}
	return name, nil
}

// imitate gives a file the owner and the group of another, as far as the system lets us, and a mode. Those who could not
// read or write the old one cannot do it with the new one either.
func imitate(f handle, old fs.FileInfo, mode fs.FileMode) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	oldUser, oldGroup, _ := owner(old)
	newUser, newGroup, known := owner(info)
	if known && oldUser != newUser {
		_ = f.Chown(oldUser, -1) // Only root can. For others the file becomes theirs, as a copy would.
	}
	if known && oldGroup != newGroup && f.Chown(-1, oldGroup) != nil {
		mode &^= 0o070 &^ (mode & 0o007 << 3) // The group is another one, so its members are others.
	}
	if info.Mode().Perm() == mode {
		return nil
	}
	return f.Chmod(mode)
}

// keep gives what the target is now a second name, or makes a copy of it, in order to become the backup. The name is
// empty if the backup is that file already.
func keep(d disk, target string, old fs.FileInfo) (string, error) {
	switch info, err := d.lstat(target + backupSuffix); {
	case err == nil && os.SameFile(info, old):
		return "", nil // A writer got as far as this and was killed. Renaming one name of a file to another does nothing.
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	name := temporary(target, stagedSuffix)
	if d.link(target, name) == nil {
		return name, nil
	}
	// Some file systems know no hard links, and some systems give none to those who do not own a file.
	return duplicate(d, target, old)
}

// duplicate makes a copy of the target in a temporary file.
func duplicate(d disk, target string, old fs.FileInfo) (string, error) {
	from, err := d.open(target, os.O_RDONLY|withoutTricks, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = from.Close() }() // Nothing was written.
	return stage(d, target, stagedSuffix, newMode, old, func(w io.Writer) error {
		// A plain reader, since a writer is not to see that it could copy by itself.
		_, err := io.Copy(struct{ io.Writer }{w}, struct{ io.Reader }{from})
		return err
	})
}

// synced waits until the disk has the new name of a file.
func synced(d disk, path, target string) error {
	if err := d.syncDir(filepath.Dir(target)); err != nil {
		return fmt.Errorf("%s was written, but %w: %w", path, ErrUnsynced, cause(err))
	}
	return nil
}

// temporary makes a name for a temporary file beside the target.
func temporary(target, suffix string) string {
	return filepath.Join(filepath.Dir(target), "."+stem(target)+"-"+rand.Text()+suffix)
}

// stem is what the names of the target's temporary files begin with: its own name, but for a long one, which would leave
// no room for the rest.
func stem(target string) string {
	const longest, part = 100, 80
	base := filepath.Base(target)
	if len(base) <= longest {
		return base
	}
	digest := sha256.Sum256([]byte(base)) // It keeps apart those that begin alike.
	// What is left of a character that was cut in two would be refused by some file systems.
	return fmt.Sprintf("%s~%x", strings.ToValidUTF8(base[:part], ""), digest[:8])
}

// randomLength is the length of rand.Text.
const randomLength = 26

// isTemporary reports whether an entry of a folder is a temporary file for the target.
func isTemporary(e fs.DirEntry, target, suffix string) bool {
	random, ok := strings.CutPrefix(e.Name(), "."+stem(target)+"-")
	if !ok || !e.Type().IsRegular() {
		return false
	}
	random, ok = strings.CutSuffix(random, suffix)
	return ok && len(random) == randomLength && strings.Trim(random, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// clearAway removes temporary files of writers that were killed. Should that fail, they do no harm.
func clearAway(d disk, target, suffix string) {
	dir := filepath.Dir(target)
	entries, err := d.readDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if isTemporary(e, target, suffix) {
			_ = d.remove(filepath.Join(dir, e.Name()))
		}
	}
}
