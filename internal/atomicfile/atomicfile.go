// Package atomicfile replaces and creates files atomically. Even after a crash, a disk error, or a power failure,
// readers see either the old or the new content.
//
// New content is written to a temporary file in the same folder, synced, and renamed. The new file gets the mode and,
// if possible, the owner and group of the file it replaces. Access control lists and extended attributes are lost.
// Temporary files from a killed process are removed by the next write to the same file.
package atomicfile

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
	"slices"
	"strings"
)

// ErrUnsynced means that the file was written but may not survive a power failure.
var ErrUnsynced = errors.New("it may not survive a power loss")

// Content writes the content of a file. It may be called several times, and must write the same each time. If it returns
// an error, the file is not written.
type Content func(io.Writer) error

// Bytes returns the given content.
func Bytes(content []byte) Content {
	return func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}
}

// Write replaces the file at path, or creates it with mode 0666 (before umask). It follows symbolic links, and does
// nothing if the file already has this content.
//
// If Write returns an error other than [ErrUnsynced], the file is unchanged.
func Write(path string, content []byte) error { return write(system{}, path, Bytes(content), 0o666) }

// WriteMode is like [Write], but creates missing files with the given mode.
func WriteMode(path string, content Content, mode fs.FileMode) error {
	return write(system{}, path, content, mode)
}

// WriteNew creates a file. It returns an error wrapping [fs.ErrExist] if anything exists at path, including a dangling
// symbolic link or a file created concurrently.
func WriteNew(path string, content Content, mode fs.FileMode) error {
	return writeNew(system{}, path, content, mode)
}

func writeNew(d disk, path string, content Content, mode fs.FileMode) error {
	return replaceBy(d, path, path, content, mode, nil, func(staged, target string) error {
		err := d.link(staged, target)
		if err == nil {
			_ = d.remove(staged) // the next write retries a failed removal
			return nil
		}
		if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) { // ErrNotExist means that another writer removed the staged file
			return err
		}
		// The file system does not support hard links, as on FAT. Create an empty file to claim the name.
		f, err := d.open(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err != nil {
			return err
		}
		_ = f.Close() // nothing was written
		if err = d.rename(staged, target); err != nil {
			_ = d.remove(target)
		}
		return err
	})
}

func write(d disk, path string, content Content, mode fs.FileMode) error {
	target, err := resolve(d, path)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, cause(err))
	}
	// Opening for writing fails on read-only files, which rename would replace.
	f, old, err := openRegular(d, target, os.O_RDWR)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unchanged(path, err)
	}
	if f != nil {
		same, err := holds(f, content)
		_ = f.Close() // nothing was written
		if err != nil {
			return unchanged(path, err)
		}
		if same {
			return nil
		}
	}
	return replaceBy(d, path, target, content, mode, old, d.rename)
}

func unchanged(path string, err error) error {
	return fmt.Errorf("cannot write %s, which is unchanged: %w", path, cause(err))
}

