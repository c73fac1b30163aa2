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

// WriteZip writes an archive as a zip file, with files sorted by name and without times or owners. For a given version of
// Go, its output depends only on the archive's hash. Compressed content is buffered in a temporary file.
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

// compressed is a file whose compressed content starts at offset at of the spool file.
type compressed struct {
	header *zip.FileHeader
	at     int64
}

// deflate writes the compressed content of all files in an archive to spool, and returns the files sorted by name.
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

// zipHeader returns a header for f, without times and owners.
func zipHeader(f File) *zip.FileHeader {
	const (
		utf8Name = 0x800
		newYear  = 1<<5 | 1 // January 1, 1980, the earliest date in a zip file
	)
	header := &zip.FileHeader{Name: f.Name, Method: zip.Deflate, Flags: utf8Name, ReaderVersion: 20}
	header.ModifiedDate = newYear //nolint:staticcheck // CreateRaw writes this deprecated field, not Modified.
	if f.Executable {
		header.SetMode(0o755)
	} else {
		header.SetMode(0o644)
	}
	return header
}
