package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/lumi-idl/lumi/deploy/store"
)

// unidentified is the identity of files on systems without file numbers.
const unidentified = "unknown"

// identify compares the file with the one recorded in the database. The first write records the file.
func (s *Store) identify(ctx context.Context) error {
	c, err := s.take(ctx, false)
	if err != nil {
		return err
	}
	defer s.put(c, true)
	s.copied = nil
	if s.recorded, err = isOld(ctx, c, "main"); err != nil || s.recorded {
		return err
	}
	var recorded sql.NullString
	if err := c.QueryRowContext(ctx, "SELECT max(file) FROM identity").Scan(&recorded); err != nil {
		return err
	}
	id := fileID(s.path)
	s.recorded = recorded.Valid
	if isBackup := recorded.String == ""; s.recorded && (isBackup || id != recorded.String && id != unidentified && recorded.String != unidentified) {
		s.copied = &store.CopiedError{Name: s.path}
	}
	return nil
}

// isOld reports whether a database of the connection c has a schema without identities.
func isOld(ctx context.Context, c *conn, database string) (old bool, err error) {
	err = c.QueryRowContext(ctx, "SELECT count(*) = 0 FROM "+database+".sqlite_schema WHERE name = 'identity'").Scan(&old)
	return old, err
}

// record records the identity of a file in a database of the connection c.
func record(c *conn, database, id string) error {
	table := database + ".identity"
	_, err := c.ExecContext(context.Background(), "DELETE FROM "+table+"; INSERT INTO "+table+" (file) VALUES (?)", id)
	return err
}

// brand records the identity of a copy. The identity "" marks a backup.
func (s *Store) brand(c *conn, path, id string) (err error) {
	ctx := context.Background()
	if _, err := c.ExecContext(ctx, "ATTACH ? AS copy", path); err != nil {
		return err
	}
	defer func() {
		_, detached := c.ExecContext(ctx, "DETACH copy")
		err = errors.Join(err, detached)
	}()
	if old, err := isOld(ctx, c, "copy"); err != nil || old {
		return err
	}
	return record(c, "copy", id)
}

// Copied returns an error wrapping [store.ErrCopied] if the file is not the one that the database was last written to: a
// copy, or a restored backup. A file that was moved within its file system is still the same. Write returns this error, too.
func (s *Store) Copied() error {
	s.writer <- struct{}{}
	defer func() { <-s.writer }()
	if s.copied == nil {
		return nil
	}
	return s.copied
}

// Adopt runs f in a transaction that makes a copy writable.
func (s *Store) Adopt(ctx context.Context, f func(store.Tx) error) error {
	return s.exclusively(ctx, func() error {
		s.recorded = false
		return s.transact(ctx, "BEGIN IMMEDIATE", true, f)
	})
}
