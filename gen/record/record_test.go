package record

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/gen"
)

func put(t *testing.T, dir, name, content string) {
	t.Helper()
	name = filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// written is what an update says of a file that it writes.
func written(name, content string) []gen.Change {
	return []gen.Change{{File: gen.File{Path: name, Content: []byte(content)}}}
}

// TestLook holds which changes of a folder make another state, and that Put and Remove foresee them.
func TestLook(t *testing.T) {
	root := t.TempDir()
	put(t, root, "ec2/a.ts", "a")
	put(t, root, "notes.md", "n")
	put(t, root, "node_modules/b.ts", "b")
	put(t, root, ".git/c.ts", "c")
	changes := []struct {
		what  string
		do    func(s Digests)
		other bool
	}{
		{"nothing", func(Digests) {}, false},
		{"a dependency", func(Digests) { put(t, root, "node_modules/b.ts", "B") }, false},
		{"a hidden folder", func(Digests) { put(t, root, ".git/d.ts", "d") }, false},
		{"another kind of file", func(s Digests) { put(t, root, "notes.md", "N"); s.Apply(written("notes.md", "N")) }, true},
		{"a changed file", func(s Digests) { put(t, root, "ec2/a.ts", "A"); s.Apply(written("ec2/a.ts", "A")) }, true},
		{"a new file", func(s Digests) { put(t, root, "e.go", "e"); s.Apply(written("e.go", "e")) }, true},
		{"a new name", func(s Digests) { put(t, root, "x.json", "x"); s.Apply(written("x.json", "x")) }, true},
		{"a hidden file", func(s Digests) { put(t, root, ".cidlc-A.tmp", ""); s.Apply(written(".cidlc-A.tmp", "")) }, true},
		{"a removed file", func(s Digests) {
			if err := os.Remove(filepath.Join(root, "e.go")); err != nil {
				t.Fatal(err)
			}
			s.Apply([]gen.Change{{File: gen.File{Path: "e.go"}, Remove: true}})
		}, true},
	}
	for _, change := range changes {
		foreseen := Look(root)
		before := foreseen.digest()
		change.do(foreseen)
		after := Look(root).digest()
		if (after != before) != change.other {
			t.Errorf("%s: another state: %v, want %v", change.what, after != before, change.other)
		}
		if foreseen.digest() != after {
			t.Errorf("%s: the state is not the one that was foreseen", change.what)
		}
	}

	// A link in the place of a file is another state, whatever it leads to.
	before := Look(root).digest()
	name := filepath.Join(root, "ec2", "a.ts")
	if err := os.Rename(name, filepath.Join(t.TempDir(), "a.ts")); err != nil {
		t.Fatal(err)
	}
	put(t, root, "node_modules/a.ts", "A")
	if err := os.Symlink(filepath.Join(root, "node_modules", "a.ts"), name); err != nil {
		t.Fatal(err)
	}
	if Look(root).digest() == before {
		t.Error("a link is taken for the file that it leads to")
	}
	put(t, root, "node_modules/a.ts", "other")
	linked := Look(root).digest()
	put(t, root, "node_modules/a.ts", "another")
	if Look(root).digest() == linked {
		t.Error("the content behind a link does not count")
	}
}

func TestStore(t *testing.T) {
	s := Store{Dir: filepath.Join(t.TempDir(), "not", "there", "yet")}
	input, state := sum([]byte("input")), Look(t.TempDir())
	if _, ok := s.Current("key", input, state); ok {
		t.Error("an empty store knows something")
	}
	s.Remember("key", input, state, 7)
	if files, ok := s.Current("key", input, state); !ok || files != 7 {
		t.Errorf("what was remembered is %d files, %v", files, ok)
	}
	if _, ok := s.Current("other key", input, state); ok {
		t.Error("the key does not count")
	}
	if _, ok := s.Current("key", sum([]byte("other")), state); ok {
		t.Error("the input does not count")
	}
	other := Digests{}
	other.Apply(written("a.ts", ""))
	if _, ok := s.Current("key", input, other); ok {
		t.Error("the state does not count")
	}
	if _, ok := s.Current("key", input, nil); ok {
		t.Error("a folder that could not be looked at is current")
	}
	s.Remember("key", input, other, 8)
	if _, ok := s.Current("key", input, state); ok {
		t.Error("the old state is still current")
	}
}

// TestDamage holds that no damaged record counts, and that the next one replaces it.
func TestDamage(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	input, state := sum([]byte("input")), Digests{}
	s.Remember("key", input, state, 3)
	whole, err := os.ReadFile(s.file("key"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		flipped := slices.Clone(whole)
		flipped[i] ^= 1
		for _, damaged := range [][]byte{whole[:i], flipped} {
			if err := os.WriteFile(s.file("key"), damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, ok := s.Current("key", input, state); ok {
				t.Fatalf("a damaged record counts: %s", damaged)
			}
		}
	}
	s.Remember("key", input, state, 3)
	if _, ok := s.Current("key", input, state); !ok {
		t.Error("a damaged record stays")
	}
}

func TestNowhere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	put(t, filepath.Dir(file), "file", "")
	for _, s := range []Store{{}, {Dir: file}, {Dir: filepath.Join(file, "below")}} {
		s.Remember("key", Digest{}, Digests{}, 1)
		if _, ok := s.Current("key", Digest{}, Digests{}); ok {
			t.Errorf("%q remembers something", s.Dir)
		}
	}
}

// TestBounded holds that the store does not grow for ever, and that the newest records stay.
func TestBounded(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	put(t, s.Dir, "killed.tmp", "")
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(s.Dir, "killed.tmp"), old, old); err != nil {
		t.Fatal(err)
	}
	for i := range limit + 20 {
		s.Remember(fmt.Sprint(i), Digest{}, Digests{}, i)
	}
	entries, err := os.ReadDir(s.Dir)
	if err != nil || len(entries) != limit {
		t.Errorf("there are %d records, %v, want %d", len(entries), err, limit)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, "killed.tmp")); err == nil {
		t.Error("what a killed run left is still there")
	}
	if _, ok := s.Current(fmt.Sprint(limit+19), Digest{}, Digests{}); !ok {
		t.Error("the newest record is gone")
	}
}

// TestConcurrent holds that two processes that write one record leave one of both.
func TestConcurrent(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for range 100 {
				s.Remember("key", Digest{}, Digests{}, i)
				if _, ok := s.Current("key", Digest{}, Digests{}); !ok {
					t.Error("there is no whole record")
				}
			}
		})
	}
	wg.Wait()
}
