// Package postgres implements a store in a PostgreSQL database, versions 13 to 17, that many hosts can share.
//
//	s, err := postgres.Open(ctx, "postgres://lumi@db.example.com/lumi?sslmode=verify-full", postgres.Options{})
//
// A write takes an advisory lock on its environment before its first statement, at isolation level READ COMMITTED, so each
// statement sees what the previous writer has committed. SERIALIZABLE would read from a snapshot taken before the lock was
// granted, and rows cannot be locked before they exist.
//
// Statements are sent late: BEGIN and the lock with the first query, and writes with the next query or with COMMIT. Most
// transactions thus take two round trips.
package postgres

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/relational"
)

// Options configure [Open]. The zero value uses defaults.
type Options struct {
	// Timeout is the maximum time that a transaction waits for other writers, or for the server to come back. The default is
	// 20 seconds, less than a lease.
	Timeout time.Duration
	// Clock replaces the server's clock in tests.
	Clock func() time.Time

	// The following fields are set only by tests.
	// idle is the time after which the server ends a transaction whose process was stopped or lost its network, so that others
	// can have the lock.
	idle      time.Duration
	isolation string // of writes
	noLock    bool   // do not lock the environment
	noStatus  bool   // repeat a transaction whose commit was not answered
}

// Store is a [store.Store] in a PostgreSQL database. Its errors contain the host and the name of the database, but never a
// password.
type Store struct {
	Options
	pool   *pgxpool.Pool
	name   string            // of the database, in errors
	schema string            // name of the schema
	tables *strings.Replacer // replaces @ by the schema
	pooled bool              // whether connections go through a pooler such as PgBouncer
	// copied is set if the database is a copy.
	copied bool

	mu        sync.Mutex
	changed   map[string]bool // environments to notify about
	notifying chan struct{}   // closed when the running notification ends, or nil
}

// Open connects to a database and creates or migrates its tables, which are in the schema named by the URL's parameter
// "schema", by default "lumi".
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	o.Timeout = cmp.Or(o.Timeout, 20*time.Second)
	o.idle = cmp.Or(o.idle, 10*time.Second)
	config, schema, err := parse(url)
	if err != nil {
		return nil, err
	}
	s := &Store{
		Options: o, name: nameOf(config), schema: schema, changed: map[string]bool{},
		tables: strings.NewReplacer("@", pgx.Identifier{schema}.Sanitize()+"."),
	}
	config.MaxConns = 8
	// A broken connection is noticed by the statement that uses it, which saves a round trip.
	config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	if s.pooled, err = isPooled(ctx, config.ConnConfig); err != nil {
		return nil, s.explain(broken(err))
	}
	if s.pooled { // Prepared statements belong to a connection of the pooler.
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, s.explain(err)
	}
	if err = s.migrate(ctx); err == nil {
		s.copied, err = s.isCopy(ctx)
	}
	if err == nil && !s.copied { // Rows are needed only while a connection commits.
		_, err = s.pool.Exec(ctx, s.tables.Replace("DELETE FROM @outcome WHERE seen < extract(epoch FROM clock_timestamp()) - 86400"))
	}
	if err != nil {
		s.pool.Close()
		return nil, s.explain(broken(err))
	}
	return s, nil
}

// Close sends outstanding notifications and closes all connections.
func (s *Store) Close() error {
	s.mu.Lock()
	notifying := s.notifying
	s.mu.Unlock()
	if notifying != nil {
		<-notifying
	}
	s.pool.Close()
	return nil
}

