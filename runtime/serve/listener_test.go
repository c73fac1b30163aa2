package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// openings lists data that intruders send: nothing, or the start of a gRPC connection.
var openings = []string{
	"",
	preface[:10],
	preface,
	preface + settings,
	preface + settings + "\x00\x00\x40\x01\x04\x00\x00\x00\x01", // and the start of headers
}

const (
	preface  = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	settings = "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
)

// intrude opens n connections and keeps them open.
func intrude(t *testing.T, address string, n int) []net.Conn {
	t.Helper()
	conns := make([]net.Conn, n)
	for i := range conns {
		conn := must.Get(net.Dial("tcp", address))(t)
		t.Cleanup(func() { conn.Close() })
		_, _ = io.WriteString(conn, openings[i%len(openings)]) // The plugin may close it.
		conns[i] = conn
	}
	return conns
}

// closed reports whether the peer closes the connection before the deadline.
func closed(conn net.Conn, deadline time.Time) bool {
	_ = conn.SetReadDeadline(deadline)
	_, err := io.Copy(io.Discard, conn)
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

// An authenticated call succeeds even if there are more idle connections than the plugin may have open files.
func TestPending(t *testing.T) {
	b := startBare(t, func(cmd *exec.Cmd) {
		cmd.Args = append([]string{"sh", "-c", `ulimit -n 256 && exec "$0"`, cmd.Path}, cmd.Args[1:]...)
		cmd.Path = "/bin/sh"
	})
	engine, _ := b.dial(t)
	b.greet(t, engine)
	intruders := intrude(t, b.address, 400)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for range 3 { // each on its own connection
		client, _ := b.dial(t)
		if _, err := client.Handshake(with(ctx, bareSecret), hello()); err != nil {
			t.Fatalf("Handshake on a new connection returned %v, want nil", err)
		}
	}
	b.greet(t, engine) // over the existing connection
	for i, conn := range intruders[:400-maxUnauthenticated] {
		if !closed(conn, time.Now().Add(patience)) {
			t.Fatalf("connection %d is open, want it closed", i)
		}
	}
	b.stdin.Close()
	if err := b.cmd.Wait(); err != nil {
		t.Errorf("the plugin exited with %v, want nil", err)
	}
}

// Old connections are closed, but only those without an authenticated call.
func TestPendingAge(t *testing.T) {
	t.Parallel()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	d := newListener(listener, bareSecret)
	d.maxAge = 300 * time.Millisecond
	ctx, stop := context.WithCancelCause(t.Context())
	calls := newCalls(ctx, slog.New(slog.DiscardHandler), newSecrets())
	server := newGRPC(&Plugin{Package: "test", Resources: resources()}, calls, stop,
		grpc.InTapHandle(d.authenticate))
	go func() { _ = server.Serve(d) }() // It fails only if the test has failed.
	defer server.Stop()
	b := &bare{address: listener.Addr().String()}

	engine, _ := b.dial(t)
	b.greet(t, engine)
	intruders := intrude(t, b.address, 10)
	var dialled atomic.Int32
	conn := must.Get(grpc.NewClient(b.address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			dialled.Add(1)
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		})))(t)
	defer conn.Close()
	// A caller without the secret must reconnect repeatedly.
	for ctx := within(t); dialled.Load() < 3; time.Sleep(10 * time.Millisecond) {
		_, err := lumirpc.NewResourceProviderClient(conn).Handshake(ctx, hello())
		if code := status.Code(err); code != codes.Unauthenticated && code != codes.Unavailable {
			t.Fatalf("Handshake without the secret returned %v, want Unauthenticated or Unavailable", err)
		}
	}
	for i, conn := range intruders {
		if !closed(conn, time.Now().Add(patience)) {
			t.Errorf("connection %d is open, want it closed", i)
		}
	}
	b.greet(t, engine)
	conn.Close()
	for ctx := within(t); d.count() > 0; time.Sleep(10 * time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatalf("%d connections are pending, want 0", d.count())
		}
	}
}

func (l *listener) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.pending)
}

func TestDialLoop(t *testing.T) {
	b := startBare(t)
	stop := make(chan struct{})
	var loops sync.WaitGroup
	for range 4 {
		loops.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if conn, err := net.Dial("tcp", b.address); err == nil {
					_, _ = io.WriteString(conn, preface)
					conn.Close()
				}
			}
		})
	}
	defer loops.Wait()
	defer close(stop)
	for i := range 50 {
		client, conn := b.dial(t)
		if _, err := client.Handshake(with(within(t), bareSecret), hello()); err != nil {
			t.Errorf("Handshake on connection %d returned %v, want nil", i, err)
		}
		conn.Close()
	}
}

// Callers without the secret obtain no information, not even the names of methods.
func TestSecret(t *testing.T) {
	b := startBare(t)
	client, conn := b.dial(t)
	for name, secrets := range map[string][]string{
		"none": nil, "wrong": {"open barley"}, "empty": {""}, "a part": {"open"}, "several": {bareSecret, "x"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := with(within(t), secrets...)
			for _, method := range lumirpc.ResourceProvider_ServiceDesc.Methods {
				full := "/" + lumirpc.ResourceProvider_ServiceDesc.ServiceName + "/" + method.MethodName
				err := conn.Invoke(ctx, full, &lumirpc.CancelRequest{}, &lumirpc.CancelResponse{})
				if status.Code(err) != codes.Unauthenticated {
					t.Errorf("%s without the secret returned %v, want Unauthenticated", method.MethodName, err)
				}
			}
			stream, err := client.Events(ctx, &lumirpc.EventsRequest{})
			if err == nil {
				_, err = stream.Recv()
			}
			if status.Code(err) != codes.Unauthenticated {
				t.Errorf("Events without the secret returned %v, want Unauthenticated", err)
			}
			err = conn.Invoke(ctx, "/any/thing", &lumirpc.CancelRequest{}, &lumirpc.CancelResponse{})
			if status.Code(err) != codes.Unauthenticated {
				t.Errorf("unknown method without the secret returned %v, want Unauthenticated", err)
			}
		})
	}
	if _, err := client.Handshake(with(within(t), bareSecret), hello()); err != nil {
		t.Errorf("Handshake with the secret returned %v, want nil", err)
	}
}

func TestLargeHeaders(t *testing.T) {
	b := startBare(t)
	client, _ := b.dial(t)
	b.greet(t, client)
	ctx := metadata.AppendToOutgoingContext(with(within(t), bareSecret), "x", strings.Repeat("x", 2*maxHeaders))
	_, err := client.Handshake(ctx, hello())
	if want := fmt.Sprint("maximum size (", maxHeaders, " bytes) set by server"); !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("Handshake error = %v, want %s", err, want)
	}
}

func TestGarbage(t *testing.T) {
	b := startBare(t)
	for _, garbage := range []string{
		"", "\x00", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", strings.Repeat("garbage", 1<<16),
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff\xff\xff\xff\xff\xff",
	} {
		conn := must.Get(net.Dial("tcp", b.address))(t)
		t.Cleanup(func() { conn.Close() })   // Keep the connections open during the test.
		_, _ = io.WriteString(conn, garbage) // The plugin may close it.
	}
	client, _ := b.dial(t)
	must.Get(client.Handshake(with(within(t), bareSecret), hello()))(t)
	b.stdin.Close()
	if err := b.cmd.Wait(); err != nil {
		t.Errorf("the plugin exited with %v, want nil", err)
	}
}
