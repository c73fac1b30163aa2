package content

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"google.golang.org/grpc/test/bufconn"
)

// ServeInMemory serves remote content with handler for the duration of a test, and returns its URL. It uses no sockets, so
// that fake clocks work.
func ServeInMemory(t testing.TB, handler http.Handler) string {
	listener, server, before := bufconn.Listen(1<<16), &http.Server{Handler: handler}, transport
	transport = before.Clone()
	transport.Proxy = nil
	transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return listener.DialContext(ctx) }
	go func() { _ = server.Serve(listener) }() // until closed
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = server.Close()
		transport = before
	})
	return "http://memory"
}

// LimitRemote replaces the limits on remote content for the duration of a test. A limit of 0 is not replaced.
func LimitRemote(t testing.TB, size int64, silence, wait time.Duration) {
	before := remote
	t.Cleanup(func() { remote = before })
	if size > 0 {
		remote.size = size
	}
	if silence > 0 {
		remote.silence = silence
	}
	if wait > 0 {
		remote.wait = wait
	}
}

// LimitUnpacking replaces the limits on archive files for the duration of a test.
func LimitUnpacking(t testing.TB, size, ratio, directory int64) {
	before := unpacking
	t.Cleanup(func() { unpacking = before })
	unpacking = unpackLimits{size: size, ratio: ratio, directory: directory}
}
