//go:build !linux

package atomicfile

import (
	"errors"
	"syscall"
)

const smallDisk = 128 << 10

func mountSmall(string) error   { return errors.ErrUnsupported }
func remountSmall(string) error { return errors.ErrUnsupported }

func refuseSync(syscall.Errno) error { return errors.ErrUnsupported }
