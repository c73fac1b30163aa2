package sqlite

import "golang.org/x/sys/unix"

// network returns the type of the network file system that contains a folder, or "" for a local or unknown file system.
// FUSE and 9P are treated as local, since they include encrypted and sandboxed disks, not only sshfs and host folders.
func network(folder string) string {
	var s unix.Statfs_t
	if unix.Statfs(folder, &s) != nil {
		return ""
	}
	return networks[uint32(s.Type)] // Type is a sign-extended int32 on some architectures.
}

var networks = map[uint32]string{
	unix.NFS_SUPER_MAGIC:  "NFS",
	unix.SMB_SUPER_MAGIC:  "SMB",
	unix.SMB2_SUPER_MAGIC: "SMB",
	unix.CIFS_SUPER_MAGIC: "CIFS",
	unix.AFS_SUPER_MAGIC:  "AFS",
	unix.CEPH_SUPER_MAGIC: "Ceph",
}
