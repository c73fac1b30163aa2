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

// pathProperty is the name of the path property in File, Directory, and Unpacked.
const pathProperty lumi.Path = File_Path

// place is the location of a resource. Operations are relative to its open parent directory, so that neither symbolic links
// nor a concurrent rename of the directory can redirect them.
type place struct {
	*os.Root
	path string
	// base is the resource's name in the open directory, or "" if the resource is the open directory itself.
	base string
}

// open opens the parent directory of path. It returns errors that name path.
func open(path string) (*place, error) {
	path = filepath.FromSlash(path)
	p := &place{path: path, base: filepath.Base(path)}
	info, err := os.Stat(filepath.Dir(path))
	if err == nil && !info.IsDir() {
		return nil, syscall.ENOTDIR // OpenRoot would return a different error
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

// openNew opens the parent directory of a new resource. It returns a fault if the directory does not exist.
func openNew(path string) (*place, error) {
	p, err := open(path)
	if isGone(err) {
		return nil, lumi.Faultf(pathProperty, "the directory %s does not exist; if the program creates it, name that resource in"+
			" dependsOn", filepath.Dir(filepath.FromSlash(path)))
	}
	return p, err
}

// openOld opens the parent directory of an existing resource and returns the resource's file information. It returns
// [lumi.ErrNotFound] if the resource no longer exists or is of another kind.
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

// taken returns the fault for a path that already exists.
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

// isGone reports whether err means that a path does not exist, or that it cannot exist.
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

// name implements the operation Name for resources identified by their paths.
func name(path string, unknown lumi.Paths) (string, error) {
	if unknown.Has(pathProperty) {
		return "", lumi.Faultf(pathProperty, "must be known, because it identifies the resource")
	}
	return nameOf(path), nil
}

func (p *place) id() lumi.ID { return lumi.ID(nameOf(p.path)) }

// nameOf returns the shortest equivalent path, with slashes on all systems. It is used as both name and id.
func nameOf(path string) string { return filepath.ToSlash(filepath.Clean(filepath.FromSlash(path))) }

// inspectPath handles a path whose old and new values are equivalent: it ignores the difference, and requests deletion
// before a replacement.
func inspectPath(old, want string, unknown lumi.Paths, diff *lumi.Diff) {
	if unknown.Has(pathProperty) || nameOf(old) != nameOf(want) {
		return
	}
	diff.Ignore(pathProperty)
	diff.DeleteBeforeReplace()
}

// mark returns a fraction of a second derived from a creation token. The modification time of new files and directories
// contains it, since no other attribute can store a mark on all systems. After a lost response, it identifies the resource.
// It is a multiple of 100 ns, the resolution on Windows. File systems with a coarser resolution do not preserve it, so that
// a repeated Create rejects the resource as unmanaged.
func mark(token string) time.Duration {
	sum := sha256.Sum256([]byte("mark of " + token))
	return time.Duration(binary.BigEndian.Uint64(sum[:])%1e7) * 100
}

// markedTime returns the latest time in the past that contains the mark of token.
func markedTime(token string) time.Time {
	now := time.Now()
	t := now.Truncate(time.Second).Add(mark(token))
	if t.After(now) { // tools such as make warn about times in the future
		t = t.Add(-time.Second)
	}
	return t
}

func isMarked(info fs.FileInfo, token string) bool {
	return time.Duration(info.ModTime().Nanosecond()).Truncate(100) == mark(token)
}

// checksum returns the SHA-256 of a file. It returns [lumi.ErrNotFound] if there is no regular file with the name.
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

// temporary returns the name of a temporary file or directory and a function that removes it. The name depends only on key
// and the resource, so that each attempt removes the leftovers of crashed ones. A lock prevents concurrent use by an
// abandoned attempt that is still running.
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

// failed converts an error of a file operation: the result names the path in the program, and is a [lumi.RetryError] if the
// error is transient.
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

// at returns the path of the resource, or of the named file in it if the resource is the open directory.
func (p *place) at(name string) string {
	if p.base != "" {
		return p.path
	}
	return filepath.Join(p.path, strings.TrimPrefix(name, p.Name()+string(filepath.Separator)))
}
