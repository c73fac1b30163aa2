package sqlite_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/sqlite"
	"github.com/lumi-idl/lumi/deploy/store/storetest"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// victim is the environment variable that makes the test binary run as the killed process of [TestKill].
const victim = "LUMI_TEST_VICTIM"

func TestMain(m *testing.M) {
	if path := os.Getenv(victim); path != "" {
		writeForever(path)
	}
	os.Exit(m.Run())
}

func open(t testing.TB, path string, o sqlite.Options) *sqlite.Store {
	t.Helper()
	s := must.Get(sqlite.Open(t.Context(), path, o))(t)
	t.Cleanup(func() { s.Close() })
	return s
}

func write(t testing.TB, s store.Store, f func(tx store.Tx) error) {
	t.Helper()
	must.Do(t, s.Write(t.Context(), "dev", f))
}

func read(t testing.TB, s store.Store, f func(tx store.Tx) error) {
	t.Helper()
	must.Do(t, s.Read(t.Context(), f))
}

func database(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path, sqlite.Options{})
	write(t, s, putEnvironment)
	must.Do(t, s.Close())
	return path
}

func putEnvironment(tx store.Tx) error {
	return tx.PutEnvironment(store.Environment{Name: "dev", Lineage: "lineage"})
}

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Test(t, func(t *testing.T) store.Store {
		return open(t, filepath.Join(t.TempDir(), "state.db"), sqlite.Options{})
	})
}

func TestClock(t *testing.T) {
	t.Parallel()
	storetest.TestClock(t, func(t *testing.T, clock func() time.Time) store.Store {
		return open(t, filepath.Join(t.TempDir(), "state.db"), sqlite.Options{Clock: clock})
	})
}

func TestReopen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new folder?#%", ".lumi", "state.db")
	s := open(t, path, sqlite.Options{})
	d := store.Job{Environment: "dev", State: store.Running, Uses: []string{"a"}, Created: time.UnixMicro(1).UTC()}
	write(t, s, func(tx store.Tx) (err error) {
		err = putEnvironment(tx)
		d.ID, _ = tx.AddJob(d, store.Content{})
		d.Place = d.ID
		return err
	})
	must.Do(t, s.Close())
	if err := s.Read(t.Context(), putEnvironment); err == nil || !strings.Contains(err.Error(), "database is closed") {
		t.Errorf("Read after Close: error %v, want that the database is closed", err)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("files after Close = %v, %v, want only the database", left, err)
	}
	read(t, open(t, path, sqlite.Options{}), func(tx store.Tx) error {
		got, err := tx.Job(d.ID)
		if diff := cmp.Diff(d, got); diff != "" {
			t.Errorf("job after reopening the store (-want +got):\n%s", diff)
		}
		return err
	})
}

func TestFileModes(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), ".lumi")
	path := filepath.Join(folder, "state.db")
	s := open(t, path, sqlite.Options{})
	write(t, s, putEnvironment)
	must.Do(t, s.Backup(t.Context(), path+".backup"))
	got := map[string]os.FileMode{}
	entries := must.Get(os.ReadDir(folder))(t)
	for _, e := range entries {
		info := must.Get(e.Info())(t)
		got[e.Name()] = info.Mode()
	}
	want := map[string]os.FileMode{"state.db": 0o600, "state.db-wal": 0o600, "state.db-shm": 0o600, "state.db.backup": 0o600}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("file modes (-want +got):\n%s", diff)
	}
	if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode of the folder = %v, %v, want 0700", info.Mode(), err)
	}
}

// Two stores on one database behave like two processes.
func TestTwoStores(t *testing.T) {
	t.Parallel()
	path := database(t)
	a, b := open(t, path, sqlite.Options{}), open(t, path, sqlite.Options{Timeout: 20 * time.Millisecond})
	must.Do(t, a.Write(t.Context(), "prod", func(tx store.Tx) error {
		if err := tx.PutEnvironment(store.Environment{Name: "prod"}); err != nil {
			return err
		}
		want := path + " is locked: another process has been writing for 20ms; try again when it is done (database is locked (5) (SQLITE_BUSY))"
		if err := b.Write(t.Context(), "dev", putEnvironment); err == nil || err.Error() != want {
			t.Errorf("Write while another store writes: error %v, want %s", err, want)
		}
		read(t, b, func(tx store.Tx) error {
			all, err := tx.Environments()
			if len(all) != 1 {
				t.Errorf("Environments() = %v, want no rows of the uncommitted transaction", all)
			}
			return err
		})
		return nil
	}))
	write(t, b, func(tx store.Tx) error {
		_, err := tx.Environment("prod")
		return err
	})
}

