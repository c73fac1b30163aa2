package atomicfile

import "syscall"

// smallDisk is the size of a disk that has room for one version of the file but not for two.
const smallDisk = 128 << 10

func mountSmall(dir string) error {
	return syscall.Mount("none", dir, "tmpfs", 0, "size=128k,mode=700")
}

func remountSmall(dir string) error {
	return syscall.Mount("none", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
}
