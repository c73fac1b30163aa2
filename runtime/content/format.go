package content

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
)

type format uint8

const (
	unknownFormat format = iota
	zipFormat
	gzipFormat
	tarFormat
	zeroFormat // may be an empty tar file
)

const (
	// tarBlock is the block size of a tar file. One block is enough to detect the format of an archive file.
	tarBlock = 512
	// tarRecord is the size that tar pads its output to a multiple of. An empty tar file consists of zeros and is two
	// blocks to one record long.
	tarRecord = 20 * tarBlock
)

// formatOf detects the format of an archive file from its first block. The file's name is ignored.
func formatOf(head []byte) format {
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return zipFormat
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return gzipFormat
	case len(head) > 0 && isZero(head):
		return zeroFormat
	case isTar(head):
		return tarFormat
	}
	return unknownFormat
}

func isZero(data []byte) bool { return bytes.Count(data, []byte{0}) == len(data) }

// isTar reports whether head starts with a tar header. It verifies the header's checksum, since the oldest tar files have
// no magic number.
func isTar(head []byte) bool {
	const from, to = 148, 156 // The checksum is computed as if this range, its own field, contained spaces.
	if len(head) < tarBlock {
		return false
	}
	unsigned, signed := 0, 0
	for i, b := range head {
		if i >= from && i < to {
			b = ' '
		}
		unsigned, signed = unsigned+int(b), signed+int(int8(b))
	}
	sum, err := strconv.ParseInt(strings.Trim(string(head[from:to]), " \x00"), 8, 32)
	return err == nil && (int(sum) == unsigned || int(sum) == signed)
}

// isEmptyTar reports whether a file consists of zeros and has the size of an empty tar file. Disk images and preallocated
// files also start with zeros, but are larger.
func isEmptyTar(in io.Reader) (bool, error) {
	data, err := io.ReadAll(io.LimitReader(in, tarRecord+1))
	return len(data) >= 2*tarBlock && len(data) <= tarRecord && len(data)%tarBlock == 0 && isZero(data), err
}

// unexpected returns an error for content in the wrong format. The error does not quote the content.
func unexpected(want string, head []byte) error {
	return errors.New("expected " + want + ", found " + describe(head))
}

// otherFormats lists formats that users may mistake for supported ones, and that net/http does not detect.
var otherFormats = []struct{ magic, name string }{
	{"BZh", "a bzip2 file"},
	{"\xfd7zXZ\x00", "an xz file"},
	{"\x28\xb5\x2f\xfd", "a zstd file"},
	{"7z\xbc\xaf\x27\x1c", "a 7-Zip file"},
}

// describe returns the format of a file for messages, given the file's first block.
func describe(head []byte) string {
	switch formatOf(head) {
	case zipFormat:
		return "a zip file"
	case gzipFormat:
		return "a gzip file"
	case zeroFormat:
		return "a file that starts with zeros (an empty .tar file is 1024 to 10240 zeros)"
	}
	if len(head) == 0 {
		return "an empty file"
	}
	for _, other := range otherFormats {
		if bytes.HasPrefix(head, []byte(other.magic)) {
			return other.name
		}
	}
	mediaType, _, _ := strings.Cut(http.DetectContentType(head), ";")
	if mediaType == "application/octet-stream" {
		return "data of an unknown format"
	}
	return mediaType + " data"
}
