package file

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// disk is what this package asks of the system. It is an interface so that tests can fail, lose or cut short any of it.
type disk interface {
	open(name string, flag int, perm fs.FileMode) (handle, error)
	lstat(name string) (fs.FileInfo, error)
	readDir(name string) ([]fs.DirEntry, error)
	link(from, to string) error
	// rename replaces what is there.
	rename(from, to string) error
	remove(name string) error
	// syncDir waits until what was done to the names in a folder is on the disk.
	syncDir(name string) error
}

// handle is an open file.
type handle interface {
	io.Reader
	io.Writer
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Sync() error
	Stat() (fs.FileInfo, error)
	Chmod(mode fs.FileMode) error
	Chown(uid, gid int) error
	// lock keeps others from locking the file, until unlock, Close, or the end of the process. It does not wait. The
	// error is errHeld if somebody else has locked the file.
	lock() error
	unlock() error
}

var errHeld = errors.New("the file is locked")

// system is the disk of the operating system.
type system struct{}

type systemFile struct{ *os.File }

func (system) open(name string, flag int, perm fs.FileMode) (handle, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return systemFile{f}, nil
}

func (system) lstat(name string) (fs.FileInfo, error)     { return os.Lstat(name) }
func (system) readDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }
func (system) link(from, to string) error                 { return os.Link(from, to) }
func (system) remove(name string) error                   { return os.Remove(name) }
