package serve

import (
	"container/list"
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
	// maxStrangers is how many connections without a call that carries the secret there may be. It is well below the
	// number of files that a process may have open, and above what connects by mistake.
	maxStrangers = 128
	// strangerAge is how long such a connection may last. An engine makes its first call at once.
	strangerAge = 30 * time.Second
)

// door lets in only callers that know the secret. It is the listener too, since connections without such a call must
// neither use up the plugin's file descriptors nor keep it from stopping.
type door struct {
	net.Listener
	secret []byte
	age    time.Duration

	mu sync.Mutex
	// strangers are the *visitor connections that no call with the secret has come through, the oldest first.
	strangers *list.List
	// byAddress finds them by the address of the other side.
	byAddress map[string]*list.Element
	shut      bool
}

func newDoor(l net.Listener, secret string) *door {
	return &door{
		Listener: l, secret: []byte(secret), age: strangerAge,
		strangers: list.New(), byAddress: make(map[string]*list.Element),
	}
}

// authenticate refuses calls that do not carry the secret, before their messages are read. It is a
// [tap.ServerInHandle].
func (d *door) authenticate(ctx context.Context, info *tap.Info) (context.Context, error) {
	got := info.Header.Get(lumirpc.SecretHeader)
	if len(got) != 1 || subtle.ConstantTimeCompare([]byte(got[0]), d.secret) != 1 {
		return nil, status.Error(codes.Unauthenticated, "the call does not carry the secret of the plugin's parent")
	}
	if p, ok := peer.FromContext(ctx); ok {
		d.mu.Lock()
		defer d.mu.Unlock()
		if e, ok := d.byAddress[p.Addr.String()]; ok {
			d.remove(e)
		}
	}
	return ctx, nil
}

// Accept waits for the next connection. Where there are too many strangers, it hangs up on the oldest: an engine that
// has just connected is among the newest, and no stranger for long.
func (d *door) Accept() (net.Conn, error) {
	conn, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	v := &visitor{Conn: conn, door: d, address: conn.RemoteAddr().String()}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shut {
		_ = conn.Close() // The server, which is about to stop, finds out when it reads.
		return v, nil
	}
	if d.strangers.Len() >= maxStrangers {
		d.dismissOne(d.strangers.Front())
	}
	if e, ok := d.byAddress[v.address]; ok {
		d.dismissOne(e) // The other side has closed it, since it uses the address again.
	}
	v.entry = d.strangers.PushBack(v)
	d.byAddress[v.address] = v.entry
	v.timer = time.AfterFunc(d.age, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if v.entry != nil {
			d.dismissOne(v.entry)
		}
	})
	return v, nil
}

// dismiss hangs up on all strangers, now and later.
func (d *door) dismiss() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shut = true
	for d.strangers.Len() > 0 {
		d.dismissOne(d.strangers.Front())
	}
}

// dismissOne hangs up on a stranger. It needs the lock.
func (d *door) dismissOne(e *list.Element) {
	v := d.remove(e)
	_ = v.Conn.Close() // It may have been closed by the other side.
}

// remove takes a connection off the list of strangers. It needs the lock.
func (d *door) remove(e *list.Element) *visitor {
	v := d.strangers.Remove(e).(*visitor)
	v.timer.Stop()
	v.entry = nil
	delete(d.byAddress, v.address)
	return v
}

// visitor is a connection.
type visitor struct {
	net.Conn
	door    *door
	address string

	// entry is the connection's place among the strangers, nil if it is none. The door's lock guards it.
	entry *list.Element
	timer *time.Timer
}

// Close closes the connection.
func (v *visitor) Close() error {
	v.door.mu.Lock()
	if v.entry != nil {
		v.door.remove(v.entry)
	}
	v.door.mu.Unlock()
	return v.Conn.Close()
}
