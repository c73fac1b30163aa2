package content

import (
	"archive/zip"
	"compress/flate"
	"context"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"strings"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// WriteZip writes a zip file of an archive, with the files in the order of their names and without times or owners. It
// has the same bytes whenever the hash of the archive is the same, as long as the program is built with the same
// version of Go. A temporary file holds what is compressed until all of it is.
func WriteZip(ctx context.Context, out io.Writer, a lumi.Archive) error {
	return spooled(func(spool *os.File) error {
		files, err := deflate(ctx, spool, a)
		if err != nil {
			return err
		}
		slices.SortFunc(files, func(a, b compressed) int { return strings.Compare(a.header.Name, b.header.Name) })
		archive := zip.NewWriter(out)
		for _, f := range files {
			entry, err := archive.CreateRaw(f.header)
			if err != nil {
				return err
			}
			from := io.NewSectionReader(spool, f.at, int64(f.header.CompressedSize64))
			if _, err := io.Copy(entry, from); err != nil {
				return err
			}
		}
		return archive.Close()
	})
}

// compressed is a file whose compressed content stands somewhere in another.
type compressed struct {
	header *zip.FileHeader
	at     int64
}

// deflate compresses all files of an archive, one behind another.
func deflate(ctx context.Context, spool *os.File, a lumi.Archive) ([]compressed, error) {
	var files []compressed
	at := int64(0)
	compressor, err := flate.NewWriter(spool, flate.DefaultCompression)
	if err != nil {
		return nil, err
	}
	err = Walk(ctx, a, func(f File) error {
		compressor.Reset(spool)
		sum := crc32.NewIEEE()
		size, err := io.Copy(io.MultiWriter(compressor, sum), f.Content)
		if err != nil {
			return err
		}
		if err := compressor.Close(); err != nil {
			return err
		}
		end, err := spool.Seek(0, io.SeekCurrent)
		if err != nil {
			return err
		}
		header := zipHeader(f)
		header.CRC32 = sum.Sum32()
		header.UncompressedSize64, header.CompressedSize64 = uint64(size), uint64(end-at)
		files = append(files, compressed{header, at})
		at = end
		return nil
	})
	return files, err
}

// zipHeader says about a file what does not change with when and where it is.
func zipHeader(f File) *zip.FileHeader {
	const (
		utf8Name = 0x800
		newYear  = 1<<5 | 1 // of 1980, the first day that there is in a zip file
	)
	header := &zip.FileHeader{Name: f.Name, Method: zip.Deflate, Flags: utf8Name, ReaderVersion: 20}
	header.ModifiedDate = newYear //nolint:staticcheck // CreateRaw writes this field, and not the one that came after it.
	if f.Executable {
		header.SetMode(0o755)
	} else {
		header.SetMode(0o644)
	}
	return header
}
