package file

import (
	"errors"
	"io/fs"
	"time"

	"golang.org/x/sys/windows"
)

const withoutTricks = 0

func isLink(error) bool { return false }

// tooLong reports whether a name is too long for the file system. Most of those say only that it is no name.
func tooLong(err error) bool {
	return errors.Is(err, windows.ERROR_INVALID_NAME) || errors.Is(err, windows.ERROR_FILENAME_EXCED_RANGE)
}

// place is the byte that stands for the whole file. Windows keeps others from reading what is locked, and they are to
// read who has locked it, so it lies far behind the end.
func place() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1 << 30} }

func (f systemFile) lock() error {
	const how = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, place())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errHeld
	}
	return err
}

func (f systemFile) unlock() error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, place())
}

// rename waits for those who read the file that is replaced, a virus scanner say, since they are in the way.
func (system) rename(from, to string) error {
	source, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return err
	}
	target, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return err
	}
	const attempts = 20
	for i := range attempts {
		err = windows.MoveFileEx(source, target, windows.MOVEFILE_REPLACE_EXISTING|windows.MOVEFILE_WRITE_THROUGH)
		if !errors.Is(err, windows.ERROR_SHARING_VIOLATION) && !errors.Is(err, windows.ERROR_ACCESS_DENIED) {
			return err
		}
		time.Sleep(time.Duration(i) * time.Millisecond)
	}
	return err
}

// syncDir has nothing to do, since rename returns when the disk has it.
func (system) syncDir(string) error { return nil }

func owner(fs.FileInfo) (uid, gid int, ok bool) { return 0, 0, false }

func alive(pid int) bool {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return errors.Is(err, windows.ERROR_ACCESS_DENIED)
	}
	defer func() { _ = windows.CloseHandle(process) }()
	var code uint32
	const stillActive = 259
	return windows.GetExitCodeProcess(process, &code) == nil && code == stillActive
}
