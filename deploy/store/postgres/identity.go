package postgres

import (
	"context"
	"errors"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/relational"
)

// identity is a query for the identity of the database: the identifier of the cluster and the number of the database.
const identity = `SELECT system_identifier || '/' || (SELECT oid FROM pg_database WHERE datname = current_database()) FROM pg_control_system()`

// isCopy reports whether the database is not the one that wrote the tables last. It records the database in new tables.
func (s *Store) isCopy(ctx context.Context) (isCopy bool, err error) {
	_, err = s.pool.Exec(ctx, s.tables.Replace("INSERT INTO @identity (database) SELECT ("+identity+") WHERE NOT EXISTS (SELECT FROM @identity)"))
	if err == nil {
		err = s.pool.QueryRow(ctx, s.tables.Replace("SELECT NOT EXISTS (SELECT FROM @identity WHERE database = ("+identity+"))")).Scan(&isCopy)
	}
	return isCopy, err
}

// Copied returns an error wrapping [store.ErrCopied] if the tables were copied from another database, which Write returns, too.
func (s *Store) Copied() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.copied {
		return &store.CopiedError{Name: s.name}
	}
	return nil
}

// Adopt runs f in a transaction that makes a copy writable.
func (s *Store) Adopt(ctx context.Context, f func(store.Tx) error) error {
	err := s.write(ctx, "", func(tx *relational.Tx) error {
		return errors.Join(f(tx), tx.DB.Exec("DELETE FROM @identity", nil), tx.DB.Exec("INSERT INTO @identity (database) "+identity, nil))
	})
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.copied = false
	}
	return err
}
