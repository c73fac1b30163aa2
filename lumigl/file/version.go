package file

import "fmt"

// Version tells apart what a file holds at different times. The zero Version is that of a file that is not there.
type Version struct {
	// Lineage and Serial are those of the snapshot.
	Lineage string
	Serial  uint64
	// Digest is the SHA-256 of the text, in hexadecimal. It tells that a file was edited by something that keeps no
	// serials.
	Digest string
}

// Exists reports whether there is a file.
func (v Version) Exists() bool { return v.Digest != "" }

// String says which version it is, without the digest.
func (v Version) String() string {
	switch {
	case !v.Exists():
		return "no file"
	case v.Lineage == "":
		return fmt.Sprintf("serial %d without a lineage", v.Serial)
	}
	return fmt.Sprintf("serial %d of lineage %s", v.Serial, printable(v.Lineage))
}
