// Package sqlite implements a store in an SQLite database file, such as `.lumi/state.db`.
//
//	s, err := sqlite.Open(ctx, ".lumi/state.db", sqlite.Options{})
//
// Processes on the same host may share the database. Writers wait for each other, but readers never wait. A transaction
// is durable when Write returns.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"modernc.org/sqlite"

	"github.com/lumi-idl/lumi/deploy/store"
)

// Options configure [Open]. The zero value uses defaults.
type Options struct {
	// Timeout is the maximum time that a transaction waits for writers in other processes. The default is ten seconds.
	Timeout time.Duration
	// Rescue is the folder in which to save a copy if the database file is removed while open. The default is the
	// current directory. If Rescue is not writable, the copy is saved in [os.TempDir].
	Rescue string
	// Clock is the store's clock. The default is [time.Now].
	Clock func() time.Time

	// The following fields are set only by tests.
	maxPages int
	schema   fs.FS
	network  func(folder string) string
}

// Store is a [store.Store] in an SQLite database. Its errors contain the path of the database.
type Store struct {
	path    string
	timeout time.Duration
	clock   func() time.Time
	db      *sql.DB
	writer  chan struct{} // semaphore held by the writing goroutine

	file   fs.FileInfo // identity of the opened file
	rescue string
	// The following fields are owned by the writing goroutine.
	wrote    bool
	recorded bool               // whether the database contains the identity of its file
	copied   *store.CopiedError // nil unless the file is a copy
	lost     *lostError         // nil unless the file was removed

	mu     sync.Mutex
	idle   []*conn
	closed bool
}

// conn is a connection with its prepared statements.
type conn struct {
	*sql.Conn
	stmts map[string]*sql.Stmt
}

// close closes the connection and rolls back any transaction. It first closes the statements: SQLite keeps the
// connection open until then, and database/sql does not close them. Errors are ignored, since committed data is already
// on disk.
func (c *conn) close() {
	for _, stmt := range c.stmts {
		_ = stmt.Close()
	}
	_ = c.Close()
}

// maxIdle is the maximum number of idle connections in the pool.
const maxIdle = 4

// Open opens a database. If the database does not exist, Open creates it, readable only by the user. If it was created
// by an older version of lumi, Open migrates it after making a backup in the same folder. Open returns an error if it
// detects a network file system.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.network == nil {
		o.network = network
	}
	if o.schema == nil {
		o.schema = schema
	}
	if err := create(path, o.network); err != nil {
		return nil, err
	}
	file, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	location := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: url.Values{"mode": {"rw"}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", o.Timeout.Milliseconds()),
		"synchronous(FULL)", "foreign_keys(1)", fmt.Sprintf("max_page_count(%d)", o.maxPages),
	}}.Encode()}
	connector, err := sqlite.NewConnector(location.String())
	if err != nil {
		return nil, err
	}
	s := &Store{
		path: path, timeout: o.Timeout, clock: o.Clock, db: sql.OpenDB(connector), writer: make(chan struct{}, 1), file: file,
		rescue: o.Rescue,
	}
	s.db.SetMaxIdleConns(-1) // disables this pool; the store's own pool keeps prepared statements
	err = s.prepare(ctx, o.schema)
	if err == nil {
		err = s.identify(ctx)
	}
	if err != nil {
		return nil, errors.Join(s.explain(err), s.Close())
	}
	return s, nil
}

// create creates the file with mode 0600, which SQLite copies to its other files; SQLite itself would let others read
// it. It does not open an existing file, since closing it would release the locks of this process.
func create(path string, network func(string) string) error {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	if kind := network(folder); kind != "" {
		return fmt.Errorf("%s is on a network file system (%s), which cannot lock the database safely: "+
			"move the workspace to a local disk", path, kind)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	} else if err != nil {
		return err
	}
	return f.Close()
}

