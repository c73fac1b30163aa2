package content_test

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/content"
)

// For any input, names are normalized and unique, sizes are correct, and errors name the file.
func FuzzWalk(f *testing.F) {
	entries := []entry{{name: "a/b", data: "text"}, {name: "c", data: strings.Repeat("x", 1000), executable: true}}
	tarFile := makeTar(f, entries...)
	links := makeTar(f, entry{name: "a", kind: tar.TypeSymlink}, entry{name: strings.Repeat("long/", 50), kind: tar.TypeDir})
	for _, seed := range [][]byte{
		nil, []byte("text"), tarFile, compress(f, tarFile), makeZip(f, entries...), links, makeZip(f, entry{name: "../a"}),
		tarFile[:600], compress(f, tarFile)[:40], make([]byte, 1024), make([]byte, 512),
	} {
		f.Add(seed)
	}
	path := filepath.Join(f.TempDir(), "x")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		err := content.Walk(t.Context(), lumi.FileArchive(path), func(file content.File) error {
			if !filepath.IsLocal(file.Name) || seen[file.Name] || file.Size < 0 || strings.ContainsAny(file.Name, "\\\x00") {
				t.Errorf("Walk visited an invalid or duplicate file: name %q, size %d", file.Name, file.Size)
			}
			seen[file.Name] = true
			const most = 1 << 20 // Small inputs can unpack to huge files.
			if n, err := io.CopyN(io.Discard, file.Content, most); errors.Is(err, io.EOF) && n != file.Size {
				t.Errorf("content of %q has %d bytes, want %d", file.Name, n, file.Size)
			} else if err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			return nil
		})
		if err != nil && !strings.HasPrefix(err.Error(), `"`+path+`": `) {
			t.Errorf("Walk error = %v, want it to name the file", err)
		}
	})
}
