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

// readError is an error in reading content. message contains no file names, which may be secret.
type readError struct {
	// where is the quoted path or URI of the content, and entry the quoted name of a file in that archive. Either is
	// "" if unknown.
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

// failed returns err as a *readError with the place. It wraps err.
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
		err = path.Err // The operation and path are redundant.
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

// entryFailed returns a *readError for a file in an archive. It wraps err, which may be nil.
func entryFailed(name string, message string, err error) error {
	return &readError{entry: quote(name), message: message, err: err}
}

// withoutEntry returns err without the name of the file in the archive.
func withoutEntry(err error) error {
	var about *readError
	if errors.As(err, &about) {
		return &readError{where: about.where, message: about.message, err: about.err}
	}
	return err
}

func quote(s string) string {
	const limit = 400
	return strconv.Quote(readable.Shorten(s, limit))
}
