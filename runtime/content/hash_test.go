package content_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/content"
)

func hashOf(t testing.TB, c lumi.Content) string {
	t.Helper()
	hash, err := content.Hash(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

// The hash must not change, since it is documented and stored in state.
func TestHash(t *testing.T) {
	inFolder(t, map[string]string{"text": "text", "folder/run": "text", "folder/b/c": ""})
	if err := os.Chmod("folder/run", 0o700); err != nil {
		t.Fatal(err)
	}
	sum := func(parts ...string) string {
		s := sha256.Sum256([]byte(strings.Join(parts, "")))
		return string(s[:])
	}
	long := func(n byte) string { return strings.Repeat("\x00", 7) + string(n) }
	for _, test := range []struct {
		name string
		c    lumi.Content
		want string
	}{
		{"a text", lumi.TextAsset("text"), sum("text")},
		{"a file", lumi.FileAsset("text"), sum("text")},
		{"an executable file", lumi.FileAsset("folder/run"), sum("text")},
		{"a folder", lumi.FileArchive("folder"),
			sum(long(3), "b/c", "\x00", sum(""), long(3), "run", "\x01", sum("text"))},
		{"nothing", lumi.AssetArchive(nil), sum()},
	} {
		if got, want := hashOf(t, test.c), hex.EncodeToString([]byte(test.want)); got != want {
			t.Errorf("Hash of %s = %s, want %s", test.name, got, want)
		}
	}
	for _, c := range []lumi.Content{nil, lumi.Asset{}, lumi.Archive{}} {
		_, err := content.Hash(t.Context(), c)
		if err == nil || err.Error() != "no content: the asset or archive is absent" {
			t.Errorf("Hash(%#v) error = %v, want no content", c, err)
		}
	}
}

// forms returns archives by format, all with the same files but in different orders and with different times. It also
// returns the files by name.
func forms(t *testing.T, folder string, draw *rapid.T) (map[string]lumi.Archive, map[string]entry) {
	part := rapid.StringMatching(`[a-c]{1,2}(\.|-[é!])?`)
	files := map[string]entry{}
	for _, name := range rapid.SliceOfN(rapid.SliceOfN(part, 1, 3), 0, 8).Draw(draw, "names") {
		e := entry{
			name: strings.Join(name, "/"), data: rapid.StringN(0, 2000, -1).Draw(draw, "data"),
			executable: rapid.Bool().Draw(draw, "executable"),
		}
		if fits(files, e.name) {
			files[e.name] = e
		}
	}
	names := slices.Sorted(maps.Keys(files))
	shuffled := func(label string) []entry {
		var entries []entry
		for _, name := range rapid.Permutation(names).Draw(draw, label) {
			entries = append(entries, files[name])
		}
		return entries
	}
	root := filepath.Join(folder, "folder")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	assets, nested := map[string]lumi.Content{}, map[string]lumi.Content{}
	for i, name := range names {
		write(t, root, map[string]string{name: files[name].data})
		path := filepath.Join(root, name)
		if err := os.Chmod(path, os.FileMode(files[name].perm())); err != nil {
			t.Fatal(err)
		}
		then := time.Unix(int64(i)*1e6, 0)
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
		assets[name] = lumi.FileAsset(path)
		if top, _, below := strings.Cut(name, "/"); below {
			nested[top] = lumi.FileArchive(filepath.Join(root, top))
		} else {
			nested[top] = lumi.FileAsset(path)
		}
	}
	tarFile := makeTar(t, shuffled("tar")...)
	write(t, folder, map[string]string{
		"zip": string(makeZip(t, shuffled("zip")...)), "tar": string(tarFile), "tgz": string(compress(t, tarFile)),
	})
	return map[string]lumi.Archive{
		"folder": lumi.FileArchive(root), "zip": lumi.FileArchive(filepath.Join(folder, "zip")),
		"tar": lumi.FileArchive(filepath.Join(folder, "tar")), "tgz": lumi.FileArchive(filepath.Join(folder, "tgz")),
		"assets": lumi.AssetArchive(assets), "nested": lumi.AssetArchive(nested),
	}, files
}

// fits reports whether a file of the given name can be added to files without a collision.
func fits(files map[string]entry, name string) bool {
	for other := range files {
		if other == name || strings.HasPrefix(other, name+"/") || strings.HasPrefix(name, other+"/") {
			return false
		}
	}
	return true
}

// Archives of the same files have the same hash and zip file in every format. Changing any file changes the hash.
func TestHashFormats(t *testing.T) {
	if testing.Short() {
		t.Skip("writes hundreds of archives")
	}
	folder := t.TempDir()
	path := filepath.Join(folder, "changed.zip")
	rapid.Check(t, func(draw *rapid.T) {
		root := filepath.Join(folder, "forms")
		if err := errors.Join(os.RemoveAll(root), os.Mkdir(root, 0o755)); err != nil {
			draw.Fatal(err)
		}
		archives, files := forms(t, root, draw)
		hash, zipped := hashOf(t, archives["folder"]), zipOf(t, archives["folder"])
		for name, a := range archives {
			if got := hashOf(t, a); got != hash {
				draw.Errorf("Hash of %s = %s, want %s, the folder's", name, got, hash)
			}
			if got := zipOf(t, a); !bytes.Equal(got, zipped) {
				draw.Errorf("WriteZip of %s differs from the folder's, want the same bytes", name)
			}
		}
		checkZip(draw, zipped, files)
		seen := map[string]string{hash: "as they were"}
		for name, e := range files {
			for what, other := range map[string]entry{
				"longer":     {name: e.name, data: e.data + "x", executable: e.executable},
				"executable": {name: e.name, data: e.data, executable: !e.executable},
				"renamed":    {name: e.name + "x", data: e.data, executable: e.executable},
				"gone":       {},
			} {
				changed := maps.Clone(files)
				delete(changed, name)
				if other.name != "" {
					changed[other.name] = other
				}
				if err := os.WriteFile(path, makeZip(t, slices.Collect(maps.Values(changed))...), 0o600); err != nil {
					draw.Fatal(err)
				}
				got, what := hashOf(t, lumi.FileArchive(path)), name+" "+what
				if before, ok := seen[got]; ok {
					draw.Errorf("files with %s and with %s have the same hash, want different ones", before, what)
				}
				seen[got] = what
			}
		}
	})
}

func zipOf(t *testing.T, a lumi.Archive) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := content.WriteZip(t.Context(), &out, a); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// checkZip checks that a zip file contains the given files, using the standard library.
func checkZip(t *rapid.T, data []byte, files map[string]entry) {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range archive.File {
		names = append(names, f.Name)
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		want := files[f.Name]
		if string(got) != want.data || f.Mode() != os.FileMode(want.perm()) {
			t.Errorf("%s in the zip file has mode %v, content %q, want %v, %q", f.Name, f.Mode(), got, os.FileMode(want.perm()), want.data)
		}
		if y, m, d := f.Modified.Date(); y != 1980 || m != 1 || d != 1 {
			t.Errorf("%s in the zip file has time %v, want 1980-01-01", f.Name, f.Modified)
		}
	}
	if want := slices.Sorted(maps.Keys(files)); !slices.Equal(names, want) {
		t.Errorf("names in the zip file = %q, want %q", names, want)
	}
}

// failing is a writer whose Write always fails.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWriteZipErrors(t *testing.T) {
	folder := inFolder(t, map[string]string{"a/b": "x"})
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	for _, test := range []struct {
		out  io.Writer
		a    lumi.Archive
		want string
	}{
		{io.Discard, lumi.FileArchive("x"), `"x": no such file in "` + folder + `"`},
		{failing{}, lumi.FileArchive("a"), "io: read/write on closed pipe"},
	} {
		if err := content.WriteZip(t.Context(), test.out, test.a); err == nil || err.Error() != test.want {
			t.Errorf("WriteZip error = %v, want %s", err, test.want)
		}
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("ReadDir(temp) = %v, %v, want no temporary files", left, err)
	}
	t.Setenv("TMPDIR", temp+"/none")
	err := content.WriteZip(t.Context(), io.Discard, lumi.FileArchive("a"))
	if err == nil || !strings.HasPrefix(err.Error(), "cannot create a temporary file: open "+temp+"/none/lumi-content-") {
		t.Errorf("WriteZip error = %v, want a missing temporary folder", err)
	}
}
