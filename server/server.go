// Package server implements 'lumi serve', an HTTP API for package taskgraph/service. Its routes extend the
// specification "Ability To Execute Custom Deployment Graph". Each route works with and without a trailing slash. Every
// error is a JSON object, described by [wire.Error].
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"path"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/server/wire"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/service"
)

// Options configures a [Server].
type Options struct {
	API service.API
	// Runs manages the runs of this process. They are stopped when the server stops.
	Runs   *Runs
	Tokens *Tokens
	// Log receives one line per request, and internal errors. It never receives tokens or query strings.
	Log *log.Logger
	// Local rejects requests whose Host header does not name this machine, which prevents DNS rebinding attacks.
	Local bool
	// ReadTimeout limits the time to read a request. WriteTimeout limits the time from the end of the request header to
	// the end of the response, or to each write of a stream. The defaults are 30 seconds and 2 minutes.
	ReadTimeout, WriteTimeout time.Duration
	// Heartbeat is the time after which an idle stream of events sends a comment, so that both sides notice a lost
	// connection. The default is 15 seconds.
	Heartbeat time.Duration
}

// Request limits.
const (
	maxBody   = 8 << 20
	maxHeader = 64 << 10
)

// Server is an [http.Handler] that serves the API.
type Server struct {
	Options
	mux *http.ServeMux
	api huma.API
	// document is the OpenAPI document as JSON.
	document []byte
	// selecting excludes concurrent changes to selections, which read the selection first.
	selecting sync.Mutex
	// streams is done when the server stops. It ends the streams of events.
	streams    context.Context
	endStreams func()
}

// New returns a server with the given options.
func New(o Options) *Server {
	s := &Server{Options: o, mux: http.NewServeMux()}
	s.streams, s.endStreams = context.WithCancel(context.Background())
	s.api = huma.NewAPI(config(), humago.NewAdapter(s.mux, ""))
	s.graphs()
	for _, layer := range []store.Layer{store.ReleaseLayer, store.ClusterLayer, store.PluginLayer} {
		s.owned(layer)
	}
	s.releases(store.ReleaseLayer)
	s.releases(store.PluginLayer)
	s.clusters()
	s.runs()
	s.document = s.describe()
	return s
}

// exchange records the status and user of a request for the log.
type exchange struct {
	http.ResponseWriter
	status int
	user   string
}

// Unwrap lets [http.ResponseController] access the underlying writer.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

func (x *exchange) WriteHeader(status int) {
	x.status = cmp.Or(x.status, status)
	x.ResponseWriter.WriteHeader(status)
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x, start := &exchange{ResponseWriter: w, user: "-"}, time.Now()
	asked := r.Method + " " + r.URL.EscapedPath()
	defer func() {
		failure := recover()
		if failure != nil && r.Context().Err() == nil { // otherwise, the client closed the connection
			s.Log.Printf("panic: %s: %v\n%s", asked, failure, debug.Stack())
		}
		if failure != nil && x.status == 0 {
			s.refuse(x, &wire.Error{Status: http.StatusInternalServerError, Detail: internal})
			failure = nil
		}
		s.Log.Printf("%s %s %s %d %s", r.RemoteAddr, x.user, asked, cmp.Or(x.status, http.StatusOK), time.Since(start).Round(time.Millisecond))
		if failure != nil {
			panic(http.ErrAbortHandler) // abort the connection, so that the client notices the truncated response
		}
	}()
	if s.Local && !isLocal(r.Host) {
		s.refuse(x, &wire.Error{Status: http.StatusMisdirectedRequest, Detail: "this server only accepts requests addressed to this machine, such as http://localhost"})
		return
	}
	r.Header.Set("Content-Type", "application/json") // all bodies are parsed as JSON or YAML, whatever their Content-Type
	u := *r.URL
	r.URL = &u
	escaped := u.EscapedPath()
	if bare, found := strings.CutSuffix(escaped, "/"); found {
		escaped, u.Path, u.RawPath = bare, strings.TrimSuffix(u.Path, "/"), strings.TrimSuffix(u.RawPath, "/")
	}
	if path.Clean(escaped) != escaped { // the mux would redirect the request
		s.refuse(x, &wire.Error{Status: http.StatusNotFound, Detail: noPath})
		return
	}
	if _, pattern := s.mux.Handler(r); pattern != "" {
		s.mux.ServeHTTP(x, r)
		return
	}
	var allowed []string
	for _, method := range []string{http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut} {
		if _, pattern := s.mux.Handler(&http.Request{Method: method, URL: r.URL, Host: r.Host}); pattern != "" {
			allowed = append(allowed, method)
		}
	}
	problem := &wire.Error{Status: http.StatusNotFound, Detail: noPath}
	if allow := strings.Join(allowed, ", "); allow != "" {
		x.Header().Set("Allow", allow)
		problem = &wire.Error{Status: http.StatusMethodNotAllowed, Detail: "this path only allows " + allow}
	}
	s.refuse(x, problem)
}

