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
	"github.com/lumi-idl/lumi/taskgraph/service"
)

// Engine executes the runs of an environment. Run returns when the run ends, waits for an answer, or is stopped. After
// Stop, no more tasks start.
type Engine interface {
	Run(ctx context.Context, id int64) (store.Job, error)
	Stop()
}

// Runs manages the runs of this process. It is safe for concurrent use.
type Runs struct {
	// Context cancels running tasks when it is done.
	Context context.Context
	// Engine returns the engine for an environment.
	Engine func(environment string) Engine
	Log    *log.Logger

	mutex  sync.Mutex
	closed bool
	begun  []Engine
	ended  sync.WaitGroup
}

// Go executes a run in the background. Use it as the Go field of a [service.Service].
func (r *Runs) Go(environment string, id int64) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.closed {
		return // the run can be resumed later
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

// close stops all runs. No more tasks start.
func (r *Runs) close() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.closed = true
	for _, e := range r.begun {
		e.Stop()
	}
}

// Default timeouts for reading requests and writing responses, and time between the comments of an idle stream.
const (
	defaultRead      = 30 * time.Second
	defaultWrite     = 2 * time.Minute
	defaultHeartbeat = 15 * time.Second
)

// Listen listens on a TCP address, with TLS if cert and key are the paths of a certificate and its key. Unless secure is
// set, it returns an error if the address is reachable from other machines.
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

// Serve handles requests until ctx is done. Then it stops accepting requests, finishes requests in flight, and stops
// the runs of this process after their current tasks; these runs can be resumed. Streams of events end after them. When the context of the runs is done
// too, Serve closes all connections and cancels running tasks.
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
	go func() {
		s.Runs.ended.Wait()
		time.Sleep(2 * service.Poll) // let streams send the last events of these runs
		s.endStreams()
	}()
	if h.Shutdown(s.Runs.Context) != nil {
		_ = h.Close() // the context of the runs is done too
	}
	s.Runs.ended.Wait()
	return err
}
