package sqlite_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	driver "modernc.org/sqlite"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/sqlite"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func openError(t *testing.T, path string, o sqlite.Options) error {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, o)
	if err == nil {
		s.Close()
	}
	return err
}

// wantError checks the message of err, and that err wraps the driver's error if the message ends with one.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("error = %v\nwant    %s", err, want)
	}
	var cause *driver.Error
	if strings.HasSuffix(want, "))") && !errors.As(err, &cause) {
		t.Errorf("error %v does not wrap the driver's error", err)
	}
}

func TestDiskFull(t *testing.T) {
	t.Parallel()
	path := database(t)
	s := open(t, path, sqlite.Options{}.WithMaxPages(100))
	put := func(text string) error {
		return s.Write(t.Context(), "dev", func(tx store.Tx) error {
			err := tx.PutVertices("dev", []store.Vertex{{Key: "a", Text: text}}, nil)
			if err != nil {
				// SQLite has rolled back the transaction and would now commit each statement immediately.
				if err2 := tx.PutVertices("dev", []store.Vertex{{Key: "b"}}, nil); err2 == nil {
					t.Error("PutVertices after a failed statement returned nil, want an error")
				}
			}
			return nil // Write returns the error anyway.
		})
	}
	must.Do(t, put("small"))
	wantError(t, put(strings.Repeat("large", 1<<18)),
		path+" cannot grow: the disk is full; free some space and try again (database or disk is full (13))")
	must.Do(t, put("small again"))
	read(t, s, func(tx store.Tx) error {
		all, err := tx.Vertices("dev")
		if len(all) != 1 || all[0].Text != "small again" {
			t.Errorf(`Vertices() = %v, want only "small again"`, all)
		}
		return err
	})
}

func TestOpenDamaged(t *testing.T) {
	t.Parallel()
	path := database(t)
	s := open(t, path, sqlite.Options{})
	write(t, s, func(tx store.Tx) error {
		return tx.PutVertices("dev", []store.Vertex{{Key: "a", Text: strings.Repeat("large", 1<<16)}}, nil)
	})
	must.Do(t, s.Close())
	must.Do(t, os.Truncate(path, 20_000))
	wantError(t, openError(t, path, sqlite.Options{}),
		path+" is damaged: restore a backup (database disk image is malformed (11))")
}

func TestOpenDamagedPage(t *testing.T) {
	t.Parallel()
	path := database(t)
	text := must.Get(os.ReadFile(path))(t)
	for i := 4096; i < len(text); i++ {
		if i%4096 < 8 && i/4096 > 3 {
			text[i] = 0xff
		}
	}
	must.Do(t, os.WriteFile(path, text, 0o600))
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err == nil {
		defer s.Close()
		err = s.Read(t.Context(), func(tx store.Tx) error { _, err := tx.Environments(); return err })
	}
	wantError(t, err, path+" is damaged: restore a backup (database disk image is malformed (11))")
}

func TestOpenNotDatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	must.Do(t, os.WriteFile(path, []byte(strings.Repeat("not a database", 100)), 0o600))
	const what = " is not a lumi state database: move it away, or restore a backup"
	wantError(t, openError(t, path, sqlite.Options{}), path+what+" (file is not a database (26))")

	path = filepath.Join(t.TempDir(), "other.db")
	execute(t, path, "CREATE TABLE other (a)")
	wantError(t, openError(t, path, sqlite.Options{}), path+what)
}

// execute executes a statement without using the store.
func execute(t *testing.T, path, query string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err == nil {
		_, err = db.ExecContext(t.Context(), query)
	}
	must.Do(t, errors.Join(err, db.Close()))
}

func TestOpenInFile(t *testing.T) {
	t.Parallel()
	path := database(t)
	if err := openError(t, filepath.Join(path, "state.db"), sqlite.Options{}); err == nil || !strings.Contains(err.Error(), path+": not a directory") {
		t.Errorf("Open in a file instead of a folder: error %v, want %s", err, path+": not a directory")
	}
}

func TestOpenNetwork(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	wantError(t, openError(t, path, sqlite.Options{}.WithNetwork("NFS")),
		path+" is on a network file system (NFS), which cannot lock the database safely: move the workspace to a local disk")
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open on a network file system: Stat error %v, want that no file was created", err)
	}
}

func TestCheckVersion(t *testing.T) {
	t.Parallel()
	for version, ok := range map[string]bool{
		"3.51.3": true, "3.51.10": true, "3.52.0": true, "4.0.0": true, "3.51.2": false, "3.50.9": false, "3.9.4": false, "2.99.9": false, "?": false,
	} {
		if err := sqlite.CheckVersion(version); (err == nil) != ok {
			t.Errorf("CheckVersion(%s) = %v, want accepted: %t", version, err, ok)
		}
	}
	wantError(t, sqlite.CheckVersion("3.51.2"), "lumi was built with SQLite 3.51.2, which can damage databases: build it with 3.51.3 or later")
}

