package postgres

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
)

//go:embed schema
var migrations embed.FS

// migrate creates the schema, or applies the migrations that it lacks, in one transaction.
func (s *Store) migrate(ctx context.Context) error {
	files, err := fs.Glob(migrations, "schema/*.sql")
	if err != nil {
		return err
	}
	if version, err := s.version(ctx, s.pool, len(files)); err != nil || version == len(files) {
		return err
	}
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", s.lockOf("\x00migration")); err != nil {
			return err
		}
		version, err := s.version(ctx, tx, len(files)) // another process may have migrated it
		if err != nil {
			return err
		}
		if version == 0 {
			var exists bool // IF NOT EXISTS would need the privilege even if the schema exists
			if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)", s.schema).Scan(&exists); err != nil {
				return err
			}
			create := "CREATE TABLE @migration (version int PRIMARY KEY)"
			if !exists {
				create = "CREATE SCHEMA " + pgx.Identifier{s.schema}.Sanitize() + "; " + create
			}
			if _, err := tx.Exec(ctx, s.tables.Replace(create), pgx.QueryExecModeSimpleProtocol); err != nil {
				return err
			}
		}
		for i, file := range files[version:] {
			text, err := fs.ReadFile(migrations, file)
			if err != nil {
				return err
			}
			text = fmt.Appendf(text, "INSERT INTO @migration (version) VALUES (%d);", version+i+1)
			if _, err := tx.Exec(ctx, s.tables.Replace(string(text)), pgx.QueryExecModeSimpleProtocol); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
		return nil
	})
}

// version returns the version of the schema, or 0 if it does not exist. Newer versions than newest are errors.
func (s *Store) version(ctx context.Context, db interface {
	QueryRow(context.Context, string, ...any) pgx.Row
}, newest int,
) (version int, err error) {
	var exists bool
	// After a wait for the lock, to_regclass would use the session's outdated cache.
	const query = "SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = $1 AND relname = 'migration')"
	if err = db.QueryRow(ctx, query, s.schema).Scan(&exists); err != nil || !exists {
		return 0, err
	}
	err = db.QueryRow(ctx, s.tables.Replace("SELECT coalesce(max(version), 0) FROM @migration")).Scan(&version)
	if err == nil && version > newest {
		err = fmt.Errorf("the state was written by a newer version of lumi (schema %d, this version supports up to %d): upgrade lumi",
			version, newest)
	}
	return version, err
}
