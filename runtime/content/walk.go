package content

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// File is a file in an archive.
type File struct {
	// Name is the path of the file in the archive: elements joined by slashes, none of them empty, ".", or "..". It is
	// unique among the files and folders of the archive.
	Name string
	// Size is the length of the content, or -1 if unknown before reading. If the content has another length, reading
	// it fails.
	Size int64
	// Executable is set if the file's owner may execute it.
	Executable bool
	// Content is valid until the visit function returns.
	Content io.Reader
}

// Walk calls visit for each file in an archive, sorted by name, except that files in a tar file are visited in stored
// order. It does not visit folders. If visit returns an error, Walk stops and returns that error. Other errors contain the
// path or URI of the archive and, if applicable, the name of the file in it.
func Walk(ctx context.Context, a lumi.Archive, visit func(File) error) error {
	return (&walker{ctx: ctx, visit: visit}).archive("", a)
}

type walker struct {
	ctx   context.Context
	visit func(File) error
	names names
}

// archive walks an archive, adding prefix to the names of its files. prefix is empty or ends in a slash.
func (w *walker) archive(prefix string, a lumi.Archive) error {
	if assets, ok := a.Assets(); ok {
		return w.assets(prefix, assets)
	}
	where, err := placeOf(a)
	switch {
	case err != nil:
		return err
	case where.isRemote():
		return w.remote(prefix, where)
	}
	info, err := os.Stat(where.path)
	if err != nil {
		return where.failed(err)
	}
	if info.IsDir() {
		return w.folder(prefix, where)
	}
	return w.file(prefix, where)
}

// assets walks the members of an archive of assets.
func (w *walker) assets(prefix string, assets map[string]lumi.Content) error {
	parts, err := sortParts(assets)
	if err != nil {
		return err
	}
	for _, part := range parts {
		switch c := part.content.(type) {
		case lumi.Asset:
			err = w.asset(prefix+part.name, c)
		case lumi.Archive:
			err = w.archive(prefix+part.name+"/", c)
		default:
			err = errAbsent
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// part is a member of an archive of assets.
type part struct {
	name    string // normalized
	content lumi.Content
}

// sortParts returns the members of an archive of assets in an order that visits files sorted by name. It returns an error
// if a name is invalid.
func sortParts(assets map[string]lumi.Content) ([]part, error) {
	parts := make([]part, 0, len(assets))
	for _, key := range slices.Sorted(maps.Keys(assets)) {
		name, err := cleanName(key)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part{name, assets[key]})
	}
	slices.SortStableFunc(parts, func(a, b part) int { return strings.Compare(a.sortKey(), b.sortKey()) })
	return parts, nil
}

func (p part) sortKey() string {
	if _, ok := p.content.(lumi.Archive); ok {
		return p.name + "/"
	}
	return p.name
}

func (w *walker) asset(name string, a lumi.Asset) error {
	s, err := open(w.ctx, a)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }() // read only
	return w.show(File{Name: name, Size: s.size, Executable: s.executable, Content: s}, func(err error) error { return err })
}

// show calls visit with a file. failed converts errors in reading its content.
func (w *walker) show(f File, failed func(error) error) error {
	if err := w.names.addFile(f.Name); err != nil {
		return failed(err)
	}
	f.Content = &fileReader{ctx: w.ctx, file: f, left: f.Size, failed: failed}
	return w.visit(f)
}

// fileReader reads the content of a file. It fails once the context is done, or if the content's length is not file.Size.
type fileReader struct {
	ctx    context.Context
	file   File
	left   int64
	failed func(error) error
}

func (r *fileReader) Read(data []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, r.failed(err)
	}
	n, err := r.file.Content.Read(data)
	r.left -= int64(n)
	switch {
	case r.file.Size >= 0 && r.left < 0:
		return 0, r.failed(entryFailed(r.file.Name, "is longer than its recorded size", nil))
	case errors.Is(err, io.EOF) && r.file.Size >= 0 && r.left > 0:
		return n, r.failed(entryFailed(r.file.Name, "is shorter than its recorded size", io.ErrUnexpectedEOF))
	case err == nil || errors.Is(err, io.EOF):
		return n, err
	}
	var about *readError
	if !errors.As(err, &about) {
		err = entryFailed(r.file.Name, damage(err), err)
	}
	return n, r.failed(err)
}

// damage returns a message for an error in reading an archive.
func damage(err error) string {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return "is cut off"
	}
	return "is damaged: " + err.Error()
}

// damaged returns an error for an archive at the place that cannot be read because of err.
func (p place) damaged(err error) error {
	var about *readError
	if errors.As(err, &about) {
		return p.failed(err)
	}
	return p.failed(&readError{message: damage(err), err: err})
}

// file walks an archive file.
func (w *walker) file(prefix string, where place) error {
	file, info, err := openRegular(where)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // read only
	head := make([]byte, tarBlock)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return where.failed(err)
	}
	if formatOf(head[:n]) == zipFormat {
		return w.zip(prefix, where, file, info.Size())
	}
	packed := &counted{from: &reader{ctx: w.ctx, from: file, where: where}}
	return w.stream(prefix, where, bufio.NewReader(packed), packed)
}

// remote walks a remote archive file.
func (w *walker) remote(prefix string, where place) error {
	s, err := fetch(w.ctx, where)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }() // read only
	packed := &counted{from: s}
	in := bufio.NewReader(packed)
	head, err := in.Peek(tarBlock)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if formatOf(head) != zipFormat {
		return w.stream(prefix, where, in, packed)
	}
	return spooled(func(file *os.File) error {
		size, err := io.Copy(file, in)
		if err != nil {
			return where.failed(err)
		}
		return w.zip(prefix, where, file, size)
	})
}

// spooled calls use with a temporary file, which it removes afterward. It returns use's error.
func spooled(use func(*os.File) error) (err error) {
	file, err := os.CreateTemp("", "lumi-content-*")
	if err != nil {
		return fmt.Errorf("cannot create a temporary file: %w", err)
	}
	defer func() {
		err = errors.Join(err, file.Close(), os.Remove(file.Name()))
	}()
	return use(file)
}

// stream walks an archive file that can be read sequentially. packed counts the bytes read from the file.
func (w *walker) stream(prefix string, where place, in *bufio.Reader, packed *counted) error {
	head, err := in.Peek(tarBlock)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	want := "a folder or a .zip, .tar or .tar.gz file"
	if formatOf(head) == gzipFormat {
		plain, err := gzip.NewReader(in)
		if err != nil {
			return where.damaged(err)
		}
		in = bufio.NewReader(plain)
		if head, err = in.Peek(tarBlock); err != nil && !errors.Is(err, io.EOF) {
			return where.damaged(err)
		}
		want = "a gzipped .tar file"
	}
	wrong := unexpected(want, head) // before reading overwrites head
	switch formatOf(head) {
	case tarFormat:
		return w.tar(prefix, where, in, packed)
	case zeroFormat:
		empty, err := isEmptyTar(in)
		if err != nil {
			return where.damaged(err)
		}
		if empty {
			return nil
		}
	}
	return where.failed(wrong)
}