// schema returns the current schema with additional migrations.
func schema(t *testing.T, more ...string) fs.FS {
	t.Helper()
	names := must.Get(filepath.Glob("schema/*.sql"))(t)
	files := fstest.MapFS{}
	for _, name := range names {
		text := must.Get(os.ReadFile(name))(t)
		files[filepath.Base(name)] = &fstest.MapFile{Data: text}
	}
	for i, text := range more {
		files[fmt.Sprintf("%d_more.sql", len(names)+i+1)] = &fstest.MapFile{Data: []byte("-- +goose Up\n" + text)}
	}
	return files
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	path := database(t)
	newer := sqlite.Options{}.WithSchema(schema(t, "ALTER TABLE step ADD COLUMN a TEXT;\nUPDATE environment SET serial = serial + 10;",
		"UPDATE environment SET serial = serial * 2;"))
	for range 2 { // The second migration is a no-op.
		s := open(t, path, newer)
		read(t, s, func(tx store.Tx) error {
			e, err := tx.Environment("dev")
			if e.Serial != 20 {
				t.Errorf("environment after the migration = %+v, want serial 20", e)
			}
			return err
		})
		must.Do(t, s.Close())
	}
	backups, err := filepath.Glob(path + ".backup-*")
	if err != nil || len(backups) != 1 || !strings.HasPrefix(backups[0], path+".backup-6-20") {
		t.Fatalf("backups after the migration = %v, %v, want one of version 6", backups, err)
	}
	read(t, open(t, backups[0], sqlite.Options{}), func(tx store.Tx) error {
		e, err := tx.Environment("dev")
		if e.Serial != 0 {
			t.Errorf("environment in the backup = %+v, want serial 0", e)
		}
		return err
	})
	wantError(t, openError(t, path, sqlite.Options{}),
		path+" was written by a newer version of lumi (schema 8, this version supports up to 6): upgrade lumi")
}

// TestMigrateFirstSchemas migrates databases created with the first schema versions, which have no sources of events,
// no task graphs, and no tolerated failures.
func TestMigrateFirstSchemas(t *testing.T) {
	t.Parallel()
	first := fstest.MapFS{}
	for i, name := range []string{"1_state.sql", "2_event_source.sql", "3_taskgraph.sql"} {
		first[name] = &fstest.MapFile{Data: must.Get(os.ReadFile("schema/" + name))(t)}
		path := filepath.Join(t.TempDir(), "state.db")
		s := open(t, path, sqlite.Options{}.WithSchema(maps.Clone(first)))
		var d store.Job
		write(t, s, putEnvironment)
		write(t, s, func(tx store.Tx) error {
			id, err := tx.AddJob(store.Job{Environment: "dev", Kind: "deploy", State: store.Done}, store.Content{Desired: "{}"})
			if err == nil {
				d, err = tx.Job(id)
			}
			return errors.Join(err, tx.PutVertices("dev", []store.Vertex{{Key: "a", Text: "kept"}}, nil))
		})
		must.Do(t, s.Close())
		s = open(t, path, sqlite.Options{})
		write(t, s, func(tx store.Tx) error {
			id, err := tx.AddGraph(store.TaskGraph{Owner: store.Owner{Layer: store.ClusterLayer, Environment: "dev"}, Type: "default"})
			if err == nil {
				_, err = tx.AddGraphTask(store.GraphTask{Graph: id, Name: "a"})
			}
			return errors.Join(err, tx.AddEvents("dev", []store.Event{{Source: "main.ts:1:2"}}), tx.PutTaskRuns(d.ID, []store.TaskRun{{Task: "a"}}))
		})
		read(t, s, func(tx store.Tx) error {
			vertices, err := tx.Vertices("dev")
			history, err2 := tx.History("dev", 0, 9)
			content, err3 := tx.Content(d.ID)
			events, err4 := tx.Events("dev", 0, 0, 9)
			if len(vertices) != 1 || vertices[0].Text != "kept" || !reflect.DeepEqual(history, []store.Job{d}) ||
				content.Desired != "{}" || len(events) != 1 || events[0].Source != "main.ts:1:2" {
				t.Errorf("rows after migrating schema %d = %v, %v, %v, %v, want them unchanged", i+1, vertices, history, content, events)
			}
			return errors.Join(err, err2, err3, err4)
		})
		if backups, _ := filepath.Glob(fmt.Sprintf("%s.backup-%d-*", path, i+1)); len(backups) != 1 {
			t.Errorf("backups after migrating schema %d = %v, want one", i+1, backups)
		}
	}
}

func TestMigrateError(t *testing.T) {
	t.Parallel()
	path := database(t)
	broken := sqlite.Options{}.WithSchema(schema(t, "UPDATE environment SET serial = 99;\nDROP TABLE none;"))
	if err := openError(t, path, broken); err == nil || !strings.Contains(err.Error(), "no such table: none") {
		t.Errorf("Open with a broken migration: error %v, want that table none does not exist", err)
	}
	read(t, open(t, path, sqlite.Options{}), func(tx store.Tx) error {
		e, err := tx.Environment("dev")
		if e.Serial != 0 {
			t.Errorf("environment after a failed migration = %+v, want serial 0", e)
		}
		return err
	})
	if backups, _ := filepath.Glob(path + ".backup-6-*"); len(backups) != 1 {
		t.Errorf("backups after a failed migration = %v, want one", backups)
	}
}