// Read implements [store.Store]. If the connection breaks, f is run again.
func (s *Store) Read(ctx context.Context, f func(store.Tx) error) error {
	return s.retry(ctx, func(ctx context.Context) error {
		return s.transact(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", nil, func(tx *relational.Tx) error { return f(tx) })
	})
}

// Write implements [store.Store]. If the connection breaks before the commit is sent, f is run again. If it breaks
// afterward, the server is asked for the outcome.
func (s *Store) Write(ctx context.Context, environment string, f func(store.Tx) error) error {
	if err := s.Copied(); err != nil {
		return err
	}
	return s.write(ctx, environment, func(tx *relational.Tx) error { return f(store.Guarded(tx, environment)) })
}

func (s *Store) write(ctx context.Context, environment string, f func(*relational.Tx) error) error {
	queued := false
	err := s.retry(ctx, func(ctx context.Context) error {
		return s.transact(ctx, "BEGIN ISOLATION LEVEL "+cmp.Or(s.isolation, "READ COMMITTED"), new(s.lockOf(environment)), func(tx *relational.Tx) error {
			err := f(tx)
			queued = tx.Queued
			return err
		})
	})
	if err == nil && queued {
		s.notify(environment)
	}
	return err
}

// lockOf returns the number of the advisory lock of an environment.
func (s *Store) lockOf(environment string) int64 {
	sum := sha256.Sum256([]byte(s.schema + "\x00" + environment))
	return int64(binary.BigEndian.Uint64(sum[:]))
}

// retry runs a transaction, and runs it again after an error of the connection or a conflict.
func (s *Store) retry(ctx context.Context, transact func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := transact(limited)
		failed, ok := errors.AsType[*brokenError](err)
		if !ok && isInterruption(err) && ctx.Err() != nil {
			return context.Cause(ctx)
		} else if !ok {
			return s.explain(err)
		}
		select {
		case <-limited.Done():
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return s.explain(failed.error)
		case <-time.After(pause):
		}
	}
}

// transact runs f in a transaction that begins with the statement begin and, unless lock is nil, takes an advisory lock. It
// returns a *brokenError if f may be run again.
func (s *Store) transact(ctx context.Context, begin string, lock *int64, f func(*relational.Tx) error) error {
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return broken(err)
	}
	defer c.Release() // closes the connection if the transaction has not ended
	t := &tx{Store: s, conn: c.Conn(), ctx: ctx, begin: begin, lock: lock}
	if err := f(t.relational()); err != nil && t.err == nil {
		t.rollback()
		return err
	}
	if t.err != nil {
		defer t.rollback()
		return t.failure()
	}
	return t.commit()
}

// brokenError is an error after which a transaction can be repeated, since nothing was written.
type brokenError struct{ error }

func (e *brokenError) Unwrap() error { return e.error }

// broken returns a *brokenError if err is an error of the connection, of a server that starts or stops, a conflict, or a
// timeout of this process. Otherwise, it returns err.
func broken(err error) error {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if ok && !strings.HasPrefix(e.Code, "57P0") && !strings.HasPrefix(e.Code, "08") && !strings.HasPrefix(e.Code, "53") &&
		!strings.HasPrefix(e.Code, "40") && e.Code != "25P03" {
		return err
	}
	return &brokenError{err}
}

// explain adds the name of the database to errors of PostgreSQL.
func (s *Store) explain(err error) error {
	e, isServer := errors.AsType[*pgconn.PgError](err)
	_, isConnect := errors.AsType[*pgconn.ConnectError](err)
	switch {
	case errors.Is(err, store.ErrUncertain):
		return fmt.Errorf("%s: %w", s.name, err)
	case isServer && e.Code == "23503": // foreign key: the row was deleted by a writer of another environment
		return fmt.Errorf("%s: %s: %w", s.name, e.Message, store.ErrNotFound)
	case isInterruption(err) && !isConnect:
		return fmt.Errorf("%s: no answer for %s: the server is overloaded, or another process does not end its transaction", s.name, s.Timeout)
	case isServer:
		return fmt.Errorf("%s: %s (SQLSTATE %s)", s.name, strings.Join(strings.Fields(e.Message+" "+e.Hint), " "), e.Code)
	case isConnect, isBroken(err):
		var reasons []string // one per address
		for line := range strings.Lines(err.Error()) {
			if line = strings.TrimSpace(line); !slices.Contains(reasons, line) {
				reasons = append(reasons, line)
			}
		}
		return fmt.Errorf("%s: %s", s.name, strings.Join(reasons, " "))
	}
	return err
}

// isInterruption reports whether a statement was canceled by its context, not by a statement_timeout of the server.
func isInterruption(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "57014" && !strings.Contains(e.Message, "statement timeout") ||
		err != nil && pgconn.Timeout(err) || errors.Is(err, context.Canceled)
}

func isBroken(err error) bool {
	_, ok := errors.AsType[*brokenError](err)
	return ok
}
