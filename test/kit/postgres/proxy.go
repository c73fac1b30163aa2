package postgres

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Proxy forwards connections to a server, and breaks them.
type Proxy struct {
	// Drop is the number of answers to COMMIT that are still to be lost, together with their connections.
	Drop atomic.Int32
	// Down is set if new connections are refused.
	Down atomic.Bool
	// Sent is the number of messages from the server to clients, which is nearly the number of round trips.
	Sent atomic.Int64
	// Delay is the delay of each message. It must be set before the connection is opened.
	Delay time.Duration

	server *Server
	port   int
	mu     sync.Mutex
	open   map[net.Conn]bool
}

// Proxy starts a proxy and stops it after the test.
func (s *Server) Proxy(t testing.TB) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{server: s, port: l.Addr().(*net.TCPAddr).Port, open: map[net.Conn]bool{}}
	t.Cleanup(func() {
		_ = l.Close()
		p.Cut()
	})
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go p.forward(client)
		}
	}()
	return p
}

// URL returns the URL of a schema of the server, with the proxy's port.
func (p *Proxy) URL(url string) string {
	return strings.Replace(url, fmt.Sprint(":", p.server.Port), fmt.Sprint(":", p.port), 1)
}

// Cut closes all connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		_ = c.Close()
	}
}

func (p *Proxy) forward(client net.Conn) {
	defer func() { _ = client.Close() }()
	if p.Down.Load() {
		return
	}
	server, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", p.server.Port))
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	p.mu.Lock()
	p.open[client] = true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.open, client)
	}()
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	for buffer := make([]byte, 64<<10); ; {
		n, err := server.Read(buffer)
		if err != nil || bytes.Contains(buffer[:n], []byte("COMMIT\x00")) && p.Drop.Load() > 0 && p.Drop.Add(-1) >= 0 {
			return
		}
		p.Sent.Add(1)
		time.Sleep(p.Delay)
		if _, err := client.Write(buffer[:n]); err != nil {
			return
		}
	}
}
