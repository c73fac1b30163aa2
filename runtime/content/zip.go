package content

import (
	"archive/zip"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
)

// encrypted is the flag bit of an encrypted file in a zip file.
const encrypted = 0x1

// zip walks a zip file.
func (w *walker) zip(prefix string, where place, in io.ReaderAt, size int64) error {
	source := &directoryReader{in: in, left: unpacking.directory}
	archive, err := zip.NewReader(source, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // Names are checked below.
		return where.damaged(err)
	}
	source.release()
	type entry struct {
		name string
		file *zip.File
	}
	var entries []entry
	total := int64(0)
	for _, file := range archive.File {
		given, isFolder := strings.CutSuffix(file.Name, "/")
		if isFolder && (given == "" || given == ".") {
			continue
		}
		name, err := cleanName(given)
		if err != nil {
			return where.failed(err)
		}
		name = prefix + name
		switch mode := file.Mode(); {
		case mode.IsDir():
			if err := w.names.addFolder(name); err != nil {
				return where.failed(err)
			}
			continue
		case !mode.IsRegular():
			return where.failed(entryFailed(name, notRegular(kindOf(mode)), nil))
		case file.Flags&encrypted != 0:
			return where.failed(entryFailed(name, "is encrypted", nil))
		case file.UncompressedSize64 > math.MaxInt64:
			return where.failed(entryFailed(name, "is damaged: its size is out of range", nil))
		}
		total += min(int64(file.UncompressedSize64), math.MaxInt64-total)
		if err := checkUnpacked(total, size); err != nil {
			return where.failed(err)
		}
		entries = append(entries, entry{name, file})
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	for _, e := range entries {
		if err := w.zipFile(where, e.name, e.file); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) zipFile(where place, name string, file *zip.File) error {
	content, err := file.Open()
	switch {
	case errors.Is(err, zip.ErrAlgorithm):
		return where.failed(entryFailed(name, "is compressed with a method other than deflate", err))
	case err != nil:
		return where.failed(entryFailed(name, damage(err), err))
	}
	defer func() { _ = content.Close() }() // read only
	return w.show(File{
		Name: name, Size: int64(file.UncompressedSize64), Executable: isExecutable(file.Mode()), Content: content,
	}, where.failed)
}
