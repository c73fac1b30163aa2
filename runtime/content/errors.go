package content

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/runtime/internal/readable"
)

// readError says what is wrong with some content, and where that is. Its message alone tells no names, since they may
// be secret.
type readError struct {
	// where and entry are quoted, or "" where they are not known: the file or address, and the file in that archive.
	where, entry string
	message      string
	err          error
}

func (e *readError) Error() string {
	var b strings.Builder
	for _, part := range []string{e.where, e.entry} {
		if part != "" {
			b.WriteString(part + ": ")
		}
	}
	return b.String() + e.message
}

func (e *readError) Unwrap() error { return e.err }

// failed says what went wrong at the place.
func (p place) failed(err error) error {
	var about *readError
	if errors.As(err, &about) {
		if about.where == "" {
			about.where = p.String()
		}
		return err
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err // whose operation and path say nothing more
	}
	message := err.Error()
	if errors.Is(err, fs.ErrNotExist) {
		message = "no such file"
		if cwd, problem := os.Getwd(); problem == nil && p.uri == nil && !filepath.IsAbs(p.path) {
			message += " in " + quote(cwd)
		}
	}
	return &readError{where: p.String(), message: message, err: err}
}

// entryFailed says what is wrong with a file in an archive.
func entryFailed(name string, message string, err error) error {
	return &readError{entry: quote(name), message: message, err: err}
}

// withoutEntry leaves the name of the file out of an error of entryFailed.
func withoutEntry(err error) error {
	var about *readError
	if errors.As(err, &about) {
		return &readError{where: about.where, message: about.message, err: about.err}
	}
	return err
}

// quote puts text between quotes, cut off where nobody would read on.
func quote(s string) string {
	const limit = 400
	return strconv.Quote(readable.Shorten(s, limit))
}
