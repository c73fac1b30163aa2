package sqlite

import "golang.org/x/sys/unix"

// network returns the kind of network file system of a folder, or "" for a local or unknown one. FUSE and 9P count as
// local: apart from sshfs and host folders, they include encrypted and sandboxed disks.
func network(folder string) string {
	var s unix.Statfs_t
	if unix.Statfs(folder, &s) != nil {
		return ""
	}
	return networks[uint32(s.Type)] // sign-extended int32 on some architectures
}

var networks = map[uint32]string{
	unix.NFS_SUPER_MAGIC:  "NFS",
	unix.SMB_SUPER_MAGIC:  "SMB",
	unix.SMB2_SUPER_MAGIC: "SMB",
	unix.CIFS_SUPER_MAGIC: "CIFS",
	unix.AFS_SUPER_MAGIC:  "AFS",
	unix.CEPH_SUPER_MAGIC: "Ceph",
}
