package atomicfile

import (
	"errors"
	"io/fs"
	"time"

	"golang.org/x/sys/windows"
)

const withoutTricks = 0

func isLink(error) bool { return false }

// rename retries as long as another process, such as a virus scanner, has the old file open.
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

// syncDir does nothing, since rename is already durable on Windows.
func (system) syncDir(string) error { return nil }

func owner(fs.FileInfo) (uid, gid int, ok bool) { return 0, 0, false }
