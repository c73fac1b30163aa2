package file

import (
	"io/fs"
	"os"
	"path/filepath"
)

// anchored is a disk on which a relative name stays that of one file, even if the process moves to another folder.
type anchored struct {
	disk
	dir  string
	info fs.FileInfo // what dir is
}

// anchor makes relative names start from the folder where the process is now.
func anchor(d disk) disk {
	dir, err := os.Getwd()
	if err != nil {
		return d // They start from where the process is then.
	}
	info, err := os.Stat(".")
	if err != nil {
		return d
	}
	return anchored{disk: d, dir: dir, info: info}
}

// at returns the name by which a file can be found. It stays relative for as long as that is the same, since a folder
// may get another name, and may lie in one that this process cannot see.
func (a anchored) at(name string) string {
	if now, err := os.Stat("."); err != nil || os.SameFile(now, a.info) {
		return name
	}
	return filepath.Join(a.dir, name)
}

func (a anchored) open(name string, flag int, perm fs.FileMode) (handle, error) {
	return a.disk.open(a.at(name), flag, perm)
}

func (a anchored) lstat(name string) (fs.FileInfo, error)     { return a.disk.lstat(a.at(name)) }
func (a anchored) readDir(name string) ([]fs.DirEntry, error) { return a.disk.readDir(a.at(name)) }
func (a anchored) link(from, to string) error                 { return a.disk.link(a.at(from), a.at(to)) }
func (a anchored) rename(from, to string) error               { return a.disk.rename(a.at(from), a.at(to)) }
func (a anchored) remove(name string) error                   { return a.disk.remove(a.at(name)) }
func (a anchored) syncDir(name string) error                  { return a.disk.syncDir(a.at(name)) }
