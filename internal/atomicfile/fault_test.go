package atomicfile

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// op is an operation on the file system.
type op struct {
	name string // the name, such as "rename"
	path string
	to   string // the target of link and rename
	data []byte // the data of write
	file *faultyFile
}

// changes reports whether the operation changes the disk.
func (o op) changes() bool {
	return !slices.Contains([]string{"look", "list", "read", "stat"}, o.name)
}

// writes reports whether the operation is part of writing a file rather than of reading one.
func (o op) writes() bool {
	return o.changes() && (o.name != "close" || strings.HasPrefix(filepath.Base(o.path), "."))
}

var random = regexp.MustCompile(`-[A-Z2-7]{26}\.`)

// String formats the operation for traces. It omits random parts of names.
func (o op) String() string {
	s := o.name + " " + filepath.Base(o.path)
	if o.to != "" {
		s += " to " + filepath.Base(o.to)
	}
	return random.ReplaceAllString(s, "-*.")
}

// faulty wraps the disk of the system. Before is called for each operation. If it returns an error, the operation fails
// with that error. Before also determines how much of a failing write is done.
type faulty struct {
	system
	before func(op) error
	after  func(op)
	// quick skips syncs. They do not matter if only the process is killed.
	quick bool
}

type faultyFile struct {
	handle
	disk *faulty
	name string
}

func (f *faulty) do(o op, do func() error) error {
	if f.before != nil {
		if err := f.before(o); err != nil {
			return &fs.PathError{Op: o.name, Path: o.path, Err: err}
		}
	}
	err := do()
	if err == nil && f.after != nil {
		f.after(o)
	}
	return err
}

func (f *faulty) open(name string, flag int, perm fs.FileMode) (handle, error) {
	o := op{name: "read", path: name}
	if flag&os.O_CREATE != 0 {
		o.name = "create"
	}
	file := &faultyFile{disk: f, name: name}
	o.file = file
	err := f.do(o, func() (err error) {
		file.handle, err = f.system.open(name, flag, perm)
		return err
	})
	if err != nil {
		return nil, err
	}
	return file, nil
}

func (f *faulty) lstat(name string) (info fs.FileInfo, err error) {
	err = f.do(op{name: "look", path: name}, func() (err error) {
		info, err = f.system.lstat(name)
		return err
	})
	return info, err
}

func (f *faulty) readDir(name string) (entries []fs.DirEntry, err error) {
	err = f.do(op{name: "list", path: name}, func() (err error) {
		entries, err = f.system.readDir(name)
		return err
	})
	return entries, err
}

func (f *faulty) link(from, to string) error {
	return f.do(op{name: "link", path: from, to: to}, func() error { return f.system.link(from, to) })
}

func (f *faulty) rename(from, to string) error {
	return f.do(op{name: "rename", path: from, to: to}, func() error { return f.system.rename(from, to) })
}

func (f *faulty) remove(name string) error {
	return f.do(op{name: "remove", path: name}, func() error { return f.system.remove(name) })
}

func (f *faulty) syncDir(name string) error {
	return f.do(op{name: "sync folder", path: name}, func() error {
		if f.quick {
			return nil
		}
		return f.system.syncDir(name)
	})
}

func (f *faultyFile) do(name string, data []byte, do func() error) error {
	return f.disk.do(op{name: name, path: f.name, data: data, file: f}, do)
}

func (f *faultyFile) Write(data []byte) (n int, err error) {
	err = f.do("write", data, func() (err error) {
		n, err = f.handle.Write(data)
		return err
	})
	return n, err
}

func (f *faultyFile) Read(data []byte) (n int, err error) {
	if err := f.do("read", nil, func() error { return nil }); err != nil {
		return 0, err
	}
	return f.handle.Read(data)
}

func (f *faultyFile) Stat() (info fs.FileInfo, err error) {
	err = f.do("stat", nil, func() (err error) {
		info, err = f.handle.Stat()
		return err
	})
	return info, err
}

// Close closes the file even if the operation fails, as the system does.
func (f *faultyFile) Close() error {
	err := f.do("close", nil, func() error { return nil })
	if closeErr := f.handle.Close(); err == nil {
		err = closeErr
	}
	return err
}

func (f *faultyFile) Sync() error {
	return f.do("sync", nil, func() error {
		if f.disk.quick {
			return nil
		}
		return f.handle.Sync()
	})
}
func (f *faultyFile) Chmod(mode fs.FileMode) error {
	return f.do("chmod", nil, func() error { return f.handle.Chmod(mode) })
}
func (f *faultyFile) Chown(uid, gid int) error {
	return f.do("chown", nil, func() error { return f.handle.Chown(uid, gid) })
}

// part writes half of the data without faults.
func (o op) part() {
	if _, err := o.file.handle.Write(bytes.Clone(o.data[:len(o.data)/2])); err != nil {
		panic(fmt.Sprintf("cannot write a part of %s: %v", o.path, err))
	}
}

// trace returns a disk that appends each modifying operation to into.
func trace(into *[]string) *faulty {
	return &faulty{after: func(o op) {
		if o.writes() {
			*into = append(*into, o.String())
		}
	}}
}
