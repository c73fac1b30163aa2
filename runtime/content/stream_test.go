package content_test

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/content"
)

// big is the size of content to be streamed, and small the maximum memory that may be allocated for it.
const (
	big   = 8 << 20
	small = big / 4
)

// random returns an endless reader of incompressible bytes.
func random() io.Reader { return rand.NewChaCha8([32]byte{}) }

// allocated returns the number of bytes allocated by do.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Content is streamed, whatever its source and destination.
func TestStreams(t *testing.T) {
	if testing.Short() {
		t.Skip("moves a hundred megabytes")
	}
	inFolder(t, map[string]string{"folder/x": ""})
	create(t, "folder/big", func(out io.Writer) error {
		_, err := io.CopyN(out, random(), big)
		return err
	})
	create(t, "tgz", func(out io.Writer) error {
		compressed, err := gzip.NewWriterLevel(out, gzip.HuffmanOnly)
		if err != nil {
			return err
		}
		w := tar.NewWriter(compressed)
		if err := w.WriteHeader(&tar.Header{Name: "big", Size: big, Mode: 0o644}); err != nil {
			return err
		}
		if _, err := io.CopyN(w, random(), big); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		return compressed.Close()
	})
	create(t, "zip", func(out io.Writer) error {
		w := zip.NewWriter(out)
		file, err := w.CreateHeader(&zip.FileHeader{Name: "big", Method: zip.Store})
		if err != nil {
			return err
		}
		if _, err := io.CopyN(file, random(), big); err != nil {
			return err
		}
		return w.Close()
	})
	server := httptest.NewServer(http.FileServer(http.Dir(".")))
	t.Cleanup(server.Close)

	tests := map[string]func(context.Context) error{
		"file": func(ctx context.Context) error {
			_, err := content.Hash(ctx, lumi.FileAsset("folder/big"))
			return err
		},
		"address": func(ctx context.Context) error {
			_, err := content.Hash(ctx, lumi.URIAsset(server.URL+"/folder/big"))
			return err
		},
		"zip of a folder": func(ctx context.Context) error {
			return content.WriteZip(ctx, io.Discard, lumi.FileArchive("folder"))
		},
		"stamp": func(ctx context.Context) error {
			_, err := content.Stamp(ctx, bag(t, `{"a": {"$sig": "$archive", "path": "zip"}}`))
			return err
		},
	}
	for _, name := range []string{"folder", "tgz", "zip"} {
		tests[name] = func(ctx context.Context) error {
			_, err := content.Hash(ctx, lumi.FileArchive(name))
			return err
		}
		if name != "folder" {
			tests[name+" behind an address"] = func(ctx context.Context) error {
				_, err := content.Hash(ctx, lumi.URIArchive(server.URL+"/"+name))
				return err
			}
		}
	}
	for name, do := range tests {
		t.Run(name, func(t *testing.T) {
			got := allocated(func() {
				if err := do(t.Context()); err != nil {
					t.Fatal(err)
				}
			})
			if got > small {
				t.Errorf("reading %d bytes allocated %d, want at most %d", big, got, small)
			}
		})
	}
}

func create(t *testing.T, path string, write func(io.Writer) error) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := write(file); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

// A small archive file with huge content is unpacked without holding the content in memory.
func TestUnpackStreams(t *testing.T) {
	inFolder(t, nil)
	create(t, "tgz", func(out io.Writer) error {
		compressed, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
		if err != nil {
			return err
		}
		w := tar.NewWriter(compressed)
		if err := w.WriteHeader(&tar.Header{Name: "zeros", Size: big, Mode: 0o644}); err != nil {
			return err
		}
		if _, err := io.CopyN(w, zeros{}, big); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		return compressed.Close()
	})
	got := allocated(func() {
		err := content.Walk(t.Context(), lumi.FileArchive("tgz"), func(f content.File) error {
			if f.Size != big {
				t.Errorf("file size = %d, want %d", f.Size, big)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	if got > small {
		t.Errorf("Walk allocated %d bytes, want at most %d", got, small)
	}
}

// zeros is an endless reader of zeros.
type zeros struct{}

func (zeros) Read(data []byte) (int, error) {
	clear(data)
	return len(data), nil
}
