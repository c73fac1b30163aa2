package serve

import (
	"context"
	"crypto/subtle"
	"net"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"

	"github.com/lumi-idl/lumi/runtime/lumirpc"
)

// door lets in only who knows the secret. It is the listener too, since whoever connects and then says nothing must not
// keep the plugin from stopping.
type door struct {
	net.Listener
	secret []byte

	mu sync.Mutex
	// strangers are the connections, by the other side's address, that no call with the secret has come through.
	strangers map[string]net.Conn
	shut      bool
}

func newDoor(l net.Listener, secret string) *door {
	return &door{Listener: l, secret: []byte(secret), strangers: make(map[string]net.Conn)}
}

// authenticate refuses calls that do not carry the secret, before their messages are read. It is a
// [tap.ServerInHandle].
func (d *door) authenticate(ctx context.Context, info *tap.Info) (context.Context, error) {
	got := info.Header.Get(lumirpc.SecretHeader)
	if len(got) != 1 || subtle.ConstantTimeCompare([]byte(got[0]), d.secret) != 1 {
		return nil, status.Error(codes.Unauthenticated, "the call does not carry the secret of the plugin's parent")
	}
	if p, ok := peer.FromContext(ctx); ok {
		d.forget(p.Addr.String())
	}
	return ctx, nil
}

// Accept waits for the next connection.
func (d *door) Accept() (net.Conn, error) {
	conn, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shut {
		_ = conn.Close() // The server, which is about to stop, finds out when it reads.
	} else {
		d.strangers[conn.RemoteAddr().String()] = conn
	}
	return &visitor{Conn: conn, door: d}, nil
}

// dismiss hangs up on all strangers, now and later.
func (d *door) dismiss() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shut = true
	for _, conn := range d.strangers {
		_ = conn.Close() // It may have been closed by the other side.
	}
}

func (d *door) forget(address string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.strangers, address)
}

// visitor is a connection that is forgotten when it is closed.
type visitor struct {
	net.Conn
	door *door
}

// Close closes the connection.
func (v *visitor) Close() error {
	v.door.forget(v.RemoteAddr().String())
	return v.Conn.Close()
}
