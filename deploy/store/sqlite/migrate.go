package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

//go:embed schema
var schemas embed.FS

// schema contains the migrations, one for each schema version.
var schema, _ = fs.Sub(schemas, "schema")

// application is the SQLite application ID, "Lumi" in ASCII.
const application = 0x4c756d69

// prepare checks the SQLite version, enables WAL mode, and migrates the schema.
func (s *Store) prepare(ctx context.Context, schema fs.FS) error {
	c, err := s.take(ctx, false)
	if err != nil {
		return err
	}
	defer s.put(c, true)
	var version string
	if err := c.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version); err != nil {
		return err
	}
	if err := checkVersion(version); err != nil {
		return err
	}
	if err := s.useWAL(ctx, c); err != nil {
		return err
	}
	m := &migration{store: s}
	p, err := goose.NewProvider(goose.DialectSQLite3, s.db, schema, goose.WithDisableGlobalRegistry(true),
		goose.WithSessionLocker(m), goose.WithIsolateDDL(true)) // no transactions nested in the lock's transaction
	if err != nil {
		return err
	}
	m.target = int64(len(p.ListSources()))
	for {
		current, err := m.version(ctx, c.Conn)
		if err != nil || current == m.target {
			return err
		}
		// Up would create goose's version table before taking the lock.
		_, err = p.ApplyVersion(ctx, current+1, true)
		if m.err != nil {
			return m.err
		}
		if err != nil && !errors.Is(err, goose.ErrAlreadyApplied) {
			return err
		}
	}
}

// useWAL switches the database to WAL mode, which is permanent. It retries because SQLite does not wait when upgrading
// a read lock to a write lock, which could deadlock two processes.
func (s *Store) useWAL(ctx context.Context, c *conn) error {
	for end := time.Now().Add(s.timeout); ; {
		_, err := c.ExecContext(ctx, "PRAGMA journal_mode = WAL")
		var e *sqlite.Error
		if !errors.As(err, &e) || e.Code()&0xff != sqlite3.SQLITE_BUSY || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func checkVersion(version string) error {
	v := make([]int, 3)
	_, err := fmt.Sscanf(version, "%d.%d.%d", &v[0], &v[1], &v[2])
	if err != nil || slices.Compare(v, []int{3, 51, 3}) < 0 {
		return fmt.Errorf("lumi was built with SQLite %s, which can damage databases: build it with 3.51.3 or later", version)
	}
	return nil
}

// migration is a [goose] session locker that holds a transaction while goose applies a schema version. Versions start
// at 1.
type migration struct {
	store  *Store
	target int64
	before int64 // version before the migration
	saved  bool
	err    error // error of SessionLock, not wrapped by goose
}

// version returns the schema version, or 0 if the database is empty.
func (m *migration) version(ctx context.Context, c *sql.Conn) (int64, error) {
	var id, objects, version int64
	err := c.QueryRowContext(ctx, "SELECT application_id, (SELECT count(*) FROM sqlite_schema) FROM pragma_application_id").
		Scan(&id, &objects)
	if err != nil || objects == 0 {
		return 0, err
	}
	if id != application {
		return 0, fmt.Errorf("%s %s", m.store.path, notStore)
	}
	err = c.QueryRowContext(ctx, "SELECT max(version_id) FROM goose_db_version").Scan(&version)
	if err == nil && version > m.target {
		err = fmt.Errorf("%s was written by a newer version of lumi (schema %d, this version supports up to %d): upgrade lumi",
			m.store.path, version, m.target)
	}
	return version, err
}

// SessionLock begins the transaction. It makes the backup now, while other processes cannot write.
func (m *migration) SessionLock(ctx context.Context, c *sql.Conn) error {
	m.err = m.lock(ctx, c)
	return m.err
}

func (m *migration) lock(ctx context.Context, c *sql.Conn) (err error) {
	if _, err := c.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	m.before, err = m.version(ctx, c)
	isNew := m.before == 0
	if err != nil || m.saved || isNew || m.before == m.target {
		m.saved = m.saved || isNew // A new database needs no backup.
		return err
	}
	m.saved = true
	name := fmt.Sprintf("%s.backup-%d-%s", m.store.path, m.before, time.Now().UTC().Format("20060102T150405.000000Z"))
	return m.store.Backup(ctx, name)
}

// SessionUnlock commits the transaction if goose has recorded the new version, which is its last step. Otherwise, it
// rolls back.
func (m *migration) SessionUnlock(ctx context.Context, c *sql.Conn) error {
	end := "ROLLBACK"
	if after, err := m.version(ctx, c); err == nil && after > m.before {
		end = "COMMIT"
	}
	_, err := c.ExecContext(ctx, end)
	return err
}