// isLocal reports whether the Host header names this machine.
func isLocal(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	ip := net.ParseIP(name)
	return strings.EqualFold(name, "localhost") || ip != nil && ip.IsLoopback()
}

const noPath = "no such path; /openapi.json lists all paths"

// internal replaces the text of errors that users cannot fix, which may contain secrets.
const internal = "internal error; see the server's log"

// copied replaces the text of [store.ErrCopied], which contains a path on the server.
const copied = "the server's state is a copy or was restored from a backup, so it can only be read: if nothing uses the original, " +
	"run 'lumi state adopt' on the server"

// refuse writes an error response outside of an operation.
func (s *Server) refuse(w http.ResponseWriter, p *wire.Error) {
	p.Title = http.StatusText(p.Status)
	w.Header().Set("Content-Type", p.ContentType(""))
	w.WriteHeader(p.Status)
	_ = huma.DefaultJSONFormat.Marshal(w, p) // the client may have closed the connection
}

// problem converts an error of the service to its wire form.
func (s *Server) problem(err error) error {
	p := &wire.Error{Status: http.StatusInternalServerError, Detail: internal}
	var graph *taskgraph.Error
	var other *service.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &graph) && graph.File != "": // an error in an inventory file on the server, not in the upload
		p.Status, p.Detail = http.StatusBadRequest, (&taskgraph.Error{File: filepath.Base(graph.File), Problems: graph.Problems}).Error()
	case errors.As(err, &graph):
		p.Status, p.Problems = http.StatusBadRequest, graph.Problems
		if p.Detail = "1 error in task graphs"; len(p.Problems) != 1 {
			p.Detail = fmt.Sprintf("%d errors in task graphs", len(p.Problems))
		}
	case errors.As(err, &other):
		p.Status = map[service.Kind]int{
			service.Invalid: http.StatusBadRequest, service.NotFound: http.StatusNotFound, service.Conflict: http.StatusConflict,
		}[other.Kind]
		p.Detail = other.Message
	case errors.Is(err, store.ErrCopied):
		p.Status, p.Detail = http.StatusConflict, copied
	case !errors.Is(err, context.Canceled):
		s.Log.Printf("error: %v", err)
	}
	p.Title = http.StatusText(p.Status)
	return p
}

// need returns middleware that requires a token with the given role.
func (s *Server) need(role Role) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		scheme, token, _ := strings.Cut(ctx.Header("Authorization"), " ")
		var found entry
		if strings.EqualFold(scheme, "Bearer") && token != "" {
			var err error
			if found, err = s.Tokens.find(token); err != nil {
				s.Log.Printf("cannot read tokens, so none is accepted: %v", err)
			}
		}
		if _, w := humago.Unwrap(ctx); found.role != "" {
			w.(*exchange).user = found.name
		}
		switch {
		case found.role == "":
			ctx.SetHeader("WWW-Authenticate", "Bearer")
			_ = huma.WriteErr(s.api, ctx, http.StatusUnauthorized, "missing or invalid token; send the header Authorization: Bearer TOKEN")
		case !found.role.allows(role):
			_ = huma.WriteErr(s.api, ctx, http.StatusForbidden, fmt.Sprintf("the role %s is required; the token has %s", role, found.role))
		default:
			next(ctx)
		}
	}
}
