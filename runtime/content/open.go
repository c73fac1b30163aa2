package content

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// Open opens the content of an asset. The context also applies to reading. Errors contain the path or URI, and wrap
// [fs.ErrNotExist] if the file does not exist.
func Open(ctx context.Context, a lumi.Asset) (io.ReadCloser, error) {
	s, err := open(ctx, a)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// stream is a reader of the content of one file.
type stream struct {
	io.ReadCloser
	// size is the length of the content, or -1 if unknown before reading.
	size       int64
	executable bool
}

func open(ctx context.Context, a lumi.Asset) (*stream, error) {
	if text, ok := a.Text(); ok {
		return &stream{ReadCloser: io.NopCloser(strings.NewReader(text)), size: int64(len(text))}, nil
	}
	where, err := placeOf(a)
	switch {
	case err != nil:
		return nil, err
	case where.isRemote():
		return fetch(ctx, where)
	}
	file, info, err := openRegular(where)
	if err != nil {
		return nil, err
	}
	return &stream{
		ReadCloser: &reader{ctx: ctx, from: file, where: where}, size: info.Size(), executable: isExecutable(info.Mode()),
	}, nil
}

// openForReading is the flags for opening a file. O_NONBLOCK avoids blocking on a named pipe that has replaced the file.
const openForReading = os.O_RDONLY | syscall.O_NONBLOCK

// openRegular opens a file. It returns an error if the file is not regular.
func openRegular(where place) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(where.path) // Check before opening, since opening some devices has side effects.
	if err != nil {
		return nil, nil, where.failed(err)
	}
	if err := regular(info.Mode()); err != nil {
		return nil, nil, where.failed(err)
	}
	file, err := os.OpenFile(where.path, openForReading, 0)
	if err != nil {
		return nil, nil, where.failed(err)
	}
	if info, err = file.Stat(); err == nil {
		err = regular(info.Mode())
	}
	if err != nil {
		_ = file.Close() // read only
		return nil, nil, where.failed(err)
	}
	return file, info, nil
}

// isExecutable reports whether the file's owner may execute it, which is also git's rule.
func isExecutable(mode fs.FileMode) bool { return mode&0o100 != 0 }

// regular returns an error unless mode describes a regular file.
func regular(mode fs.FileMode) error {
	switch {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return errors.New("is a folder, not a file")
	}
	return errors.New("is " + kindOf(mode) + ", not a regular file")
}

// kindOf returns the kind of a file that is neither a regular file nor a folder.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}

// reader is a reader that fails once the context is done, and whose errors contain the place.
type reader struct {
	ctx   context.Context
	from  io.ReadCloser
	where place
}

func (r *reader) Read(data []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, r.where.failed(err)
	}
	n, err := r.from.Read(data)
	if err != nil && !errors.Is(err, io.EOF) {
		err = r.where.failed(err)
	}
	return n, err
}

func (r *reader) Close() error { return r.from.Close() }
