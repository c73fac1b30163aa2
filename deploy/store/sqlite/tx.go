package sqlite

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/lumi-idl/lumi/deploy/store/relational"
)

// begun returns the statements of a transaction that has begun.
func (s *Store) begun(c *conn, write bool) (*relational.Tx, *tx) {
	t, now := &tx{conn: c}, s.clock().UTC().Truncate(time.Microsecond)
	return relational.New(t, relational.Options{
		Clock: func() time.Time { return now }, Write: write, Elements: "SELECT value FROM json_each($1)",
	}), t
}

// tx implements [relational.Database]. It uses no context, since interrupting a write would roll back the transaction.
type tx struct {
	*conn
	// err is the first error. All later statements return it, since SQLite may have rolled back the transaction.
	err error
}

func (t *tx) fail(err error) error {
	if t.err == nil {
		t.err = err
	}
	return err
}

var dialect = strings.NewReplacer("$", "?", "@", "")

func (t *tx) stmt(query string) (*sql.Stmt, error) {
	if t.err != nil {
		return nil, t.err
	}
	if s := t.stmts[query]; s != nil {
		return s, nil
	}
	s, err := t.PrepareContext(context.Background(), dialect.Replace(query))
	if err != nil {
		return nil, t.fail(err)
	}
	t.stmts[query] = s
	return s, nil
}

// Query implements [relational.Database].
func (t *tx) Query(query string, args, fields []any, row func()) error {
	stmt, err := t.stmt(query)
	if err != nil {
		return err
	}
	rows, err := stmt.Query(args...)
	if err != nil {
		return t.fail(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err returns any error
	for rows.Next() {
		if err := rows.Scan(fields...); err != nil {
			return t.fail(err)
		}
		row()
	}
	if err := rows.Err(); err != nil {
		return t.fail(err)
	}
	return nil
}

// Exec implements [relational.Database].
func (t *tx) Exec(query string, args []any) error {
	_, err := t.Change(query, args)
	return err
}

// Change implements [relational.Database].
func (t *tx) Change(query string, args []any) (int64, error) {
	stmt, err := t.stmt(query)
	if err != nil {
		return 0, err
	}
	result, err := stmt.Exec(args...)
	if err != nil {
		return 0, t.fail(err)
	}
	return result.RowsAffected()
}
