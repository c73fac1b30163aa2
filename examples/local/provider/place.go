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

// pathProperty is what the path of a File, a Directory and an Unpacked is called.
const pathProperty lumi.Path = File_Path

// place is where a resource is, or should be. All work is done in the open directory above it, so that neither a symbolic
// link nor a directory that is moved meanwhile leads anywhere else.
type place struct {
	*os.Root
	path string
	// base is the name in the open directory. It is empty if that is the resource itself.
	base string
}

// open opens the directory that a path is in.
func open(path string) (*place, error) {
	path = filepath.FromSlash(path)
	p := &place{path: path, base: filepath.Base(path)}
	info, err := os.Stat(filepath.Dir(path))
	if err == nil && !info.IsDir() {
		return nil, syscall.ENOTDIR // OpenRoot's own error is another.
	}
	if err == nil {
		p.Root, err = os.OpenRoot(filepath.Dir(path))
	}
	if err != nil {
		return nil, p.failed(err)
	}
	return p, nil
}

// close closes the directory, into which nothing was written.
func (p *place) close() { _ = p.Close() }

// openNew opens the directory that something is to be created in.
func openNew(path string) (*place, error) {
	p, err := open(path)
	if isGone(err) {
		return nil, lumi.Faultf(pathProperty, "the directory %s does not exist; if the program creates it, name that resource in"+
			" dependsOn", filepath.Dir(filepath.FromSlash(path)))
	}
	return p, err
}

// openOld opens the directory of an existing file or directory. If there is none, or something else has taken its place,
// it returns [lumi.ErrNotFound].
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

// taken is the fault of a path at which something exists already.
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
	return lumi.Faultf(pathProperty, "%s exists already, as %s that this resource did not create", p.path, what)
}

// isGone reports whether nothing exists at a path, perhaps because nothing can.
func isGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}

// checkPath returns the faults of a path.
func checkPath(path string, unknown lumi.Paths) error {
	switch clean := nameOf(path); {
	case unknown.Has(pathProperty):
		return nil
	case path == "":
		return lumi.Faultf(pathProperty, "is empty")
	case strings.ContainsRune(path, 0):
		return lumi.Faultf(pathProperty, "contains a NUL character")
	case clean == "." || clean == ".." || strings.HasSuffix(clean, "/..") || strings.HasSuffix(clean, "/"):
		return lumi.Faultf(pathProperty, "must end in a name, and not be %s", path)
	}
	return nil
}

// name is the Name operation of resources that are identified by their paths.
func name(path string, unknown lumi.Paths) (string, error) {
	if unknown.Has(pathProperty) {
		return "", lumi.Faultf(pathProperty, "must be known, because it identifies the resource")
	}
	return nameOf(path), nil
}

// id is the id of what is at the place.
func (p *place) id() lumi.ID { return lumi.ID(nameOf(p.path)) }

// nameOf is the shortest way to write a path, with slashes everywhere. The id is the same.
func nameOf(path string) string { return filepath.ToSlash(filepath.Clean(filepath.FromSlash(path))) }

// inspectPath ignores another way to write the same path. A replacement at the same path deletes the old resource first.
func inspectPath(old, want string, unknown lumi.Paths, diff *lumi.Diff) {
	if unknown.Has(pathProperty) || nameOf(old) != nameOf(want) {
		return
	}
	diff.Ignore(pathProperty)
	diff.DeleteBeforeReplace()
}

// mark is a fraction of a second that is derived from the token of a creation. A file or directory is created with it in
// its modification time, the only place that every system has for a mark inside of what is created. If the answer to the
// creation is lost, the mark tells that from what others made. It is a multiple of 100 ns, which is what Windows keeps.
// File systems that keep less lose it: what was created then counts as made by others, and is refused.
func mark(token string) time.Duration {
	sum := sha256.Sum256([]byte("mark of " + token))
	return time.Duration(binary.BigEndian.Uint64(sum[:])%1e7) * 100
}

// markedTime is the last time that has the mark.
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

// checksum returns the SHA-256 of a regular file. If there is none, it returns [lumi.ErrNotFound].
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

// temporary is the name of what will be moved to its place, and a function that removes what is left of it. The name is
// the same for each attempt, so that an attempt removes what a crash of the one before it left. An attempt that the engine
// gave up may still be running, therefore the lock.
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
			lumi.Log(ctx).Warn("a temporary file is left behind", "directory", p.Name(), "name", name, "error", err)
		}
		lock.Unlock()
	}, nil
}

const temporaryPrefix = ".lumi-"

var temporaries sync.Map

// failed is the error of work at the place: it names the path as the program writes it, and says which errors may pass.
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

// at is the path of the resource, or that of a file in it.
func (p *place) at(name string) string {
	if p.base != "" {
		return p.path
	}
	return filepath.Join(p.path, strings.TrimPrefix(name, p.Name()+string(filepath.Separator)))
}
