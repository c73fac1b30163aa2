package content

import (
	"fmt"
	"io"
	"math"
)

// unpackLimits tell a bomb, which is small and unpacks to very much, from an archive file. One that exceeds both is not
// read further.
type unpackLimits struct {
	size  int64 // bytes that come out
	ratio int64 // how many times what went in
	// directory is how large the list of files in a zip file may be. Reading it takes several times as much memory.
	directory int64
}

var unpacking = unpackLimits{size: 1 << 30, ratio: 100, directory: 64 << 20}

// checkUnpacked reports an error where the bytes that came out of an archive file are too many for those that went in.
func checkUnpacked(out, in int64) error {
	if out <= unpacking.size || out/unpacking.ratio < in {
		return nil
	}
	return &readError{message: fmt.Sprintf("unpacks to more than %s and %d times its size, the limit for archive files;"+
		" unpack it and use the folder instead", bytesText(unpacking.size), unpacking.ratio)}
}

// counted counts what is read.
type counted struct {
	from io.Reader
	n    int64
}

func (c *counted) Read(data []byte) (int, error) {
	n, err := c.from.Read(data)
	c.n += int64(n)
	return n, err
}

// unpacked is what comes out of an archive file, until that is too much for what was read of the file.
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

// directoryReader limits how much is read of a file until it is released.
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
