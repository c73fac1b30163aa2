package content

import (
	"archive/tar"
	"errors"
	"io"
	"strings"
)

// tar walks through a tar file, of which packed counts what was read before it was decompressed.
func (w *walker) tar(prefix string, where place, in io.Reader, packed *counted) error {
	source := &tarSource{in: &unpacked{counted{from: in}, packed}}
	archive := tar.NewReader(source)
	content := &unpacked{counted{from: archive}, packed} // larger than the tar file where files are sparse
	for {
		header, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			return w.tarEnd(where, source)
		case err != nil && !errors.Is(err, tar.ErrInsecurePath): // Names are looked at below.
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
		return nil // It is no entry, but what git says about all of them.
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

// tarEnd sees that a tar file is there to its end.
func (w *walker) tarEnd(where place, source *tarSource) error {
	if source.ended {
		return where.damaged(io.ErrUnexpectedEOF)
	}
	// Whatever follows is read too, since a checksum stands at the end of what is compressed.
	if _, err := io.Copy(io.Discard, source); err != nil {
		return where.damaged(err)
	}
	return nil
}

// tarSource notes whether there was nothing left to read. Two empty blocks stand at the end of a tar file, so that its
// reader needs to read no further unless they were cut off.
type tarSource struct {
	in    io.Reader
	ended bool
}

func (s *tarSource) Read(data []byte) (int, error) {
	n, err := s.in.Read(data)
	s.ended = s.ended || n == 0 && errors.Is(err, io.EOF)
	return n, err
}
