package catalog

import (
	"archive/zip"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lumi-idl/lumi/test/kit/must"
)

// unpack writes files to a folder. Each is given as "-- NAME --" followed by its text.
func unpack(t *testing.T, files string) string {
	t.Helper()
	dir := t.TempDir()
	for _, part := range strings.Split(files, "-- ")[1:] {
		name, text, _ := strings.Cut(part, " --\n")
		file := filepath.Join(dir, filepath.FromSlash(name))
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.Do(t, os.WriteFile(file, []byte(text), 0o644))
	}
	return dir
}

// describe returns a list of the classes and errors of a catalog in which DIR replaces the name of the folder.
func describe(c *Catalog, dir string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(c.Declarations)) {
		fmt.Fprintf(&b, "%s %s\n", name, c.Declarations[name].Tree.Pos)
	}
	for _, e := range c.Errors {
		fmt.Fprintf(&b, "error: %s\n", e)
	}
	return strings.ReplaceAll(b.String(), dir, "DIR")
}

func TestOpen(t *testing.T) {
	const pack = "-- manifest.yaml --\nFullName: io.shop\nType: Library\n"
	for name, test := range map[string]struct{ files, want string }{
		"folder": {
			"-- b/B.yml --\nNamespaces: {=: io.b, a: io.a}\n---\nName: B\nExtends: a:A\n---\nName: a:B\n---\n---\nNamespaces: {=: io.c}\nName: B\n" +
				"-- A.yaml --\nName: io.a.A\n-- .hidden.yaml --\n[\n-- .git/x.yaml --\n[\n-- notes.txt --\n[\n-- empty.yaml --\n",
			"io.a.A DIR/A.yaml:1:1\nio.a.B DIR/b/B.yml:6:1\nio.b.B DIR/b/B.yml:3:1\nio.c.B DIR/b/B.yml:9:1\n",
		},
		"errors": {
			"-- a.yaml --\nName: A\nName: B\nx: !foo 1\n-- b.yaml --\n- 1\n---\nExtends: A\n---\nName: 'x y'\n---\nName: p:B\n---\nNamespaces: {a b: c, =: 'd e'}\nName: C\n" +
				"-- c.yaml --\na: [\n-- d.yaml --\nName: \"\xff\"\n-- e.yaml --\nName: E\nx: &a [*a]\n-- f.yaml --\nName: F\n-- g.yaml --\n---\nName: =:F\n",
			"F DIR/f.yaml:1:1\n" +
				"error: DIR/a.yaml:2:1: duplicate key\nerror: DIR/a.yaml:3:4: unsupported tag !foo\n" +
				"error: DIR/b.yaml:1:1: a class must be a dictionary\n" +
				"error: DIR/b.yaml:5:7: invalid class name \"x y\"\nerror: DIR/b.yaml:7:7: unknown namespace prefix \"p\"\n" +
				"error: DIR/b.yaml:9:14: invalid namespace prefix \"a b\"\nerror: DIR/b.yaml:3:1: a class has no Name\n" +
				"error: DIR/c.yaml:2:1: invalid YAML: did not find expected node content\n" +
				"error: DIR/d.yaml:1:8: invalid UTF-8\nerror: DIR/e.yaml:2:4: aliases expand to more than 100000 values\n" +
				"error: DIR/g.yaml:2:7: class F is declared twice; the other is at DIR/f.yaml:1:7\n",
		},
		"package": {
			pack + "Format: 1.0\nClasses:\n  io.A: a.yaml\n  io.B: a.yaml\n  io.C: sub/c.yaml\n" +
				"-- Classes/a.yaml --\nNamespaces: {=: io}\n---\nExtends: B\n---\nName: B\n-- Classes/sub/c.yaml --\nName: io.C\n---\nName: io.D\n-- Classes/unused.yaml --\n[\n-- UI/ui.yaml --\n[",
			"io.A DIR/Classes/a.yaml:3:1\nio.B DIR/Classes/a.yaml:5:1\nio.C DIR/Classes/sub/c.yaml:1:1\nio.D DIR/Classes/sub/c.yaml:3:1\n",
		},
		"wrong package": {
			"-- manifest.yaml --\nFullName: a..b\nType: Thing\nFormat: Heat.HOT/1.0\nClasses:\n  A: ../a.yaml\n  B: b.yaml\n  C: c.yaml\n  D: d.yaml\n  E: 1\n  F: c.yaml\n" +
				"-- a.yaml --\nName: A\n-- Classes/c.yaml --\nName: X\n-- Classes/d.yaml --\nExtends: A\n---\nExtends: B\n",
			"X DIR/Classes/c.yaml:1:1\n" +
				"error: DIR/manifest.yaml:1:11: FullName must be names joined with periods\nerror: DIR/manifest.yaml:2:7: Type must be Library or Application\n" +
				"error: DIR/manifest.yaml:3:9: unsupported Format Heat.HOT/1.0: it must be MuranoPL/1.0 or later\n" +
				"error: DIR/manifest.yaml:5:6: the file of a class must be a path below Classes\n" +
				"error: DIR/manifest.yaml:6:6: stat Classes/b.yaml: no such file or directory\n" +
				"error: DIR/manifest.yaml:9:6: the file of a class must be a path below Classes\n" +
				"error: DIR/manifest.yaml:7:3: Classes/c.yaml has no class C, and 0 without a name\n" +
				"error: DIR/manifest.yaml:8:3: Classes/d.yaml has no class D, and 2 without a name\n" +
				"error: DIR/manifest.yaml:10:3: Classes/c.yaml has no class F, and 0 without a name\n",
		},
		"empty manifest": {
			"-- manifest.yaml --\n",
			"error: DIR/manifest.yaml: expected one document, got 0\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := unpack(t, test.files)
			c := must.Get(Open(dir))(t)
			if got := describe(c, dir); got != test.want {
				t.Errorf("Open =\n%s, want\n%s", got, test.want)
			}
		})
	}
}

