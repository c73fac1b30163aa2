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
	// maxUnauthenticated is how many connections without an authenticated call there may be. It is well below the number
	// of files that a process may have open.
	maxUnauthenticated = 128
	// minAge is how long such a connection may last in any case. Until one is older, new ones wait to be accepted.
	minAge = time.Second
	// maxAge is how long it may last at all. An engine makes its first call at once.
	maxAge = 30 * time.Second
)

// listener authenticates calls, and limits the connections without an authenticated call, which must not use up the
// plugin's file descriptors or keep it from stopping.
type listener struct {
	net.Listener
	secret []byte
	maxAge time.Duration

	mu      sync.Mutex
	pending map[string]*conn // connections without an authenticated call, by the address of the other side
	closed  bool
}

func newListener(l net.Listener, secret string) *listener {
	return &listener{Listener: l, secret: []byte(secret), maxAge: maxAge, pending: make(map[string]*conn)}
}

// authenticate refuses calls that do not carry the secret, before their messages are read. It is a
// [tap.ServerInHandle].
func (l *listener) authenticate(ctx context.Context, info *tap.Info) (context.Context, error) {
	got := info.Header.Get(lumirpc.SecretHeader)
	if len(got) != 1 || subtle.ConstantTimeCompare([]byte(got[0]), l.secret) != 1 {
		return nil, status.Error(codes.Unauthenticated, "the call does not carry the secret of the plugin's parent process process")
	}
	if p, ok := peer.FromContext(ctx); ok {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.pending, p.Addr.String())
	}
	return ctx, nil
}

// Accept waits for the next connection, and for room for it.
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
			_ = c.Conn.Close() // The other side may have closed it.
		}
	})
	return c, nil
}

// add adds a connection, and closes the oldest one if there are too many. It reports false if that is too young.
func (l *listener) add(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		_ = c.Conn.Close() // The server finds out when it reads.
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

// remove reports whether a connection had no authenticated call.
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

// closePending closes all connections without an authenticated call, now and later.
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
