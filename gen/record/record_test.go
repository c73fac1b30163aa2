package record

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/gen"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func put(t *testing.T, name, content string) {
	t.Helper()
	must.Do(t, os.WriteFile(name, []byte(content), 0o644))
}

// file returns a file whose content depends only on input.
func file(path, input string) gen.File {
	return gen.File{
		Path: path, Input: sha256.Sum256([]byte(input)), Render: func() ([]byte, error) { return []byte("of " + input), nil },
	}
}

// remember opens a record, renders files, and saves the record.
func remember(t *testing.T, s Store, key string, files ...gen.File) {
	t.Helper()
	r := s.Open(key, Digest{})
	r.Watch(files)
	must.Get(gen.Rendered(files))(t)
	if r.Rendered() != len(files) {
		t.Errorf("Rendered = %d, want %d", r.Rendered(), len(files))
	}
	r.Save()
}

// current reports whether the record for key proves that content is current for f.
func current(s Store, key string, input Digest, f gen.File, content string) bool {
	files := []gen.File{f}
	r := s.Open(key, input)
	r.Watch(files)
	return files[0].Current([]byte(content))
}

func TestRecord(t *testing.T) {
	s := Store{Dir: filepath.Join(t.TempDir(), "not", "there", "yet")}
	if current(s, "key", Digest{}, file("a", "x"), "of x") {
		t.Error("Current = true with an empty store, want false")
	}
	remember(t, s, "key", file("a", "x"), file("b", "y"))
	for _, test := range []struct {
		name    string
		key     string
		input   Digest
		file    gen.File
		content string
		want    bool
	}{
		{"same", "key", Digest{}, file("a", "x"), "of x", true},
		{"different key", "other", Digest{}, file("a", "x"), "of x", false},
		{"different input of the output", "key", Digest{1}, file("a", "x"), "of x", false},
		{"different input of the file", "key", Digest{}, file("a", "y"), "of x", false},
		{"different path", "key", Digest{}, file("b", "x"), "of x", false},
		{"different content", "key", Digest{}, file("a", "x"), "of y", false},
	} {
		if got := current(s, test.key, test.input, test.file, test.content); got != test.want {
			t.Errorf("%s: Current = %v, want %v", test.name, got, test.want)
		}
	}
}

func TestSaveReplacesProofs(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	remember(t, s, "key", file("a", "x"), file("b", "y"))
	files := []gen.File{file("a", "x")}
	r := s.Open("key", Digest{})
	r.Watch(files)
	if !files[0].Current([]byte("of x")) || r.Rendered() != 0 {
		t.Error("Current = false or the file was rendered, want true without rendering")
	}
	r.Save()
	if !current(s, "key", Digest{}, file("a", "x"), "of x") || current(s, "key", Digest{}, file("b", "y"), "of y") {
		t.Error("the saved record is missing the proof of the last run or still has older ones")
	}
}

func TestWatchIgnored(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	failure := errors.New("broken")
	failing := file("b", "y")
	failing.Render = func() ([]byte, error) { return nil, failure }
	files := []gen.File{{Path: "a", Content: []byte("a")}, failing}
	r := s.Open("key", Digest{})
	r.Watch(files)
	if files[0].Current != nil || files[0].Render != nil {
		t.Error("Watch changed a file without an Input, want it ignored")
	}
	if _, err := files[1].Render(); !errors.Is(err, failure) {
		t.Errorf("Render error = %v, want %v", err, failure)
	}
	r.Save()
	if entries, err := os.ReadDir(s.Dir); err != nil || len(entries) > 0 {
		t.Errorf("Save of an empty record left %v, %v, want no files", entries, err)
	}
}

// A corrupt record never matches, and the next run repairs it.
func TestCorruptRecord(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	remember(t, s, "key", file("a", "x"))
	name := s.Open("key", Digest{}).name
	whole := must.Get(os.ReadFile(name))(t)
	for i := range whole {
		flipped := slices.Clone(whole)
		flipped[i] ^= 1
		for _, damaged := range [][]byte{whole[:i], flipped} {
			put(t, name, string(damaged))
			if current(s, "key", Digest{}, file("a", "x"), "of x") {
				t.Fatalf("Current = true with a corrupt record, want false: %s", damaged)
			}
		}
	}
	remember(t, s, "key", file("a", "x"))
	if !current(s, "key", Digest{}, file("a", "x"), "of x") {
		t.Error("Current = false after another run, want the record repaired")
	}
}

func TestStoreUnusable(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	put(t, name, "")
	for _, s := range []Store{{}, {Dir: name}, {Dir: filepath.Join(name, "below")}} {
		remember(t, s, "key", file("a", "x"))
		if current(s, "key", Digest{}, file("a", "x"), "of x") {
			t.Errorf("Current = true with the unusable store %q, want false", s.Dir)
		}
	}
}

func TestPrune(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	killed := filepath.Join(s.Dir, "killed.tmp")
	put(t, killed, "")
	old := time.Now().Add(-time.Hour)
	must.Do(t, os.Chtimes(killed, old, old))
	for i := range limit + 20 {
		remember(t, s, fmt.Sprint(i), file("a", "x"))
	}
	entries, err := os.ReadDir(s.Dir)
	if err != nil || len(entries) != limit {
		t.Errorf("store has %d records, %v, want %d", len(entries), err, limit)
	}
	if _, err := os.Stat(killed); err == nil {
		t.Error("Save kept the leftovers of a killed run, want them removed")
	}
	if !current(s, fmt.Sprint(limit+19), Digest{}, file("a", "x"), "of x") {
		t.Error("Current = false with the newest record, want true")
	}
}

func TestConcurrentUse(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for range 100 {
				remember(t, s, "key", file("a", "x"), file("b", fmt.Sprint(i)))
				if !current(s, "key", Digest{}, file("a", "x"), "of x") {
					t.Error("Current = false while other runs save, want true")
				}
			}
		})
	}
	wg.Wait()
}
