package sqlite

import "golang.org/x/sys/unix"

// network returns the kind of network file system that a folder is on, or "" if it is on none that can be told. FUSE and
// 9P have both: sshfs and host folders, but also encrypted and sandboxed disks.
func network(folder string) string {
	var s unix.Statfs_t
	if unix.Statfs(folder, &s) != nil {
		return ""
	}
	return networks[uint32(s.Type)] // a sign-extended int32 on some architectures
}

var networks = map[uint32]string{
	unix.NFS_SUPER_MAGIC:  "NFS",
	unix.SMB_SUPER_MAGIC:  "SMB",
	unix.SMB2_SUPER_MAGIC: "SMB",
	unix.CIFS_SUPER_MAGIC: "CIFS",
	unix.AFS_SUPER_MAGIC:  "AFS",
	unix.CEPH_SUPER_MAGIC: "Ceph",
}
