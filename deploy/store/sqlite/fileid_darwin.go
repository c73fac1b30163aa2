package sqlite

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// fileID identifies a file on its file system by its number and its time of birth.
func fileID(path string) string {
	var stat unix.Stat_t
	if err := unix.Stat(path, &stat); err != nil {
		return unidentified
	}
	return fmt.Sprintf("%d/%d.%09d", stat.Ino, stat.Btim.Sec, stat.Btim.Nsec)
}
