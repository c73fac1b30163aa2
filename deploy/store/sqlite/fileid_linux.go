package sqlite

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// fileID identifies a file on its file system by its number and, where the file system records it, its time of birth, since
// numbers are reused. The device is not part of it: its number may change with a reboot. fileID returns unidentified on errors.
func fileID(path string) string {
	var stat unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_INO|unix.STATX_BTIME, &stat); err != nil {
		return unidentified
	}
	return fmt.Sprintf("%d/%d.%09d", stat.Ino, stat.Btime.Sec, stat.Btime.Nsec)
}
