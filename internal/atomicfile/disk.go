package atomicfile

import (
	"io"
	"io/fs"
	"os"
)

// disk is the part of the file system used by this package. Tests use it to inject failures.
type disk interface {
	open(name string, flag int, perm fs.FileMode) (handle, error)
	lstat(name string) (fs.FileInfo, error)
	readDir(name string) ([]fs.DirEntry, error)
	link(from, to string) error
	// rename replaces the file at to if it exists.
	rename(from, to string) error
	remove(name string) error
	// syncDir makes the directory entries in a folder durable.
	syncDir(name string) error
}

type handle interface {
	io.Reader
	io.Writer
	io.Closer
	Sync() error
	Stat() (fs.FileInfo, error)
	Chmod(mode fs.FileMode) error
	Chown(uid, gid int) error
}

// system implements disk with the operating system.
type system struct{}

func (system) open(name string, flag int, perm fs.FileMode) (handle, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err // returning f would make the handle non-nil
	}
	return f, nil
}

func (system) lstat(name string) (fs.FileInfo, error)     { return os.Lstat(name) }
func (system) readDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }
func (system) link(from, to string) error                 { return os.Link(from, to) }
func (system) remove(name string) error                   { return os.Remove(name) }
