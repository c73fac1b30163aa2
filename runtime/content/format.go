package content

import (
	"bytes"
	"strconv"
	"strings"
)

type format uint8

const (
	unknownFormat format = iota
	zipFormat
	gzipFormat
	tarFormat
)

// headSize is how many bytes tell the format of an archive file.
const headSize = 512

// formatOf tells the format of an archive file by its first bytes. Its name does not matter.
func formatOf(head []byte) format {
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return zipFormat
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return gzipFormat
	case isTar(head):
		return tarFormat
	}
	return unknownFormat
}

// isTar asks the checksum, since the oldest tar files have nothing else to tell them by. A tar file of nothing starts
// with zeros.
func isTar(head []byte) bool {
	const from, to = 148, 156 // where the checksum stands, which counts as spaces
	if len(head) < headSize {
		return false
	}
	unsigned, signed := 0, 0
	for i, b := range head {
		if i >= from && i < to {
			b = ' '
		}
		unsigned, signed = unsigned+int(b), signed+int(int8(b))
	}
	if unsigned == (to-from)*' ' && bytes.Count(head, []byte{0}) == headSize {
		return true
	}
	sum, err := strconv.ParseInt(strings.Trim(string(head[from:to]), " \x00"), 8, 32)
	return err == nil && (int(sum) == unsigned || int(sum) == signed)
}
