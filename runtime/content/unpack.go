package content

import (
	"fmt"
	"io"
	"math"
)

// unpackLimits are limits against zip bombs. An archive file is rejected if it exceeds both size and ratio, or if it
// exceeds directory.
type unpackLimits struct {
	size  int64 // unpacked bytes
	ratio int64 // of unpacked to packed size
	// directory limits the size of a zip file's central directory, which takes several times as much memory.
	directory int64
}

var unpacking = unpackLimits{size: 1 << 30, ratio: 100, directory: 64 << 20}

// checkUnpacked returns an error if out unpacked bytes from in packed bytes exceed the limits on size and ratio.
func checkUnpacked(out, in int64) error {
	if out <= unpacking.size || out/unpacking.ratio < in {
		return nil
	}
	return &readError{message: fmt.Sprintf("unpacks to more than %s and %d times its size, the limit for archive files;"+
		" unpack it and use the folder instead", bytesText(unpacking.size), unpacking.ratio)}
}

// counted is a reader that counts the bytes read.
type counted struct {
	from io.Reader
	n    int64
}

func (c *counted) Read(data []byte) (int, error) {
	n, err := c.from.Read(data)
	c.n += int64(n)
	return n, err
}

// unpacked is a reader of unpacked content that enforces the limits.
type unpacked struct {
	counted
	packed *counted
}

func (u *unpacked) Read(data []byte) (int, error) {
	n, err := u.counted.Read(data)
	if problem := checkUnpacked(u.n, u.packed.n); problem != nil {
		return 0, problem
	}
	return n, err
}

// directoryReader limits the number of bytes read, until release is called.
type directoryReader struct {
	in   io.ReaderAt
	left int64
}

func (d *directoryReader) ReadAt(data []byte, at int64) (int, error) {
	if int64(len(data)) > d.left {
		return 0, &readError{message: "contains too many files: its directory is larger than " + bytesText(unpacking.directory)}
	}
	n, err := d.in.ReadAt(data, at)
	d.left -= int64(n)
	return n, err
}

func (d *directoryReader) release() { d.left = math.MaxInt64 }