// archive writes a zip archive of entries, given as alternating names and texts.
func archive(t *testing.T, entries ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a.zip")
	f := must.Get(os.Create(name))(t)
	w := zip.NewWriter(f)
	for pair := range slices.Chunk(entries, 2) {
		entry, err := w.Create(pair[0])
		if err == nil {
			_, err = entry.Write([]byte(pair[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	must.Do(t, w.Close())
	must.Do(t, f.Close())
	return name
}

func TestArchive(t *testing.T) {
	manifest := "FullName: a\nType: Library\nClasses: {A: a.yaml, B: ../../b.yaml, C: c.yaml}\n"
	bomb := strings.Repeat(" ", maxFile+1)
	file := archive(t, "manifest.yaml", manifest, "Classes/a.yaml", "Name: A", "../b.yaml", "Name: B", "Classes/c.yaml", bomb)
	c := must.Get(Open(file))(t)
	const want = "A DIR/Classes/a.yaml:1:1\n" +
		"error: DIR/manifest.yaml:3:25: the file of a class must be a path below Classes\n" +
		"error: DIR/manifest.yaml:3:42: Classes/c.yaml is larger than 4 MiB\n"
	if got := describe(c, file); got != want {
		t.Errorf("Open =\n%s, want\n%s", got, want)
	}
	if got := c.Sources[filepath.Join(file, "Classes/a.yaml")]; got != "Name: A" {
		t.Errorf("source of class A = %q, want %q", got, "Name: A")
	}
}

func TestLimits(t *testing.T) {
	full := &Catalog{size: maxTotal}
	full.folder("a", fstest.MapFS{"a.yaml": {Data: []byte("#")}})
	if len(full.Errors) != 1 || full.Errors[0].Error() != "a/a.yaml: a.yaml exceeds the limit of 64 MiB for all files" {
		t.Errorf("errors = %v, want the limit for all files to be exceeded", full.Errors)
	}
	var entries []string
	for i := range maxEntries + 1 {
		entries = append(entries, fmt.Sprintf("%d.txt", i), "")
	}
	c := must.Get(Open(archive(t, entries...)))(t)
	if len(c.Errors) != 1 || c.Errors[0].Message != "more than 10000 files and folders" {
		t.Errorf("errors = %v, want the limit on files and folders to be exceeded", c.Errors)
	}
	for _, src := range []string{strings.Repeat("[", 100_000), "&a {? *a : 1}", "&a [*a, {<<: *a}, *a]"} {
		if _, err := Decode("deep", []byte(src)); err == nil {
			t.Errorf("Decode(%.20s) returned nil, want an error", src)
		}
	}
}

func TestLinks(t *testing.T) {
	dir := unpack(t, "-- x/a.txt --\nName: A\n")
	for name, target := range map[string]string{"a.yaml": "x/a.txt", "b.yaml": "x", "c.yaml": "missing"} {
		must.Do(t, os.Symlink(target, filepath.Join(dir, name)))
	}
	c := must.Get(Open(dir))(t)
	const want = "A DIR/a.yaml:1:1\nerror: DIR/b.yaml: b.yaml is not a regular file\nerror: DIR/c.yaml: stat c.yaml: no such file or directory\n"
	if got := describe(c, dir); got != want {
		t.Errorf("Open =\n%s, want\n%s", got, want)
	}
}

func TestOpenFailure(t *testing.T) {
	if _, err := Open("missing"); !os.IsNotExist(err) {
		t.Errorf("Open of a missing folder = %v, want os.ErrNotExist", err)
	}
	file := filepath.Join(t.TempDir(), "a.zip")
	must.Do(t, os.WriteFile(file, []byte("PK?"), 0o644))
	c, err := Open(file)
	if err != nil || len(c.Errors) != 1 || c.Errors[0].Error() != file+": neither a folder nor a zip archive" {
		t.Errorf("Open of an invalid archive = %v, errors %v, want one error", err, c.Errors)
	}
	must.Do(t, os.WriteFile(file, append([]byte("PK\x05\x06"), make([]byte, 18)...), fs.ModePerm))
	if c, err = Open(file); err != nil || len(c.Errors) != 0 || len(c.Declarations) != 0 {
		t.Errorf("Open of an empty archive = %v, %v, want an empty catalog", c, err)
	}
}

func TestModel(t *testing.T) {
	for src, want := range map[string]string{
		`{"?": {"type": "a.B"}, "s": "\ud83d\ude00", "n": [1, 2.5, 1e3, true, null], "x": "$.x"}`: `{"?": {"type": "a.B"}, "s": "😀", "n": [1 2.5 1000 true null], "x": "$.x"}`,
		"?:\n  type: a:B\nx: $.x +\n  1\ny: '1'\n":                                                `{"?": {"type": "a:B"}, "x": "$.x + 1", "y": "1"}`,
	} {
		n, errs := Model("model", []byte(src))
		if errs != nil {
			t.Errorf("Model(%s): %v", src, errs)
		} else if got := notation(n); got != want {
			t.Errorf("Model(%s) = %s, want %s", src, got, want)
		}
	}
	for src, want := range map[string]string{
		"a: 1\n---\nb: 1": "model: expected one document, got 2",
		"a: !yaql x":      "model:1:4: unsupported tag !yaql",
	} {
		if _, err := Model("model", []byte(src)); err == nil || err.Error() != want {
			t.Errorf("Model(%s) = %v, want error %s", src, err, want)
		}
	}
}
