// Package s3server runs an S3 server for tests of the provider: the Versity S3 Gateway, which serves a local folder, in its
// own process. A storage vendor maintains it, under the Apache license and with releases every few weeks. It supports all
// features used by the provider: signatures, tags, versions, access control, CORS, websites, and conditional writes. It
// does not support lifecycles, access logs, notifications, or storage classes. Because of its many dependencies, its
// version is pinned in the separate module tools.
//
// Requests pass through a proxy in the test process, which can drop or replace responses.
package s3server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The credentials of the initial account.
const (
	AccessKeyID     = "AKIDEXAMPLE"
	SecretAccessKey = "a-secret-of-the-tests"
)

// Server is a running S3 server.
type Server struct {
	// URL is the URL of the proxy, for use as the endpoint.
	URL string

	binary, socket, region string

	mu           sync.Mutex
	lose, answer func(*http.Request) bool
	status       int // status of the replaced response
	body         string
}

// Start starts an empty server and stops it at the end of the test.
func Start(t testing.TB, region string) *Server {
	t.Helper()
	folder, err := os.MkdirTemp("", "s3") // the length of socket paths is limited
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	for _, name := range []string{"data", "meta", "versions", "users"} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := &Server{binary: binary(t), socket: filepath.Join(folder, "socket"), region: region}
	var said bytes.Buffer
	command := s.run(t, &said, "--port", s.socket, "--region", region, "--quiet",
		"--access", AccessKeyID, "--secret", SecretAccessKey, "--iam-dir", filepath.Join(folder, "users"),
		"posix", "--sidecar", filepath.Join(folder, "meta"), "--versioning-dir", filepath.Join(folder, "versions"),
		filepath.Join(folder, "data"))
	ended := make(chan struct{})
	var how error
	go func() {
		how = command.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = command.Process.Kill() // fails only if the process has exited
		<-ended
	})
	for s.dial() != nil {
		select {
		case <-ended:
			t.Fatalf("S3 server exited before it was ready: %v\n%s", how, said.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
	s.serve(t)
	return s
}

// run starts the binary. It retries on ETXTBSY, which occurs while another test that has just built the binary keeps it
// open.
func (s *Server) run(t testing.TB, said *bytes.Buffer, args ...string) *exec.Cmd {
	t.Helper()
	for {
		command := exec.Command(s.binary, args...)
		command.Stdout, command.Stderr = said, said
		err := command.Start()
		switch {
		case err == nil:
			return command
		case !errors.Is(err, syscall.ETXTBSY):
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// binary returns the path of the server's binary, building it if necessary.
func binary(t testing.TB) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var build = sync.OnceValues(func() (string, error) {
	_, here, _, _ := runtime.Caller(0)
	command := exec.Command("go", "tool", "-n", "versitygw")
	command.Dir = filepath.Join(filepath.Dir(here), "..", "..", "tools")
	var problem bytes.Buffer
	command.Stderr = &problem
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("building the S3 server: %w\n%s", err, problem.String())
	}
	return strings.TrimSpace(string(out)), nil
})

func (s *Server) dial() error {
	conn, err := net.Dial("unix", s.socket)
	if err == nil {
		err = conn.Close()
	}
	return err
}

// serve starts the proxy and sets s.URL.
func (s *Server) serve(t testing.TB) {
	proxy := &httputil.ReverseProxy{
		// Keep the Host header, which is part of the signature.
		Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", "s3" },
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "unix", s.socket)
			},
			DisableCompression: true,
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lose, status, body := s.next(r)
		switch {
		case status != 0:
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body) // fails only if the client has disconnected
		case lose:
			proxy.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler) // closes the connection
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL
}

func (s *Server) next(r *http.Request) (lose bool, status int, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lose != nil && s.lose(r) {
		s.lose = nil
		return true, 0, ""
	}
	if s.answer != nil && s.answer(r) {
		s.answer = nil
		return false, s.status, s.body
	}
	return false, 0, ""
}

// Lose drops the response to the next request that matches which.
func (s *Server) Lose(which func(*http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lose = which
}

// Answer responds to the next request that matches which, instead of passing it to the server.
func (s *Server) Answer(which func(*http.Request) bool, status int, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer, s.status, s.body = which, status, body
}

// Throttle rejects the next request that matches which, as if it exceeded a rate limit.
func (s *Server) Throttle(which func(*http.Request) bool) {
	s.Answer(which, http.StatusServiceUnavailable,
		"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>")
}

// AddUser adds another account, which can create its own buckets.
func (s *Server) AddUser(t testing.TB, accessKeyID, secretAccessKey string) {
	t.Helper()
	command := exec.Command(s.binary, "admin", "--access", AccessKeyID, "--secret", SecretAccessKey,
		"--region", s.region, "--endpoint-url", s.URL, "create-user", "--access", accessKeyID, "--secret", secretAccessKey, "--role", "userplus")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("adding a user: %v\n%s", err, out)
	}
}

// Is returns a function that matches requests by method, path, and query, such as "PUT /bucket?tagging".
func Is(pattern string) func(*http.Request) bool {
	method, address, _ := strings.Cut(pattern, " ")
	want, err := url.Parse(address)
	return func(r *http.Request) bool {
		if err != nil || r.Method != method || strings.TrimSuffix(r.URL.Path, "/") != want.Path {
			return false
		}
		for key := range want.Query() {
			if !r.URL.Query().Has(key) {
				return false
			}
		}
		return true
	}
}
