package content_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/content"
)

// read returns the content of an asset, or "error: " followed by the error.
func read(t *testing.T, a lumi.Asset) string {
	t.Helper()
	r, err := content.Open(t.Context(), a)
	if err != nil {
		return "error: " + err.Error()
	}
	defer func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}()
	data, err := io.ReadAll(r)
	if err != nil {
		return "error: " + err.Error()
	}
	return string(data)
}

// inFolder changes to a new folder with the given files and returns its path.
func inFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	t.Chdir(t.TempDir())
	write(t, ".", files)
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

func write(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, data := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// serve starts a server with the given files by path and with errors of all kinds, and returns its URL.
func serve(t *testing.T, files map[string]string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := files[r.URL.Path]
		switch {
		case r.URL.Path == "/squeezed":
			// A client that accepts gzip could receive compressed content.
			if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
				w.Header().Set("Content-Encoding", "gzip")
			}
			_, _ = w.Write(compress(t, []byte("text")))
		case r.URL.Path == "/cut":
			w.Header().Set("Content-Length", "10")
			_, _ = io.WriteString(w, "12345")
		case r.URL.Path == "/moved":
			http.Redirect(w, r, "/a", http.StatusFound)
		case r.URL.Path == "/local":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case r.URL.Path == "/circle":
			http.Redirect(w, r, "/circle", http.StatusFound)
		case !ok:
			http.NotFound(w, r)
		default:
			_, _ = io.WriteString(w, data)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestOpen(t *testing.T) {
	folder := inFolder(t, map[string]string{"a": "file", "sub/b c": "below"})
	if err := os.Symlink("a", "link"); err != nil {
		t.Fatal(err)
	}
	address := serve(t, map[string]string{"/a": "remote", "/empty": ""})
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()

	for _, test := range []struct {
		name string
		a    lumi.Asset
		want string
	}{
		{"a text", lumi.TextAsset("text"), "text"},
		{"an empty text", lumi.TextAsset(""), ""},
		{"a file", lumi.FileAsset("a"), "file"},
		{"a link", lumi.FileAsset("link"), "file"},
		{"an absolute path", lumi.FileAsset(filepath.Join(folder, "a")), "file"},
		{"a file: URI", lumi.URIAsset("file://" + folder + "/sub/b%20c"), "below"},
		{"a file: URI with this host", lumi.URIAsset("file://localhost" + folder + "/a"), "file"},
		{"a file: URI without a host", lumi.URIAsset("file:" + folder + "/a"), "file"},
		{"an address", lumi.URIAsset(address + "/a"), "remote"},
		{"an empty answer", lumi.URIAsset(address + "/empty"), ""},
		{"a compressed file", lumi.URIAsset(address + "/squeezed"), string(compress(t, []byte("text")))},
		{"a redirection", lumi.URIAsset(address + "/moved"), "remote"},

		{"absent", lumi.Asset{}, "error: no content: the asset or archive is absent"},
		{"no file", lumi.FileAsset("x"), `error: "x": no such file in "` + folder + `"`},
		{"no absolute file", lumi.FileAsset(folder + "/x"), `error: "` + folder + `/x": no such file`},
		{"no path", lumi.FileAsset(""), `error: "": no such file in "` + folder + `"`},
		{"a file as a folder", lumi.FileAsset("a/b"), `error: "a/b": not a directory`},
		{"a folder", lumi.FileAsset("sub"), `error: "sub": is a folder, not a file`},
		{"no file at a file: URI", lumi.URIAsset("file://" + folder + "/x"),
			`error: "file://` + folder + `/x": no such file`},
		{"a device", lumi.FileAsset(os.DevNull), `error: "/dev/null": is a device, not a regular file`},
		{"another machine", lumi.URIAsset("file://server/a"),
			`error: "file://server/a": a file: URI must not name a host; write file:///folder/file`},
		{"a relative file: URI", lumi.URIAsset("file:a"),
			`error: "file:a": the path of a file: URI must be absolute, as in file:///folder/file`},
		{"a query", lumi.URIAsset("file:///a?b"),
			`error: "file:///a?…": a file: URI must not have a query or fragment; write ? as %3F and # as %23`},
		{"no scheme", lumi.URIAsset("a/b"),
			`error: "a/b": only file:, http: and https: URIs can be opened; give the path of a file as a path`},
		{"another scheme", lumi.URIAsset("ftp://user:hush@host/a?hush"),
			`error: "ftp://host/a?…": only file:, http: and https: URIs can be opened`},
		{"no scheme before a password", lumi.URIAsset("user:hush@host/a"),
			`error: "user:…": only file:, http: and https: URIs can be opened`},
		{"malformed", lumi.URIAsset("http://hush%zz/"), "error: the URI is malformed"},
		{"no host", lumi.URIAsset("http:///a"), `error: "http:///a": the URI has no host`},
		{"not found", lumi.URIAsset(address + "/x?hush"),
			`error: "` + address + `/x?…": the server answered 404 Not Found`},
		{"cut off", lumi.URIAsset(address + "/cut"), `error: "` + address + `/cut": is cut off: the server sent 5 of 10 bytes`},
		{"redirect loop", lumi.URIAsset(address + "/circle"), `error: "` + address + `/circle": the server redirects more than 10 times`},
		{"sent to a file", lumi.URIAsset(address + "/local"),
			`error: "` + address + `/local": the server redirects to a URI whose scheme is not http or https`},
		{"connection refused", lumi.URIAsset(closed.URL), `error: "` + closed.URL + `": dial tcp ` +
			strings.TrimPrefix(closed.URL, "http://") + `: connect: connection refused`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := read(t, test.a); got != test.want {
				t.Errorf("read =\n%s\nwant\n%s", got, test.want)
			}
		})
	}
	if _, err := content.Open(t.Context(), lumi.FileAsset("x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open error = %v, want fs.ErrNotExist", err)
	}
}

// Canceling the context interrupts waiting for a response and reading it.
func TestOpenCanceled(t *testing.T) {
	asked := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/begun" {
			_, _ = io.WriteString(w, "some")
			w.(http.Flusher).Flush()
		}
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	for _, path := range []string{"/silent", "/begun"} {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-asked
			cancel()
		}()
		r, err := content.Open(ctx, lumi.URIAsset(server.URL+path))
		if err == nil {
			_, err = io.ReadAll(r)
			_ = r.Close()
		}
		want := `"` + server.URL + path + `": context canceled`
		if !errors.Is(err, context.Canceled) || err.Error() != want {
			t.Errorf("%s: error = %v, want %s", path, err, want)
		}
	}
}
