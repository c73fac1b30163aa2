//go:build unix

package atomicfile

import "syscall"

// become switches the process to the given user, dropping all privileges.
func become(user int) error {
	if err := syscall.Setgroups(nil); err != nil {
		return err
	}
	if err := syscall.Setgid(user); err != nil {
		return err
	}
	return syscall.Setuid(user)
}
