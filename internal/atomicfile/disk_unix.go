//go:build unix

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// withoutTricks makes open reject symbolic links and return immediately for pipes.
const withoutTricks = unix.O_NOFOLLOW | unix.O_NONBLOCK

// isLink reports whether err means that the file is a symbolic link.
func isLink(err error) bool { return errors.Is(err, unix.ELOOP) }

func (system) rename(from, to string) error { return os.Rename(from, to) }

func (system) syncDir(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	err = f.Sync()
	// Some file systems, mostly network file systems, cannot sync folders.
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return nil
	}
	return err
}

// owner returns the user and group of a file. It returns false if they are unknown.
func owner(info fs.FileInfo) (uid, gid int, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(stat.Uid), int(stat.Gid), true
}
