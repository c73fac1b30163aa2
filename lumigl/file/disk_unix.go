//go:build unix

package file

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// withoutTricks are flags for opening a file that must be a regular one: a link is not followed, and a pipe does not
// make us wait.
const withoutTricks = unix.O_NOFOLLOW | unix.O_NONBLOCK

// isLink reports whether a file could not be opened since it is a link.
func isLink(err error) bool { return errors.Is(err, unix.ELOOP) }

// tooLong reports whether a name is too long for the file system.
func tooLong(err error) bool { return errors.Is(err, unix.ENAMETOOLONG) }

func (f systemFile) lock() error {
	err := f.flock(unix.LOCK_EX | unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errHeld
	}
	return err
}

// unlock does not leave it to Close, since a process that was just started may still share the open file.
func (f systemFile) unlock() error { return f.flock(unix.LOCK_UN) }

func (f systemFile) flock(how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func (system) rename(from, to string) error { return os.Rename(from, to) }

func (system) syncDir(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	err = f.Sync()
	// Some file systems, most of them on a network, have no such thing for folders.
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return nil
	}
	return err
}

// owner returns who owns a file.
func owner(info fs.FileInfo) (uid, gid int, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(stat.Uid), int(stat.Gid), true
}

// alive reports whether there is a process with an id. It may be another's.
func alive(pid int) bool {
	err := unix.Kill(pid, 0)
	return err == nil || errors.Is(err, unix.EPERM)
}
