package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/lumi-idl/lumi/lumigl"
)

// ErrUnsynced says that a file was saved, but that the system does not vouch for it to outlast a loss of power.
var ErrUnsynced = errors.New("it may not outlast a loss of power")

// LockedError says that another process is writing a file.
type LockedError struct {
	Path string
	// Holder is who has locked the file. It is zero where that is not known.
	Holder Process
	// Err is why waiting ended, nil if nobody wanted to wait.
	Err error
}

func (e *LockedError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("%s is locked by %s: wait until it is done", e.Path, e.Holder)
	}
	return fmt.Sprintf("gave up waiting for %s, locked by %s: %v", e.Path, e.Holder, e.Err)
}

// Unwrap returns why waiting ended.
func (e *LockedError) Unwrap() error { return e.Err }

// StaleError says that a file is not what a writer believes to replace. Nothing was written.
type StaleError struct {
	Path string
	// Loaded is what the writer gave as the version that it has seen, and Found what is there.
	Loaded, Found Version
	// By is who saved what is there. It is zero where that is not known.
	By Process
}

func (e *StaleError) Error() string {
	by := ""
	if e.By.Known() {
		by = fmt.Sprintf(", saved by %s", e.By)
	}
	switch {
	case !e.Found.Exists():
		return fmt.Sprintf("%s is gone since %s was loaded: put it back, or load again to start anew", e.Path, e.Loaded)
	case !e.Loaded.Exists():
		return fmt.Sprintf("%s is there already, at %s%s, and has not been loaded: load it first", e.Path, e.Found, by)
	case e.Loaded.Lineage != e.Found.Lineage:
		return fmt.Sprintf("%s is at %s%s, not at %s, which was loaded: it has another history, so load it again", e.Path,
			e.Found, by, e.Loaded)
	case e.Loaded.Serial != e.Found.Serial:
		return fmt.Sprintf("%s is at serial %d%s, not at serial %d, which was loaded: load it again", e.Path, e.Found.Serial,
			by, e.Loaded.Serial)
	}
	return fmt.Sprintf("%s has been edited since serial %d of it was loaded: load it again", e.Path, e.Loaded.Serial)
}

// InvalidError says that what is in a file is no snapshot.
type InvalidError struct {
	Path string
	// Kept says that the file was to be replaced and was left alone.
	Kept bool
	// Backup is the path of the file before the last save, empty if there is none.
	Backup string
	Err    *lumigl.InvalidError
}

func (e *InvalidError) Error() string {
	text := e.Path + " is not a valid snapshot"
	if e.Kept {
		text = e.Path + " has become invalid since it was loaded, and was left as it is"
	}
	if e.Backup != "" {
		text += "; the one before the last save is " + e.Backup
	}
	return text + ":\n" + e.Err.Error()
}

// Unwrap returns what is wrong with the text.
func (e *InvalidError) Unwrap() error { return e.Err }

// cause returns what the system says, without the names of temporary files.
func cause(err error) error {
	var pathError *fs.PathError
	var linkError *os.LinkError
	switch {
	case errors.As(err, &pathError):
		return pathError.Err
	case errors.As(err, &linkError):
		return linkError.Err
	}
	return err
}
