package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/sqlite"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// Removing or replacing the files of an open database does not lose data, not even later writes.
func TestLost(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows cannot remove open files")
	}
	t.Parallel()
	for name, test := range map[string]struct {
		lose func(path string) error
		want string
	}{
		"folder": {
			func(path string) error { return os.RemoveAll(filepath.Dir(path)) },
			"PATH was removed while lumi was using it; the state is saved in RESCUE: move it to PATH, and run 'lumi retry'",
		},
		"file": {os.Remove, "PATH was removed while lumi was using it; the state is saved in RESCUE: move it to PATH, and run 'lumi retry'"},
		"replaced": {
			func(path string) error {
				err := errors.Join(os.Remove(path), os.Remove(path+"-wal"), os.Remove(path+"-shm"))
				for _, suffix := range []string{"", "-wal", "-shm"} {
					err = errors.Join(err, os.WriteFile(path+suffix, []byte("other"+suffix), 0o644))
				}
				return err
			},
			"PATH was replaced by another file while lumi was using it; the state is saved in RESCUE: " +
				"replace PATH with it, delete PATH-wal and PATH-shm, and run 'lumi retry'",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			path := filepath.Join(folder, ".lumi", "state.db")
			s := must.Get(sqlite.Open(t.Context(), path, sqlite.Options{Rescue: folder}))(t)
			write(t, s, putEnvironment)
			must.Do(t, test.lose(path))
			for _, text := range []string{"first", "second"} {
				err := s.Write(t.Context(), "dev", func(tx store.Tx) error {
					return tx.PutVertices("dev", []store.Vertex{{Key: text, Text: text}}, nil)
				})
				wantLost(t, err, test.want, path, rescued(t, folder))
				if got := vertices(t, rescued(t, folder)); !strings.HasPrefix(got, "first") {
					t.Errorf("copy after writing %s contains %q, want the first vertex", text, got)
				}
			}
			err := s.Read(t.Context(), func(store.Tx) error { return nil })
			before, _, _ := strings.Cut(test.want, ";")
			wantLost(t, err, before, path, "")
			wantLost(t, s.Close(), test.want, path, rescued(t, folder))
			info, err := os.Stat(rescued(t, folder))
			if err != nil || info.Mode() != 0o600 {
				t.Errorf("Stat(copy) = %v, %v, want mode 0600", info, err)
			}
			if got := vertices(t, rescued(t, folder)); got != "first second " {
				t.Errorf(`final copy contains %q, want "first second "`, got)
			}
			for _, suffix := range []string{"", "-wal", "-shm"} {
				text, err := os.ReadFile(path + suffix)
				if isOther := name == "replaced"; isOther && string(text) != "other"+suffix || !isOther && !os.IsNotExist(err) {
					t.Errorf("%s%s contains %q, %v, want the other file unchanged or no file", path, suffix, text, err)
				}
			}
		})
	}
}

func TestLostWithoutRescue(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows cannot remove open files")
	}
	folder, temporary := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	path := filepath.Join(folder, ".lumi", "state.db")
	s := must.Get(sqlite.Open(t.Context(), path, sqlite.Options{Rescue: folder}))(t)
	write(t, s, putEnvironment)
	must.Do(t, os.RemoveAll(folder))
	wantLost(t, s.Close(), "PATH was removed while lumi was using it; the state is saved in RESCUE: move it to PATH, and run 'lumi retry'",
		path, rescued(t, temporary))
	s = must.Get(sqlite.Open(t.Context(), path, sqlite.Options{Rescue: folder}))(t)
	write(t, s, putEnvironment)
	must.Do(t, errors.Join(os.RemoveAll(folder), os.RemoveAll(temporary)))
	err := s.Close()
	if want := path + " was removed while lumi was using it; the final state cannot be saved: open "; !errors.Is(err, store.ErrLost) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Close() = %v, want prefix %s", err, want)
	}
}

func wantLost(t *testing.T, err error, want, path, rescue string) {
	t.Helper()
	want = strings.NewReplacer("PATH", path, "RESCUE", rescue).Replace(want)
	if !errors.Is(err, store.ErrLost) || err.Error() != want {
		t.Errorf("error = %v\nwant    %s", err, want)
	}
}

// rescued returns the path of the only rescue copy in a folder.
func rescued(t *testing.T, folder string) string {
	t.Helper()
	entries := must.Get(os.ReadDir(folder))(t)
	var files []string
	for _, e := range entries {
		if !e.IsDir() {
			files = append(files, e.Name())
		}
	}
	if len(files) != 1 || !regexp.MustCompile(`^lumi-rescue-\d{8}T\d{6}\.\d{6}Z\.db$`).MatchString(files[0]) {
		t.Fatalf("rescue folder contains %q, want one copy", files)
	}
	return filepath.Join(folder, files[0])
}

// vertices returns the texts of the vertices in a copy of a database. It does not modify the copy.
func vertices(t *testing.T, path string) (texts string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		path = filepath.Join(t.TempDir(), "copy.db")
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	read(t, open(t, path, sqlite.Options{}), func(tx store.Tx) error {
		all, err := tx.Vertices("dev")
		for _, v := range all {
			texts += v.Text + " "
		}
		return err
	})
	return texts
}
