package local

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// pathProperty is the name of the path property of File, Directory, and Unpacked.
const pathProperty lumi.Path = File_Path

// place is the location of a resource. Operations are relative to its open parent directory, so that neither symbolic links
// nor a concurrent move of the directory can redirect them.
type place struct {
	*os.Root
	path string
	// base is the name in the parent directory, or "" for the directory itself.
	base string
}

// open opens the parent directory of a path.
func open(path string) (*place, error) {
	path = filepath.FromSlash(path)
	p := &place{path: path, base: filepath.Base(path)}
	info, err := os.Stat(filepath.Dir(path))
	if err == nil && !info.IsDir() {
		return nil, syscall.ENOTDIR // OpenRoot's own error has another form.
	}
	if err == nil {
		p.Root, err = os.OpenRoot(filepath.Dir(path))
	}
	if err != nil {
		return nil, p.failed(err)
	}
	return p, nil
}

func (p *place) close() { _ = p.Close() }

// openNew opens the parent directory of a new resource.
func openNew(path string) (*place, error) {
	p, err := open(path)
	if isGone(err) {
		return nil, lumi.Faultf(pathProperty, "the directory %s does not exist; if the program creates it, name that resource in"+
			" dependsOn", filepath.Dir(filepath.FromSlash(path)))
	}
	return p, err
}

// openOld opens the parent directory of an existing resource. If the resource is gone or was replaced by something
// else, openOld returns [lumi.ErrNotFound].
func openOld(path string, kind fs.FileMode) (*place, fs.FileInfo, error) {
	p, err := open(path)
	if isGone(err) {
		return nil, nil, lumi.ErrNotFound
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := p.Lstat(p.base)
	if isGone(err) || err == nil && info.Mode().Type() != kind {
		err = lumi.ErrNotFound
	}
	if err != nil {
		p.close()
		return nil, nil, p.failed(err)
	}
	return p, info, nil
}

// taken returns the fault for an existing path.
func (p *place) taken() error {
	what := "something"
	if info, err := p.Lstat(p.base); err == nil {
		switch {
		case info.IsDir():
			what = "a directory"
		case info.Mode().IsRegular():
			what = "a file"
		case info.Mode()&fs.ModeSymlink != 0:
			what = "a symbolic link"
		}
	}
	return lumi.Faultf(pathProperty, "%s already exists, as %s that this resource did not create", p.path, what)
}

// isGone reports whether an error means that nothing exists, or can exist, at a path.
func isGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}

func checkPath(path string, unknown lumi.Paths) error {
	switch clean := nameOf(path); {
	case unknown.Has(pathProperty):
		return nil
	case path == "":
		return lumi.Faultf(pathProperty, "must not be empty")
	case strings.ContainsRune(path, 0):
		return lumi.Faultf(pathProperty, "must not contain a NUL character")
	case clean == "." || clean == ".." || strings.HasSuffix(clean, "/..") || strings.HasSuffix(clean, "/"):
		return lumi.Faultf(pathProperty, "must end in a name, got %s", path)
	}
	return nil
}

// name implements the Name operation of resources identified by their paths.
func name(path string, unknown lumi.Paths) (string, error) {
	if unknown.Has(pathProperty) {
		return "", lumi.Faultf(pathProperty, "must be known, because it identifies the resource")
	}
	return nameOf(path), nil
}

func (p *place) id() lumi.ID { return lumi.ID(nameOf(p.path)) }

// nameOf returns the shortest form of a path, with slashes on all systems. It is also the id.
func nameOf(path string) string { return filepath.ToSlash(filepath.Clean(filepath.FromSlash(path))) }

// inspectPath ignores a change of notation. A replacement at the same path deletes first.
func inspectPath(old, want string, unknown lumi.Paths, diff *lumi.Diff) {
	if unknown.Has(pathProperty) || nameOf(old) != nameOf(want) {
		return
	}
	diff.Ignore(pathProperty)
	diff.DeleteBeforeReplace()
}

// mark returns a fraction of a second derived from a creation token. New files and directories get it in their
// modification time, the only attribute that can hold a mark on all systems. After a lost response, it identifies the
// resource. It is a multiple of 100 ns, the resolution on Windows. File systems with a coarser resolution lose it: the
// resource then counts as unmanaged and is rejected.
func mark(token string) time.Duration {
	sum := sha256.Sum256([]byte("mark of " + token))
	return time.Duration(binary.BigEndian.Uint64(sum[:])%1e7) * 100
}

// markedTime returns the latest time with the mark.
func markedTime(token string) time.Time {
	now := time.Now()
	t := now.Truncate(time.Second).Add(mark(token))
	if t.After(now) { // Tools such as make distrust files from the future.
		t = t.Add(-time.Second)
	}
	return t
}

func isMarked(info fs.FileInfo, token string) bool {
	return time.Duration(info.ModTime().Nanosecond()).Truncate(100) == mark(token)
}

// checksum returns the SHA-256 of a regular file. If it does not exist, it returns [lumi.ErrNotFound].
func (p *place) checksum(name string) (string, error) {
	info, err := p.Lstat(name)
	if isGone(err) || err == nil && !info.Mode().IsRegular() {
		return "", lumi.ErrNotFound
	}
	if err != nil {
		return "", p.failed(err)
	}
	file, err := p.Open(name)
	if err != nil {
		return "", p.failed(err)
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", p.failed(err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// temporary returns the name of a temporary file or directory and a function that removes it. The name is the same for
// each attempt, so that an attempt removes the leftovers of a crashed one. The lock excludes an abandoned attempt that
// is still running.
func (p *place) temporary(ctx context.Context, key string) (name string, done func(), err error) {
	sum := sha256.Sum256([]byte(key + " " + p.base))
	name = temporaryPrefix + hex.EncodeToString(sum[:8])
	value, _ := temporaries.LoadOrStore(name, new(sync.Mutex))
	lock := value.(*sync.Mutex)
	lock.Lock()
	if err := p.RemoveAll(name); err != nil {
		lock.Unlock()
		return "", nil, p.failed(err)
	}
	return name, func() {
		if err := p.RemoveAll(name); err != nil {
			lumi.Log(ctx).Warn("cannot remove a temporary file", "directory", p.Name(), "name", name, "error", err)
		}
		lock.Unlock()
	}, nil
}

const temporaryPrefix = ".lumi-"

var temporaries sync.Map

// failed returns an error that names the program's path, and classifies transient errors.
func (p *place) failed(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &link):
		err = fmt.Errorf("%s: %w", p.at(link.New), link.Err)
	case errors.As(err, &path):
		err = fmt.Errorf("%s: %w", p.at(path.Path), path.Err)
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return &lumi.RetryError{Err: err, After: time.Minute}
	}
	return err
}

// at returns the path of the resource, or of a file in it.
func (p *place) at(name string) string {
	if p.base != "" {
		return p.path
	}
	return filepath.Join(p.path, strings.TrimPrefix(name, p.Name()+string(filepath.Separator)))
}