// replaceBy stages content and calls put to move the staged file to target. The staged file gets the attributes of like
// or, if like is nil, the given mode.
func replaceBy(d disk, path, target string, content Content, mode fs.FileMode, like fs.FileInfo,
	put func(staged, target string) error,
) error {
	clearAway(d, target)
	const attempts = 10 // each other writer may remove the staged file once, when it starts
	var err error
	for range attempts {
		var staged string
		if staged, err = stage(d, target, content, mode, like); err == nil {
			if err = put(staged, target); err == nil {
				return synced(d, path, target)
			}
			_ = d.remove(staged) // the next write retries a failed removal
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if like == nil {
		return fmt.Errorf("cannot write %s: %w", path, cause(err))
	}
	return unchanged(path, err)
}

// holds reports whether f has the given content.
func holds(f io.Reader, content Content) (bool, error) {
	if err := content(&comparison{file: f}); err != nil {
		if errors.Is(err, errDiffers) {
			err = nil
		}
		return false, err
	}
	_, err := io.ReadFull(f, make([]byte, 1))
	if err == io.EOF {
		return true, nil
	}
	return false, err
}

var errDiffers = errors.New("the content differs")

// comparison compares what is written to it with a file.
type comparison struct {
	file  io.Reader
	found []byte
}

func (c *comparison) Write(p []byte) (int, error) {
	c.found = slices.Grow(c.found[:0], len(p))[:len(p)]
	_, err := io.ReadFull(c.file, c.found)
	if err == io.EOF || err == io.ErrUnexpectedEOF || err == nil && !bytes.Equal(c.found, p) {
		err = errDiffers
	}
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// stage writes and syncs a temporary file next to target and returns its name. On failure, it removes the file.
func stage(d disk, target string, content Content, mode fs.FileMode, old fs.FileInfo) (string, error) {
	if old != nil {
		mode = 0o600 // imitate sets the final mode
	}
	name := temporary(target)
	f, err := d.open(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", err
	}
	err = content(f)
	if err == nil && old != nil {
		err = imitate(f, old)
	}
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = d.remove(name) // the next write retries a failed removal
		return "", err
	}
	return name, nil
}

// imitate gives f the owner, group, and mode of old, as far as possible. It never grants more access than old did.
func imitate(f handle, old fs.FileInfo) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	mode := old.Mode().Perm()
	oldUser, oldGroup, _ := owner(old)
	newUser, newGroup, known := owner(info)
	if known && oldUser != newUser {
		_ = f.Chown(oldUser, -1) // only root can change the owner; otherwise, the file gets a new owner, as a copy would
	}
	if known && oldGroup != newGroup && f.Chown(-1, oldGroup) != nil {
		mode &^= 0o070 &^ (mode & 0o007 << 3) // the new group gets no more access than others have
	}
	if info.Mode().Perm() == mode {
		return nil
	}
	return f.Chmod(mode)
}

// synced syncs the folder of target, which makes the rename durable. If that fails, it returns an error wrapping
// [ErrUnsynced].
func synced(d disk, path, target string) error {
	if err := d.syncDir(filepath.Dir(target)); err != nil {
		return fmt.Errorf("%s was written, but %w: %w", path, ErrUnsynced, cause(err))
	}
	return nil
}

// The name of a temporary file ends with a random text of randomLength characters and tempSuffix.
const (
	tempSuffix   = ".tmp"
	randomLength = 26
)

// temporary returns a name for a temporary file next to target.
func temporary(target string) string {
	return filepath.Join(filepath.Dir(target), "."+stem(target)+"-"+rand.Text()+tempSuffix)
}

// stem returns the part of a temporary file's name that identifies target: its base name, shortened if it is long.
func stem(target string) string {
	const longest, part = 100, 80
	base := filepath.Base(target)
	if len(base) <= longest {
		return base
	}
	digest := sha256.Sum256([]byte(base))
	// Cutting a character in half would produce invalid UTF-8, which some file systems reject.
	return fmt.Sprintf("%s~%x", strings.ToValidUTF8(base[:part], ""), digest[:8])
}

// isTemporary reports whether e is a temporary file of target.
func isTemporary(e fs.DirEntry, target string) bool {
	random, ok := strings.CutPrefix(e.Name(), "."+stem(target)+"-")
	if !ok || !e.Type().IsRegular() {
		return false
	}
	random, ok = strings.CutSuffix(random, tempSuffix)
	return ok && len(random) == randomLength && strings.Trim(random, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// clearAway removes temporary files from killed writers. It ignores errors, since the files are harmless.
func clearAway(d disk, target string) {
	dir := filepath.Dir(target)
	entries, err := d.readDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if isTemporary(e, target) {
			_ = d.remove(filepath.Join(dir, e.Name()))
		}
	}
}

// errIrregular means that the path is a folder, a pipe, or a device.
var errIrregular = errors.New("it is not a regular file")

// resolve returns path with symbolic links resolved. The file may be missing, but its folder must exist.
func resolve(d disk, path string) (string, error) {
	if path == "" {
		return "", errors.New("empty path")
	}
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		// Resolve the folder before cleaning the path, since link/.. is the parent of the link's target.
		dir, base := filepath.Split(path)
		dir, err = filepath.EvalSymlinks(dir)
		target = filepath.Join(dir, base)
	}
	if err != nil {
		if _, err := os.Stat(path); isLink(err) {
			return "", errors.New("it is a symbolic link to itself")
		}
		return "", err
	}
	info, err := d.lstat(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return target, nil
	case err != nil:
		return "", err
	case info.Mode()&fs.ModeSymlink != 0:
		return "", errors.New("it is a dangling symbolic link")
	case !info.Mode().IsRegular():
		return "", errIrregular
	}
	return target, nil
}

// openRegular opens a regular file. It returns an error if the file is a symbolic link, a pipe, or a device.
func openRegular(d disk, name string, flag int) (handle, fs.FileInfo, error) {
	f, err := d.open(name, flag|withoutTricks, 0)
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
		_ = f.Close() // nothing was written
		return nil, nil, err
	}
	return f, info, nil
}

// cause removes the names of temporary files from a system error.
func cause(err error) error {
	var pathError *fs.PathError
	var linkError *os.LinkError
	switch {
	case errors.As(err, &pathError):
		return pathError.Err
	case errors.As(err, &linkError):
		return linkError.Err
	}
	return err
}