func TestWaitCanceled(t *testing.T) {
	t.Parallel()
	path := database(t)
	a, b := open(t, path, sqlite.Options{}), open(t, path, sqlite.Options{})
	write(t, a, func(store.Tx) error {
		for _, s := range []*sqlite.Store{a, b} { // in the same process and between processes
			stopped := errors.New("stopped")
			ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Millisecond, stopped)
			err := s.Write(ctx, "dev", putEnvironment)
			cancel()
			if !errors.Is(err, stopped) {
				t.Errorf("Write with a canceled context: error %v, want %v", err, stopped)
			}
		}
		return nil
	})
	write(t, b, putEnvironment)
}

func TestOpenConcurrently(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			err = s.Write(t.Context(), fmt.Sprint(i), func(tx store.Tx) error { return tx.PutEnvironment(store.Environment{Name: fmt.Sprint(i)}) })
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	read(t, open(t, path, sqlite.Options{}), func(tx store.Tx) error {
		all, err := tx.Environments()
		if len(all) != 8 {
			t.Errorf("Environments() = %v, want 8", all)
		}
		return err
	})
}

// A database can be opened while another process is creating it and has not switched to WAL mode yet.
func TestOpenWhileCreated(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	db := must.Get(sql.Open("sqlite", path))(t)
	t.Cleanup(func() { db.Close() })
	c, err := db.Conn(t.Context())
	if err == nil {
		_, err = c.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	}
	if err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	want := path + " is locked: another process has been writing for 30ms; try again when it is done (database is locked (5) (SQLITE_BUSY))"
	wantError(t, openError(t, path, sqlite.Options{Timeout: 30 * time.Millisecond}), want)
	if waited := time.Since(started); waited < 30*time.Millisecond {
		t.Errorf("Open returned after %v, want at least the timeout of 30ms", waited)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := sqlite.Open(ctx, path, sqlite.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Open with a canceled context: error %v, want context.Canceled", err)
	}
	time.AfterFunc(20*time.Millisecond, func() { _, _ = c.ExecContext(context.Background(), "ROLLBACK") })
	write(t, open(t, path, sqlite.Options{}), putEnvironment)
}

func TestBackup(t *testing.T) {
	t.Parallel()
	path := database(t)
	s := open(t, path, sqlite.Options{})
	write(t, s, func(store.Tx) error { return s.Backup(t.Context(), path+".copy") }) // does not wait for the writer
	want := path + ".copy already exists: choose another name for the backup"
	if err := s.Backup(t.Context(), path+".copy"); err == nil || err.Error() != want {
		t.Errorf("Backup to an existing file: error %v, want %s", err, want)
	}
	read(t, open(t, path+".copy", sqlite.Options{}), func(tx store.Tx) error {
		_, err := tx.Environment("dev")
		return err
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Backup(ctx, path+".stopped"); !errors.Is(err, context.Canceled) {
		t.Errorf("Backup with a canceled context: error %v, want context.Canceled", err)
	}
	if _, err := os.Stat(path + ".stopped"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("file of a failed backup: Stat error %v, want os.ErrNotExist", err)
	}
}

// writeForever adds environments with a vertex each, one per transaction, and prints a line after each Write.
func writeForever(path string) {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, path, sqlite.Options{})
	for i := 0; err == nil; i++ {
		name := fmt.Sprintf("%06d", i)
		err = s.Write(ctx, name, func(tx store.Tx) error {
			return errors.Join(tx.PutEnvironment(store.Environment{Name: name}),
				tx.PutVertices(name, []store.Vertex{{Key: name, Text: strings.Repeat(name, 10_000)}}, nil))
		})
		fmt.Println(name)
	}
	fmt.Println(err)
	os.Exit(1)
}

func TestKill(t *testing.T) {
	t.Parallel()
	self := must.Get(os.Executable())(t)
	path := filepath.Join(t.TempDir(), "state.db")
	written := 0
	for round := range 3 {
		path := fmt.Sprintf("%s%d", path, round)
		c := exec.CommandContext(t.Context(), self)
		c.Env = append(os.Environ(), victim+"="+path)
		out := must.Get(c.StdoutPipe())(t)
		must.Do(t, c.Start())
		last, lines := "", bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			last = lines.Text()
			if n == 20+7*round {
				must.Do(t, c.Process.Kill())
			}
		}
		if err := c.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("process ended with %v after printing %s, want it to be killed", err, last)
		}
		read(t, open(t, path, sqlite.Options{}), func(tx store.Tx) error {
			all, err := tx.Environments()
			if len(all) == 0 || all[len(all)-1].Name < last {
				t.Errorf("committed environment %s is missing from the %d stored ones", last, len(all))
			}
			for i, e := range all {
				v, err := tx.Vertices(e.Name)
				if err != nil || e.Name != fmt.Sprintf("%06d", i) || e.Serial != 1 || len(v) != 1 || len(v[0].Text) != 60_000 {
					t.Errorf("environment %d = %+v with %d vertices, %v, want a complete one", i, e, len(v), err)
				}
			}
			written += len(all)
			return err
		})
	}
	if written < 60 {
		t.Errorf("process committed %d transactions, want at least 60", written)
	}
}
