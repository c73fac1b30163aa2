package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
)

// Engine runs runs of an environment until they end, wait for an answer, or are stopped. Stop starts no more tasks.
type Engine interface {
	Run(ctx context.Context, id int64) (store.Job, error)
	Stop()
}

// Runs are the runs of a process. It is safe for concurrent use.
type Runs struct {
	// Context, when done, cancels running tasks.
	Context context.Context
	// Engine returns the engine of an environment.
	Engine func(environment string) Engine
	Log    *log.Logger

	mutex  sync.Mutex
	closed bool
	begun  []Engine
	ended  sync.WaitGroup
}

// Go runs a run in the background. Use it as the Go of a [service.Service].
func (r *Runs) Go(environment string, id int64) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.closed {
		return // It can be resumed.
	}
	e := r.Engine(environment)
	if !slices.Contains(r.begun, e) {
		r.begun = append(r.begun, e)
	}
	r.ended.Go(func() {
		if _, err := e.Run(r.Context, id); err != nil {
			r.Log.Printf("error: run %d of %s: %v", id, environment, err)
		}
	})
}

// close stops all runs: they start no more tasks.
func (r *Runs) close() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.closed = true
	for _, e := range r.begun {
		e.Stop()
	}
}

// defaultRead and defaultWrite are the default timeouts for reading requests and writing responses.
const (
	defaultRead  = 30 * time.Second
	defaultWrite = 2 * time.Minute
)

// Listen listens on an address, with TLS if a certificate and key file are given. Unless the address is local to this
// machine, secure must be set.
func Listen(address, cert, key string, secure bool) (net.Listener, error) {
	a, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	if !a.IP.IsLoopback() && !secure {
		return nil, errors.New(address + " is reachable from other machines: use --tokens, and --tls-cert with --tls-key or --insecure")
	}
	if cert == "" {
		return net.ListenTCP("tcp", a)
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("certificate %s with key %s: %w", cert, key, err)
	}
	l, err := net.ListenTCP("tcp", a)
	if err != nil {
		return nil, err
	}
	return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2", "http/1.1"}, MinVersion: tls.VersionTLS12}), nil
}

// Serve answers requests until ctx is done. Then it stops accepting requests, finishes current ones, and stops the runs
// of this process between tasks; they can be resumed. Once the context of the runs is also done, it closes connections
// and cancels running tasks.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	read := cmp.Or(s.ReadTimeout, defaultRead)
	h := &http.Server{
		Handler: s, ErrorLog: s.Log, MaxHeaderBytes: maxHeader, ReadHeaderTimeout: read, ReadTimeout: read,
		WriteTimeout: cmp.Or(s.WriteTimeout, defaultWrite), IdleTimeout: defaultWrite,
	}
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(l) }()
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	s.Runs.close()
	if h.Shutdown(s.Runs.Context) != nil {
		_ = h.Close() // The context of the runs is done, too.
	}
	s.Runs.ended.Wait()
	return err
}
