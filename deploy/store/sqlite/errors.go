package sqlite

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// explain adds an explanation and a possible fix to an SQLite error. It returns other errors unchanged.
func (s *Store) explain(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	problem := "failed"
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_BUSY:
		problem = fmt.Sprintf("is locked: another process has been writing for %v; try again when it is done", s.timeout)
	case sqlite3.SQLITE_FULL:
		problem = "cannot grow: the disk is full; free some space and try again"
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		problem = "cannot be written: make the file and its folder writable"
	case sqlite3.SQLITE_CORRUPT:
		problem = "is damaged: restore a backup"
	case sqlite3.SQLITE_NOTADB:
		problem = notStore
	case sqlite3.SQLITE_IOERR:
		problem = "cannot be read or written: check the disk"
	}
	return fmt.Errorf("%s %s (%w)", s.path, problem, err)
}

const notStore = "is not a lumi state database: move it away, or restore a backup"
