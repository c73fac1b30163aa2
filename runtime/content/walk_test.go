package content_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/content"
)

// entry is a file to put into an archive.
type entry struct {
	name, data string
	kind       byte // the type flag in a tar file, or 0 for a regular file
	executable bool
}

func (e entry) perm() int64 {
	if e.executable {
		return 0o755
	}
	return 0o644
}

func makeTar(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		kind := e.kind
		if kind == 0 {
			kind = tar.TypeReg
		}
		h := &tar.Header{Name: e.name, Typeflag: kind, Mode: e.perm(), Size: int64(len(e.data))}
		switch kind {
		case tar.TypeLink, tar.TypeSymlink:
			h.Linkname, h.Size = "a", 0
		case tar.TypeXGlobalHeader:
			h = &tar.Header{Typeflag: kind, PAXRecords: map[string]string{"comment": "x"}}
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := io.WriteString(w, e.data); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func compress(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func makeZip(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		mode := os.FileMode(e.perm())
		if e.kind == tar.TypeSymlink {
			mode |= os.ModeSymlink
		}
		h.SetMode(mode)
		entry, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(entry, e.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// changed returns data with all occurrences of old replaced.
func changed(data []byte, old, now string) []byte {
	return bytes.ReplaceAll(data, []byte(old), []byte(now))
}

// list returns one line for each file in an archive, or "error: " followed by the error.
func list(t testing.TB, a lumi.Archive) string {
	t.Helper()
	var out strings.Builder
	err := content.Walk(t.Context(), a, func(f content.File) error {
		data, err := io.ReadAll(f.Content)
		if err != nil {
			return err
		}
		if f.Size != int64(len(data)) {
			return fmt.Errorf("%s: got %d bytes, want %d", f.Name, len(data), f.Size)
		}
		fmt.Fprintf(&out, "%s=%s", f.Name, data)
		if f.Executable {
			out.WriteString(" x")
		}
		out.WriteString("\n")
		return nil
	})
	if err != nil {
		return "error: " + err.Error()
	}
	return out.String()
}

func TestWalk(t *testing.T) {
	entries := []entry{
		{name: "./"}, {name: "./dir/", kind: tar.TypeDir}, {name: "./dir/b", data: "2"},
		{name: "dir.txt", data: "3"}, {name: "run", data: "1", executable: true}, {name: "empty/", kind: tar.TypeDir},
	}
	entries[0].kind = tar.TypeDir
	inOrder := "dir.txt=3\ndir/b=2\nrun=1 x\n"
	asInTar := "dir/b=2\ndir.txt=3\nrun=1 x\n"
	tarFile, zipFile := makeTar(t, append(entries, entry{kind: tar.TypeXGlobalHeader})...), makeZip(t, entries...)
	files := map[string]string{
		"in.tar": string(tarFile), "in.tgz": string(compress(t, tarFile)), "in.zip": string(zipFile),
		"misleading.zip": string(tarFile), "none.tar": string(makeTar(t)), "none.zip": string(makeZip(t)),
		"record.tar": zeroBytes(10240), "record.tgz": string(compress(t, []byte(zeroBytes(10240)))),
		"folder/dir/b": "2", "folder/dir.txt": "3", "folder/run": "1",
	}
	folder := inFolder(t, files)
	if err := os.Chmod("folder/run", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("folder", "link"); err != nil {
		t.Fatal(err)
	}
	remote := map[string]string{}
	for name, data := range files {
		remote["/"+name] = data
	}
	address := serve(t, remote)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)

	for _, test := range []struct {
		name string
		a    lumi.Archive
		want string
	}{
		{"a folder", lumi.FileArchive("folder"), inOrder},
		{"a link to a folder", lumi.FileArchive("link"), inOrder},
		{"a folder with a file: URI", lumi.URIArchive("file://" + folder + "/folder"), inOrder},
		{"a zip file", lumi.FileArchive("in.zip"), inOrder},
		{"a zip file with a file: URI", lumi.URIArchive("file://" + folder + "/in.zip"), inOrder},
		{"a zip file behind an address", lumi.URIArchive(address + "/in.zip"), inOrder},
		{"a tar file", lumi.FileArchive("in.tar"), asInTar},
		{"a tar file behind an address", lumi.URIArchive(address + "/in.tar"), asInTar},
		{"a compressed tar file", lumi.FileArchive("in.tgz"), asInTar},
		{"a compressed tar file behind an address", lumi.URIArchive(address + "/in.tgz"), asInTar},
		{"a tar file with a misleading name", lumi.FileArchive("misleading.zip"), asInTar},
		{"a zip file of nothing", lumi.FileArchive("none.zip"), ""},
		{"a tar file of nothing", lumi.FileArchive("none.tar"), ""},
		{"a tar file of nothing as tar writes it", lumi.FileArchive("record.tar"), ""},
		{"a tar file of nothing as tar writes it, compressed", lumi.FileArchive("record.tgz"), ""},
		{"assets", lumi.AssetArchive(map[string]lumi.Content{
			"z": lumi.TextAsset("text"), "./d": lumi.FileAsset("folder/run"), "d.d": lumi.URIAsset(address + "/folder/run"),
			"e": lumi.FileArchive("folder"), "e.e": lumi.TextAsset(""), "e/new": lumi.TextAsset("4"),
			"f/g": lumi.AssetArchive(map[string]lumi.Content{"h": lumi.FileArchive("none.zip"), "i": lumi.TextAsset("5")}),
		}), "d=1 x\nd.d=1\ne.e=\ne/dir.txt=3\ne/dir/b=2\ne/run=1 x\ne/new=4\nf/g/i=5\nz=text\n"},
		{"no assets", lumi.AssetArchive(nil), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := list(t, test.a); got != test.want {
				t.Errorf("Walk =\n%s\nwant\n%s", got, test.want)
			}
		})
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("ReadDir(temp) = %v, %v, want no temporary files", left, err)
	}
}

// Errors contain the names of unsupported and unreadable entries.
func TestWalkErrors(t *testing.T) {
	one := makeTar(t, entry{name: "a", data: strings.Repeat("x", 600)})
	random := make([]byte, 3000)
	for i := range random {
		random[i] = byte(i * i >> 3)
	}
	tests := []struct {
		name string
		data []byte
		want string // the part of the error after the path
	}{
		{"text", []byte("text"), expected + "text/plain data"},
		{"a page", []byte("<!DOCTYPE html><title>Sign in</title>"), expected + "text/html data"},
		{"empty", nil, expected + "an empty file"},
		{"long, and no archive", random, expected + "data of an unknown format"},
		{"xz", []byte("\xfd7zXZ\x00"), expected + "an xz file"},
		{"bzip2", []byte("BZh91AY"), expected + "a bzip2 file"},
		{"zstd", []byte("\x28\xb5\x2f\xfd"), expected + "a zstd file"},
		{"7-Zip", []byte("7z\xbc\xaf\x27\x1c"), expected + "a 7-Zip file"},
		{"zeros", make([]byte, 1<<20), expected + onlyZeros},
		{"one block of zeros", make([]byte, 512), expected + onlyZeros},
		{"more than a record of zeros", make([]byte, 10752), expected + onlyZeros},
		{"no whole number of blocks of zeros", make([]byte, 1025), expected + onlyZeros},
		{"few zeros", make([]byte, 5), expected + onlyZeros},
		{"a disk image", append(make([]byte, 2048), "data"...), expected + onlyZeros},
		{"zeros and a tar file", append(make([]byte, 1024), one...), expected + onlyZeros},
		{"compressed text", compress(t, []byte("text")), expectedTar + "text/plain data"},
		{"compressed twice", compress(t, compress(t, one)), expectedTar + "a gzip file"},
		{"compressed zip", compress(t, makeZip(t)), expectedTar + "a zip file"},
		{"compressed zeros", compress(t, make([]byte, 1<<20)), expectedTar + onlyZeros},
		{"nothing compressed", compress(t, nil), expectedTar + "an empty file"},
		{"zeros cut off", compress(t, make([]byte, 1024))[:30], "is cut off"},
		{"cut off before its end", one[:len(one)-1024], "is cut off"},
		{"cut off in a file", one[:1000], `"a": is cut off`},
		{"cut off between", makeTar(t, entry{name: "a"}, entry{name: "b"})[:700], "is cut off"},
		{"cut off when compressed", compress(t, one)[:40], "is cut off"},
		{"cut off at the checksum", compress(t, one)[:len(compress(t, one))-4], "is cut off"},
		{"a checksum of what was compressed", wrongChecksum(compress(t, one)), "is damaged: gzip: invalid checksum"},
		{"only the start of gzip", []byte{0x1f, 0x8b}, "is cut off"},
		{"damaged tar", changed(makeTar(t, entry{name: "a"}, entry{name: "b"}), "b\x00\x00\x00", "c\x00\x00\x00"),
			"is damaged: archive/tar: invalid tar header"},
		{"cut off zip", makeZip(t, entry{name: "a"})[:20], "is damaged: zip: not a valid zip file"},
		{"only the start of zip", []byte("PK\x03\x04"), "is damaged: zip: not a valid zip file"},
		{"damaged zip", changedCRC(t), `"a": is damaged: zip: checksum error`},
		{"a size that is too small", sized(t, 3), `"a": is damaged: zip: not a valid zip file`},
		{"a size that is too large", sized(t, 12), `"a": is cut off`},
		{"a size out of range", sized(t, 1<<63), `"a": is damaged: its size is out of range`},
		{"encrypted zip", flagged(t), `"a": is encrypted`},
		{"another compression", method(t), `"a": is compressed with a method other than deflate`},

		{"twice in tar", makeTar(t, entry{name: "a"}, entry{name: "./a"}), `"a": appears twice in the archive`},
		{"twice in zip", makeZip(t, entry{name: "a"}, entry{name: "a"}), `"a": appears twice in the archive`},
		{"file and folder", makeTar(t, entry{name: "a"}, entry{name: "a/b/c"}),
			`"a": is both a file and a folder in the archive`},
		{"folder and file", makeZip(t, entry{name: "a/b/c"}, entry{name: "a/b"}),
			`"a/b": is both a file and a folder in the archive`},
		{"empty folder and file", makeZip(t, entry{name: "a/"}, entry{name: "a"}),
			`"a": is both a file and a folder in the archive`},
		{"file and empty folder", makeTar(t, entry{name: "a"}, entry{name: "a/", kind: tar.TypeDir}),
			`"a": is both a file and a folder in the archive`},
		{"symbolic link", makeTar(t, entry{name: "l", kind: tar.TypeSymlink}),
			`"l": is a symbolic link; archives may contain only files and folders`},
		{"symbolic link in zip", makeZip(t, entry{name: "l", data: "a", kind: tar.TypeSymlink}),
			`"l": is a symbolic link; archives may contain only files and folders`},
		{"hard link", makeTar(t, entry{name: "a"}, entry{name: "l", kind: tar.TypeLink}),
			`"l": is a hard link; archives may contain only files and folders`},
		{"device", makeTar(t, entry{name: "d", kind: tar.TypeBlock}),
			`"d": is a device; archives may contain only files and folders`},
		{"terminal", makeTar(t, entry{name: "d", kind: tar.TypeChar}),
			`"d": is a device; archives may contain only files and folders`},
		{"named pipe", makeTar(t, entry{name: "p", kind: tar.TypeFifo}),
			`"p": is a named pipe; archives may contain only files and folders`},
	}
	for _, bad := range badNames {
		want := strings.TrimPrefix(bad.want, "$") // The prefix applies only to tar files.
		tests = append(tests, struct {
			name string
			data []byte
			want string
		}{"zip: " + bad.want, makeZip(t, entry{name: bad.name}), want})
		if want == bad.want {
			tests = append(tests, struct {
				name string
				data []byte
				want string
			}{"tar: " + bad.want, makeTar(t, entry{name: bad.name}), want})
		}
	}
	inFolder(t, nil)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			write(t, ".", map[string]string{"x": string(test.data)})
			if got, want := list(t, lumi.FileArchive("x")), `error: "x": `+test.want; got != want {
				t.Errorf("Walk =\n%s\nwant\n%s", got, want)
			}
		})
	}
}

const (
	expected    = "expected a folder or a .zip, .tar or .tar.gz file, found "
	expectedTar = "expected a gzipped .tar file, found "
	onlyZeros   = "a file that starts with zeros (an empty .tar file is 1024 to 10240 zeros)"
)

func zeroBytes(n int) string { return string(make([]byte, n)) }

const cannot = ": is not a valid name in an archive: "

// badNames lists names that are invalid in any archive. A $ marks names that tar files cannot contain.
var badNames = []struct{ name, want string }{
	{"", `$""` + cannot + `it is empty`},
	{".", `"."` + cannot + `it is the archive itself`},
	{"./.", `"./."` + cannot + `it is the archive itself`},
	{"/etc/passwd", `"/etc/passwd"` + cannot + `it is absolute`},
	{"..", `".."` + cannot + `it contains ".."`},
	{"../a", `"../a"` + cannot + `it contains ".."`},
	{"a/../../b", `"a/../../b"` + cannot + `it contains ".."`},
	{"a//b", `"a//b"` + cannot + `it contains an empty element`},
	{`a\b`, `"a\\b"` + cannot + `it contains a backslash`},
	{"C:/a", `"C:/a"` + cannot + `it starts with a drive letter`},
	{"z:", `"z:"` + cannot + `it starts with a drive letter`},
	{"a\x00b", `$"a\x00b"` + cannot + `it contains a NUL character`},
	{"a\xff", `"a\xff"` + cannot + `it is not valid UTF-8`},
	{strings.Repeat("a", 4097), `"` + strings.Repeat("a", 400) + `…"` + cannot + `it is longer than 4096 bytes`},
}

func wrongChecksum(gz []byte) []byte {
	gz[len(gz)-8] ^= 1
	return gz
}

// stored returns a zip file with one uncompressed file.
func stored(t *testing.T, change func(*zip.FileHeader)) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	h := &zip.FileHeader{Name: "a", Method: zip.Store, CompressedSize64: 9, UncompressedSize64: 9, CRC32: 0}
	h.SetMode(0o644)
	change(h)
	entry, err := w.CreateRaw(h)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(entry, "some data"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func changedCRC(t *testing.T) []byte { return stored(t, func(h *zip.FileHeader) { h.CRC32 = 1 }) }

func flagged(t *testing.T) []byte { return stored(t, func(h *zip.FileHeader) { h.Flags = 1 }) }

func method(t *testing.T) []byte { return stored(t, func(h *zip.FileHeader) { h.Method = 12 }) }

func sized(t *testing.T, size uint64) []byte {
	return stored(t, func(h *zip.FileHeader) { h.UncompressedSize64 = size })
}

// Missing archives and unsupported locations are errors.
func TestWalkLocations(t *testing.T) {
	folder := inFolder(t, map[string]string{"text": "x"})
	cut := makeTar(t, entry{name: "a", data: "x"})
	address := serve(t, map[string]string{
		"/text": "x", "/cut.tar": string(cut[:512]), "/zip": string(makeZip(t, entry{name: "../a"})),
	})
	of := lumi.AssetArchive
	type m = map[string]lumi.Content
	tests := []struct {
		name string
		a    lumi.Archive
		want string
	}{
		{"absent", lumi.Archive{}, "no content: the asset or archive is absent"},
		{"no file", lumi.FileArchive("x"), `"x": no such file in "` + folder + `"`},
		{"a file", lumi.FileArchive("text"), `"text": ` + expected + "text/plain data"},
		{"another scheme", lumi.URIArchive("s3://bucket/a.zip"),
			`"s3://bucket/a.zip": only file:, http: and https: URIs can be opened`},
		{"not found", lumi.URIArchive(address + "/x"), `"` + address + `/x": the server answered 404 Not Found`},
		{"no archive", lumi.URIArchive(address + "/text"),
			`"` + address + `/text": ` + expected + "text/plain data"},
		{"cut off on the way", lumi.URIArchive(address + "/cut"), `"` + address + `/cut": is cut off: the server sent 5 of 10 bytes`},
		{"cut off", lumi.URIArchive(address + "/cut.tar"), `"` + address + `/cut.tar": "a": is cut off`},
		{"a bad zip", lumi.URIArchive(address + "/zip"), `"` + address + `/zip": "../a"` + cannot + `it contains ".."`},
		{"nothing in it", of(m{"a": nil}), "no content: the asset or archive is absent"},
		{"no file in it", of(m{"a": lumi.FileAsset("x")}), `"x": no such file in "` + folder + `"`},
		{"no archive in it", of(m{"a": lumi.FileArchive("x")}), `"x": no such file in "` + folder + `"`},
		{"twice", of(m{"a": lumi.TextAsset(""), "./a": lumi.TextAsset("")}), `"a": appears twice in the archive`},
		{"twice through an archive", of(m{"a": of(m{"b": lumi.TextAsset("")}), "a/b": lumi.TextAsset("")}),
			`"a/b": appears twice in the archive`},
		{"file and folder", of(m{"a": lumi.TextAsset(""), "a/b": lumi.TextAsset("")}),
			`"a": is both a file and a folder in the archive`},
		{"an archive inside, cut off", of(m{"a": lumi.URIArchive(address + "/cut.tar")}),
			`"` + address + `/cut.tar": "a/a": is cut off`},
	}
	for _, bad := range badNames {
		want := strings.TrimPrefix(bad.want, "$")
		tests = append(tests, struct {
			name string
			a    lumi.Archive
			want string
		}{want, of(m{bad.name: lumi.TextAsset("")}), want})
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got, want := list(t, test.a), "error: "+test.want; got != want {
				t.Errorf("Walk =\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// Walk stops if visit returns an error or the context is canceled.
func TestWalkStops(t *testing.T) {
	inFolder(t, map[string]string{
		"folder/a": "x", "folder/b": "x", "tar": string(makeTar(t, entry{name: "a", data: "x"}, entry{name: "b"})),
		"zip": string(makeZip(t, entry{name: "a", data: "x"}, entry{name: "b"})),
	})
	for _, name := range []string{"folder", "tar", "zip"} {
		stop, visits := errors.New("enough"), 0
		err := content.Walk(t.Context(), lumi.FileArchive(name), func(content.File) error {
			visits++
			return stop
		})
		if !errors.Is(err, stop) || err.Error() != "enough" || visits != 1 {
			t.Errorf("Walk of %s = %v after %d visits, want %v after 1", name, err, visits, stop)
		}
		ctx, cancel := context.WithCancel(t.Context())
		err = content.Walk(ctx, lumi.FileArchive(name), func(f content.File) error {
			cancel()
			_, err := io.ReadAll(f.Content)
			return err
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Walk of %s with a canceled context returned %v, want context.Canceled", name, err)
		}
		if want := fmt.Sprintf("%q: context canceled", name); err.Error() != want {
			t.Errorf("Walk of %s with a canceled context returned %v, want %s", name, err, want)
		}
	}
}

// A file whose size changes during the walk is an error.
func TestWalkConcurrentChanges(t *testing.T) {
	for _, test := range []struct{ now, want string }{
		{"longer", `error: "folder": "a": is longer than its recorded size`},
		{"s", `error: "folder": "a": is shorter than its recorded size`},
	} {
		inFolder(t, map[string]string{"folder/a": "text"})
		err := content.Walk(t.Context(), lumi.FileArchive("folder"), func(f content.File) error {
			write(t, "folder", map[string]string{"a": test.now})
			_, err := io.ReadAll(f.Content)
			return err
		})
		if got := fmt.Sprint("error: ", err); got != test.want {
			t.Errorf("Walk =\n%s\nwant\n%s", got, test.want)
		}
	}
}

// Both tar extensions for long names are supported.
func TestWalkLongNames(t *testing.T) {
	inFolder(t, nil)
	name := strings.Repeat("folder/", 60) + "ä"
	for _, format := range []tar.Format{tar.FormatPAX, tar.FormatGNU} {
		create(t, "tar", func(out io.Writer) error {
			w := tar.NewWriter(out)
			if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Format: format}); err != nil {
				return err
			}
			return w.Close()
		})
		if got, want := list(t, lumi.FileArchive("tar")), name+"=\n"; got != want {
			t.Errorf("Walk of a %v file = %s, want %s", format, got, want)
		}
	}
}
