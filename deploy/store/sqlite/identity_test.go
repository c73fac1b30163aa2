package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/sqlite"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// A copy can be read, but not written until it is adopted. The original is not affected.
func TestCopies(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("files have no numbers")
	}
	for name, duplicate := range map[string]func(t *testing.T, from, to string){
		"cp": func(t *testing.T, from, to string) {
			must.Do(t, os.WriteFile(to, must.Get(os.ReadFile(from))(t), 0o600))
		},
		"backup": func(t *testing.T, from, to string) {
			s := open(t, from, sqlite.Options{})
			must.Do(t, s.Backup(t.Context(), to))
			must.Do(t, s.Close())
		},
		"a restored backup": func(t *testing.T, from, to string) { // in place, so the file's identity stays
			must.Do(t, os.Link(from, to))
			s := open(t, from, sqlite.Options{})
			must.Do(t, s.Backup(t.Context(), from+".backup"))
			must.Do(t, s.Close())
			must.Do(t, os.WriteFile(to, must.Get(os.ReadFile(from+".backup"))(t), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from := database(t)
			to := filepath.Join(t.TempDir(), "state.db")
			duplicate(t, from, to)
			s := open(t, to, sqlite.Options{})
			read(t, s, func(tx store.Tx) error {
				_, err := tx.Environment("dev")
				return err
			})
			want := to + " is a copy of a state or was restored from a backup, so it can only be read: if nothing uses the original, " +
				"run 'lumi state adopt'"
			err := s.Write(t.Context(), "dev", putEnvironment)
			wantError(t, err, want)
			wantError(t, s.Copied(), want)
			if !errors.Is(err, store.ErrCopied) {
				t.Errorf("%v does not wrap ErrCopied", err)
			}
			failure := errors.New("failure")
			if err := s.Adopt(t.Context(), func(store.Tx) error { return failure }); !errors.Is(err, failure) {
				t.Errorf("Adopt = %v, want the error of f", err)
			}
			wantError(t, s.Copied(), want)
			must.Do(t, s.Adopt(t.Context(), putEnvironment))
			write(t, s, putEnvironment)
			must.Do(t, s.Close())
			write(t, open(t, to, sqlite.Options{}), putEnvironment)
			if name != "a restored backup" {
				write(t, open(t, from, sqlite.Options{}), putEnvironment)
			}
		})
	}
}

// Moving a file, vacuuming it, and opening it in two processes at once do not make it a copy.
func TestMoved(t *testing.T) {
	t.Parallel()
	from := database(t)
	to := filepath.Join(filepath.Dir(from), "moved.db")
	must.Do(t, os.Rename(from, to))
	a, b := open(t, to, sqlite.Options{}), open(t, to, sqlite.Options{})
	for _, s := range []*sqlite.Store{a, b, a} {
		write(t, s, putEnvironment)
		must.Do(t, s.Copied())
	}
}

// A process that has opened a copy can write to it as soon as another process has adopted it.
func TestAdoptedElsewhere(t *testing.T) {
	t.Parallel()
	to := filepath.Join(t.TempDir(), "state.db")
	original := open(t, database(t), sqlite.Options{})
	must.Do(t, original.Backup(t.Context(), to))
	waiting, adopting := open(t, to, sqlite.Options{}), open(t, to, sqlite.Options{})
	if err := waiting.Write(t.Context(), "dev", putEnvironment); !errors.Is(err, store.ErrCopied) {
		t.Errorf("Write = %v, want ErrCopied", err)
	}
	must.Do(t, adopting.Adopt(t.Context(), putEnvironment))
	write(t, waiting, putEnvironment)
	must.Do(t, waiting.Copied())
}
