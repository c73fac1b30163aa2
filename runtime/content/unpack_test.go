package content_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/content"
)

// sparse returns a tar file with a sparse file of the given size.
func sparse(t *testing.T, size int64) []byte {
	t.Helper()
	const data, checksum, kind, segments, realSize = 512, 148, 156, 386, 483
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	if err := w.WriteHeader(&tar.Header{Name: "holes", Size: data, Mode: 0o644, Format: tar.FormatGNU}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, data)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file := out.Bytes()
	file[kind] = tar.TypeGNUSparse
	copy(file[segments:], fmt.Sprintf("%011o\x00%011o\x00", 0, data))
	copy(file[realSize:], fmt.Sprintf("%011o\x00", size))
	copy(file[checksum:], "        ")
	sum := 0
	for _, b := range file[:512] {
		sum += int(b)
	}
	copy(file[checksum:], fmt.Sprintf("%06o\x00 ", sum))
	return file
}

// Zip bombs are rejected, but other files with a high compression ratio are accepted.
func TestUnpackLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("unpacks large archives")
	}
	const (
		size     = 1 << 20
		tooLarge = "unpacks to more than 1 MiB and 100 times its size, the limit for archive files; unpack it and use the" +
			" folder instead"
	)
	content.LimitUnpacking(t, size, 100, 20<<10)
	zeros := strings.Repeat("\x00", size)
	incompressible := make([]byte, 2*size)
	if _, err := io.ReadFull(random(), incompressible); err != nil {
		t.Fatal(err)
	}
	plain := makeTar(t, entry{name: "a", data: zeros + zeros})
	many := []entry{}
	for i := range 1000 {
		many = append(many, entry{name: fmt.Sprint(i)})
	}
	for name, test := range map[string]struct {
		data []byte
		want string // "" if accepted
	}{
		"compressed zeros":        {compress(t, plain), tooLarge},
		"compressed zeros at end": {compress(t, append(makeTar(t), zeros+zeros...)), expectedTar + onlyZeros},
		"zeros after the end":     {compress(t, append(makeTar(t, entry{name: "a"}), zeros+zeros...)), tooLarge},
		"many files": {
			compress(t, makeTar(t, entry{name: "a", data: zeros}, entry{name: "b", data: zeros})), tooLarge,
		},
		"a file with holes":          {sparse(t, 2*size), tooLarge},
		"compressed holes":           {compress(t, sparse(t, 2*size)), tooLarge},
		"a zip file":                 {makeZip(t, entry{name: "a", data: zeros + zeros}), tooLarge},
		"a zip file of two":          {makeZip(t, entry{name: "a", data: zeros}, entry{name: "b", data: zeros}), tooLarge},
		"a zip file with wrong size": {sized(t, 1<<62), tooLarge},
		"a list of many files": {
			makeZip(t, many...), "contains too many files: its directory is larger than 20 KiB",
		},
		"uncompressed":   {plain, ""},
		"incompressible": {compress(t, makeTar(t, entry{name: "a", data: string(incompressible)})), ""},
		"small":          {compress(t, makeTar(t, entry{name: "a", data: zeros[:size/2]})), ""},
		"a small zip":    {makeZip(t, entry{name: "a", data: zeros}), ""},
		"small holes":    {sparse(t, size), ""},
	} {
		t.Run(name, func(t *testing.T) {
			inFolder(t, map[string]string{"x": string(test.data)})
			address := serve(t, map[string]string{"/x": string(test.data)})
			for where, a := range map[string]lumi.Archive{
				"x": lumi.FileArchive("x"), address + "/x": lumi.URIArchive(address + "/x"),
			} {
				for _, read := range []bool{true, false} {
					err := content.Walk(t.Context(), a, func(f content.File) error {
						if !read {
							return nil
						}
						_, err := io.Copy(io.Discard, f.Content)
						return err
					})
					if !read && strings.Contains(name, "hole") {
						continue // Holes are harmless unless read.
					}
					got, want := fmt.Sprint(err), `"`+where+`": `+test.want
					if test.want == "" {
						want = "<nil>"
					}
					if got != want {
						t.Errorf("Walk with read %v:\ngot  %s\nwant %s", read, got, want)
					}
				}
			}
		})
	}
}
