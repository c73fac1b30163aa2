package serve

import (
	"context"
	"crypto/subtle"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"

	"github.com/lumi-idl/lumi/runtime/lumirpc"
)

const (
	// maxUnauthenticated is the maximum number of connections without an authenticated call. It is well below the usual
	// limit on open files.
	maxUnauthenticated = 128
	// minAge is the minimum age at which such a connection is closed to accept another. If all are younger, new
	// connections wait.
	minAge = time.Second
	// maxAge is the maximum age of such a connection. An engine makes its first call at once.
	maxAge = 30 * time.Second
)

// listener is a listener that authenticates calls. It limits the connections without an authenticated call, which could
// otherwise exhaust file descriptors or prevent the plugin from stopping.
type listener struct {
	net.Listener
	secret []byte
	maxAge time.Duration

	mu      sync.Mutex
	pending map[string]*conn // connections without an authenticated call, by remote address
	closed  bool
}

func newListener(l net.Listener, secret string) *listener {
	return &listener{Listener: l, secret: []byte(secret), maxAge: maxAge, pending: make(map[string]*conn)}
}

// authenticate is a [tap.ServerInHandle]. It rejects calls without the secret before reading their messages.
func (l *listener) authenticate(ctx context.Context, info *tap.Info) (context.Context, error) {
	got := info.Header.Get(lumirpc.SecretHeader)
	if len(got) != 1 || subtle.ConstantTimeCompare([]byte(got[0]), l.secret) != 1 {
		return nil, status.Error(codes.Unauthenticated, "the call does not carry the secret of the plugin's parent process")
	}
	if p, ok := peer.FromContext(ctx); ok {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.pending, p.Addr.String())
	}
	return ctx, nil
}

// Accept implements [net.Listener]. It blocks while there are too many connections without an authenticated call.
func (l *listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: accepted, listener: l, since: time.Now()}
	for !l.add(c) {
		time.Sleep(minAge / 100)
	}
	time.AfterFunc(l.maxAge, func() {
		if l.remove(c) {
			_ = c.Conn.Close() // It may already be closed.
		}
	})
	return c, nil
}

// add adds a connection without an authenticated call. If there are too many, it closes the oldest, or returns false if even
// the oldest is younger than minAge.
func (l *listener) add(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		_ = c.Conn.Close() // The server's next read fails.
		return true
	}
	if len(l.pending) >= maxUnauthenticated {
		oldest := c
		for _, other := range l.pending {
			if other.since.Before(oldest.since) {
				oldest = other
			}
		}
		if time.Since(oldest.since) < minAge {
			return false
		}
		delete(l.pending, oldest.RemoteAddr().String())
		_ = oldest.Conn.Close()
	}
	l.pending[c.RemoteAddr().String()] = c
	return true
}

// remove removes a connection from the pending ones and reports whether it was among them.
func (l *listener) remove(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	address := c.RemoteAddr().String()
	if l.pending[address] != c {
		return false
	}
	delete(l.pending, address)
	return true
}

// closePending closes all connections without an authenticated call, and makes add close further connections.
func (l *listener) closePending() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, c := range l.pending {
		_ = c.Conn.Close()
	}
	clear(l.pending)
}

type conn struct {
	net.Conn
	listener *listener
	since    time.Time
}

// Close implements [net.Conn].
func (c *conn) Close() error {
	c.listener.remove(c)
	return c.Conn.Close()
}