// Close waits for a writing transaction to finish and closes the database. It returns an error wrapping [store.ErrLost]
// if the file was removed.
func (s *Store) Close() error {
	s.writer <- struct{}{}
	defer func() { <-s.writer }()
	var lost error
	if c := s.pop(); c != nil {
		if s.wrote {
			lost = s.salvage(c, true)
		}
		c.close()
	} else if s.lost != nil {
		lost = s.lost
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, c := range s.idle {
		c.close()
	}
	s.idle = nil
	return errors.Join(lost, s.db.Close())
}

// Watch implements [store.Store]. It calls nothing, since SQLite does not notify other processes.
func (s *Store) Watch(ctx context.Context, _ func(string)) { <-ctx.Done() }

// Read implements [store.Store].
func (s *Store) Read(ctx context.Context, f func(store.Tx) error) error {
	return s.transact(ctx, "BEGIN", false, f)
}

// Write implements [store.Store]. It excludes all other writers. ctx limits the time it waits for them.
func (s *Store) Write(ctx context.Context, environment string, f func(store.Tx) error) error {
	return s.exclusively(ctx, func() error {
		if s.copied != nil { // unless another process has adopted it since
			if err := s.identify(ctx); err != nil {
				return s.explain(err)
			}
		}
		if s.copied != nil {
			return s.copied
		}
		return s.transact(ctx, "BEGIN IMMEDIATE", true, func(tx store.Tx) error { return f(store.Guarded(tx, environment)) })
	})
}

// exclusively runs f while no other goroutine writes.
func (s *Store) exclusively(ctx context.Context, f func() error) error {
	select {
	case s.writer <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-s.writer }()
	return f()
}

func (s *Store) transact(ctx context.Context, begin string, write bool, f func(store.Tx) error) (err error) {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c, err := s.take(ctx, write)
	if err != nil {
		return s.explain(err)
	}
	ended := false
	defer func() {
		if !ended {
			_, err := c.ExecContext(context.Background(), "ROLLBACK")
			ended = err == nil
		}
		s.put(c, ended)
	}()
	if _, err := c.ExecContext(ctx, begin); ctx.Err() != nil {
		return context.Cause(ctx)
	} else if err != nil {
		return s.explain(err)
	}
	t, statements := s.begun(c, write)
	if err := f(t); err != nil {
		return s.explain(err)
	}
	if statements.err != nil {
		return s.explain(statements.err)
	}
	if write && !s.recorded {
		if err := record(c, "main", fileID(s.path)); err != nil {
			return s.explain(err)
		}
	}
	if _, err := c.ExecContext(context.Background(), "COMMIT"); err != nil {
		return s.explain(err)
	}
	ended = true
	if !write {
		return nil
	}
	s.wrote, s.recorded, s.copied = true, true, nil
	return s.salvage(c, false)
}

// take returns an idle connection, or a new one if there is none. If the file was removed, new connections are
// impossible. Readers then fail, which leaves the idle connections to the writer.
func (s *Store) take(ctx context.Context, write bool) (*conn, error) {
	gone, replaced := s.isGone()
	for end := time.Now().Add(s.timeout); ; {
		if !gone || write {
			if c := s.pop(); c != nil {
				return c, nil
			}
		}
		if !gone {
			break
		}
		if lost := (&lostError{path: s.path, replaced: replaced}); !write {
			return nil, lost
		} else if time.Now().After(end) {
			return nil, errors.New(lost.Error()) // not a *lostError, since nothing was committed
		}
		time.Sleep(time.Millisecond) // waits for readers to finish
	}
	c, err := s.db.Conn(ctx)
	return &conn{c, map[string]*sql.Stmt{}}, err
}

func (s *Store) pop() *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.idle) - 1
	if last < 0 {
		return nil
	}
	c := s.idle[last]
	s.idle = s.idle[:last]
	return c
}

// put returns a connection to the pool if keep is set and the pool has room. Otherwise, it closes the connection.
func (s *Store) put(c *conn, keep bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if keep && !s.closed && len(s.idle) < maxIdle {
		s.idle = append(s.idle, c)
		return
	}
	c.close()
}

// Compact gives the space of deleted rows back to the file system. It returns the size of the file in bytes before and after.
func (s *Store) Compact(ctx context.Context) (before, after int64, err error) {
	err = s.exclusively(ctx, func() error {
		c, err := s.take(ctx, true)
		if err != nil {
			return s.explain(err)
		}
		defer s.put(c, true)
		const truncate = "PRAGMA wal_checkpoint(TRUNCATE)"
		for _, step := range []struct {
			statement string
			size      *int64
		}{{truncate, &before}, {"VACUUM; " + truncate, &after}} {
			if _, err := c.ExecContext(ctx, step.statement); err != nil {
				return s.explain(err)
			}
			file, err := os.Stat(s.path)
			if err != nil {
				return err
			}
			*step.size = file.Size()
		}
		return nil
	})
	return before, after, err
}

// Backup copies the database to a new file, readable only by the user. It does not wait for writers. It returns an
// error if the file already exists.
func (s *Store) Backup(ctx context.Context, path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	c, err := s.take(ctx, false)
	if err != nil {
		return s.explain(err)
	}
	defer s.put(c, true)
	return s.copy(ctx, c, path, false)
}

// copy writes a copy of the database to a new file. The copy is an original, or a backup that Adopt must make one.
func (s *Store) copy(ctx context.Context, c *conn, path string, isOriginal bool) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s already exists: choose another name for the backup", path)
	} else if err != nil {
		return err
	}
	defer f.Close()
	id := ""
	if isOriginal {
		id = fileID(path)
	}
	if _, err = c.ExecContext(ctx, "VACUUM INTO ?", path); err == nil {
		err = s.brand(c, path, id)
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("backup to %s: %w", path, s.explain(err)), os.Remove(path))
	}
	return nil
}
