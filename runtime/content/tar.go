package content

import (
	"archive/tar"
	"errors"
	"io"
	"strings"
)

// tar walks a tar file. packed counts the compressed bytes read.
func (w *walker) tar(prefix string, where place, in io.Reader, packed *counted) error {
	source := &tarSource{in: &unpacked{counted{from: in}, packed}}
	archive := tar.NewReader(source)
	content := &unpacked{counted{from: archive}, packed} // Sparse files may be larger than the tar file.
	for {
		header, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			return w.tarEnd(where, source)
		case err != nil && !errors.Is(err, tar.ErrInsecurePath): // Names are checked below.
			return where.damaged(err)
		case w.ctx.Err() != nil:
			return where.failed(w.ctx.Err())
		}
		if err := w.tarEntry(prefix, where, header, content); err != nil {
			return err
		}
	}
}

func (w *walker) tarEntry(prefix string, where place, header *tar.Header, content io.Reader) error {
	if header.Typeflag == tar.TypeXGlobalHeader {
		return nil // a git header about all entries, not an entry
	}
	given, isFolder := strings.CutSuffix(header.Name, "/")
	if isFolder && (given == "" || given == ".") || header.Typeflag == tar.TypeDir && given == "." {
		return nil
	}
	name, err := cleanName(given)
	if err != nil {
		return where.failed(err)
	}
	name = prefix + name
	switch header.Typeflag {
	case tar.TypeReg, tar.TypeGNUSparse:
		return w.show(File{
			Name: name, Size: header.Size, Executable: isExecutable(header.FileInfo().Mode()), Content: content,
		}, where.failed)
	case tar.TypeDir:
		if err := w.names.addFolder(name); err != nil {
			return where.failed(err)
		}
		return nil
	case tar.TypeLink:
		return where.failed(entryFailed(name, notRegular("a hard link"), nil))
	}
	return where.failed(entryFailed(name, notRegular(kindOf(header.FileInfo().Mode())), nil))
}

// tarEnd returns an error if a tar file is truncated or its compressed data is damaged.
func (w *walker) tarEnd(where place, source *tarSource) error {
	if source.ended {
		return where.damaged(io.ErrUnexpectedEOF)
	}
	// Read to the end to verify the checksum of compressed data.
	if _, err := io.Copy(io.Discard, source); err != nil {
		return where.damaged(err)
	}
	return nil
}

// tarSource is a reader that records whether its end was reached. Since a tar file ends in two empty blocks, a tar.Reader
// reads up to the end only if the file is truncated.
type tarSource struct {
	in    io.Reader
	ended bool
}

func (s *tarSource) Read(data []byte) (int, error) {
	n, err := s.in.Read(data)
	s.ended = s.ended || n == 0 && errors.Is(err, io.EOF)
	return n, err
}
