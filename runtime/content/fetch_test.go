package content_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/content"
)

// misbehaving starts a server that sends invalid responses of all kinds, and returns its URL.
func misbehaving(t *testing.T) string {
	t.Helper()
	flush := func(w http.ResponseWriter, text string) error {
		_, err := io.WriteString(w, text)
		w.(http.Flusher).Flush()
		return err
	}
	handlers := map[string]http.HandlerFunc{
		"/endless": func(w http.ResponseWriter, _ *http.Request) {
			for flush(w, strings.Repeat("x", 1000)) == nil {
			}
		},
		"/huge": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "6000000000") },
		"/exact": func(w http.ResponseWriter, _ *http.Request) {
			_ = flush(w, strings.Repeat("x", 2048))
		},
		"/silent": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"/stalled": func(w http.ResponseWriter, r *http.Request) {
			_ = flush(w, "PK\x03\x04")
			<-r.Context().Done()
		},
		"/drip": func(w http.ResponseWriter, _ *http.Request) {
			for flush(w, "x") == nil {
				time.Sleep(10 * time.Millisecond)
			}
		},
		"/less": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			_ = flush(w, "12345")
		},
		"/hop": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/hop?hush"+r.URL.RawQuery, http.StatusFound)
		},
		"/malformed": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://user:hush@host/%zz?hush")
			w.WriteHeader(http.StatusFound)
		},
		"/nowhere": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusFound) },
		"/elsewhere": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "ftp://user:hush@host/", http.StatusFound)
		},
	}
	return content.ServeInMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if handle, ok := handlers[r.URL.Path]; ok {
			handle(w, r)
		} else {
			http.NotFound(w, r)
		}
	}))
}

// A server cannot block a provider forever.
func TestRemoteLimits(t *testing.T) { synctest.Test(t, testRemoteLimits) }

func testRemoteLimits(t *testing.T) {
	address := misbehaving(t)
	const (
		large   = "is larger than 2 KiB, the limit for remote content; download it and use its path instead"
		silent  = "the server sent nothing for 200ms, the limit for remote content"
		slow    = "took longer than 150ms, the limit for remote content; download it and use its path instead"
		forever = time.Hour
	)
	for _, test := range []struct {
		path          string
		silence, wait time.Duration
		want          string
	}{
		{"/endless", forever, forever, large},
		{"/huge", forever, forever, large},
		{"/silent", 200 * time.Millisecond, forever, silent},
		{"/stalled", 200 * time.Millisecond, forever, silent},
		{"/drip", forever, 150 * time.Millisecond, slow},
		{"/silent", forever, 150 * time.Millisecond, slow},
		{"/less", forever, forever, "is cut off: the server sent 5 of 10 bytes"},
		{"/hop", forever, forever, "the server redirects more than 10 times"},
		{"/malformed", forever, forever, "the server redirects to a malformed URI"},
		{"/elsewhere", forever, forever, "the server redirects to a URI whose scheme is not http or https"},
		{"/nowhere", forever, forever, "the server answered 302 Found"},
	} {
		content.LimitRemote(t, 2048, test.silence, test.wait)
		uri := strings.Replace(address, "://", "://user:hush@", 1) + test.path + "?X-Amz-Signature=hush"
		want := `error: "` + address + test.path + `?…": ` + test.want
		if got := read(t, lumi.URIAsset(uri)); got != want {
			t.Errorf("read of asset %s =\n%s\nwant\n%s", test.path, got, want)
		}
		if test.path == "/endless" || test.path == "/drip" {
			continue // As an archive, it fails earlier because of its format.
		}
		if got := list(t, lumi.URIArchive(uri)); got != want {
			t.Errorf("Walk of archive %s =\n%s\nwant\n%s", test.path, got, want)
		}
	}
	if got := read(t, lumi.URIAsset(address+"/exact")); len(got) != 2048 {
		t.Errorf("read of /exact returned %d bytes, want 2048: %.100s", len(got), got)
	}
}

// Reading a zip file that exceeds the limit leaves no temporary file.
func TestRemoteZipTooLarge(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	address := serve(t, map[string]string{"/zip": string(makeZip(t, entry{name: "a", data: strings.Repeat("x", 5000)}))})
	content.LimitRemote(t, 100, 0, 0)
	want := `error: "` + address + `/zip": is larger than 100 bytes, the limit for remote content; download it and use` +
		` its path instead`
	if got := list(t, lumi.URIArchive(address+"/zip")); got != want {
		t.Errorf("Walk =\n%s\nwant\n%s", got, want)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("ReadDir(temp) = %v, %v, want no temporary files", left, err)
	}
}

// The time spent by a slow reader does not count toward the time limit.
func TestRemoteSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 1 << 20
		address := content.ServeInMemory(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat("x", size))
		}))
		content.LimitRemote(t, 0, time.Second, time.Second)
		r, err := content.Open(t.Context(), lumi.URIAsset(address))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		time.Sleep(time.Hour)
		if n, err := io.Copy(io.Discard, iotest.HalfReader(r)); n != size || err != nil {
			t.Errorf("Copy = %d, %v, want %d, nil", n, err, size)
		}
	})
}

// Requests to another server after a redirect contain neither a password nor a Referer header.
func TestRemoteRedirect(t *testing.T) {
	var headers []http.Header
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		headers = append(headers, r.Header)
		_, _ = io.WriteString(w, "moved")
	}))
	t.Cleanup(target.Close)
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		headers = append(headers, r.Header)
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/again", http.StatusPermanentRedirect)
			return
		}
		http.Redirect(w, r, target.URL, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(origin.Close)
	uri := strings.Replace(origin.URL, "://", "://user:hush@", 1) + "/?X-Amz-Signature=hush"
	if got := read(t, lumi.URIAsset(uri)); got != "moved" || len(headers) != 3 {
		t.Fatalf("read = %q after %d requests, want \"moved\" after 3", got, len(headers))
	}
	for i, wantPassword := range []bool{true, true, false} {
		if got := headers[i].Get("Authorization") != ""; got != wantPassword || headers[i].Get("Referer") != "" {
			t.Errorf("request %d has headers %v, want Authorization %v and no Referer", i, headers[i], wantPassword)
		}
	}
}

// Excess data and escape sequences sent by a server are dropped.
func TestRemoteRawResponses(t *testing.T) {
	const broken = "error: net/http: HTTP/1.x transport connection broken: "
	for answer, want := range map[string]string{
		"200 OK\r\nContent-Length: 5\r\n\r\n1234567890":              "12345",
		"200 OK\r\nContent-Length: -5\r\n\r\n12345":                  broken + `bad Content-Length "-5"`,
		"404 \x1b[31mred\r\nContent-Length: 0\r\n\r\n":               "error: the server answered 404 Not Found",
		"200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n": "error: is cut off",
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			conn, err := listener.Accept()
			if err != nil {
				return // The test has ended.
			}
			defer conn.Close()
			if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				_, _ = io.WriteString(conn, "HTTP/1.1 "+answer) // The client may be gone.
			}
		}()
		address := "http://" + listener.Addr().String()
		want = strings.Replace(want, "error: ", `error: "`+address+`": `, 1)
		if got := read(t, lumi.URIAsset(address)); got != want {
			t.Errorf("read =\n%s\nwant\n%s", got, want)
		}
		listener.Close()
	}
}
