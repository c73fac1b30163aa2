// Package client is package taskgraph/service over HTTP: it calls a server that 'lumi serve' runs.
package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/server/wire"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/service"
)

// Options say where the server is.
type Options struct {
	// URL is that of the server. It is only http on this machine, since requests have the token.
	URL, Token string
	// CA is a file with the certificates of authorities that are trusted in place of those of the system.
	CA string
	// Timeout bounds each request: 2 minutes by default.
	Timeout time.Duration
}

// caller is the API on a server.
type caller struct {
	base, token string
	http        http.Client
}

// New returns the API on a server. It does not connect yet.
func New(o Options) (service.API, error) {
	u, err := url.Parse(o.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the URL of a server is like https://lumi.example.com:8440")
	case u.Scheme == "http" && u.Hostname() != "localhost" && !net.ParseIP(u.Hostname()).IsLoopback():
		return nil, fmt.Errorf("%s would receive the token unencrypted: use https", o.URL)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.CA != "" {
		text, err := os.ReadFile(o.CA)
		if err != nil {
			return nil, err
		}
		if config.RootCAs = x509.NewCertPool(); !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s has no certificate in PEM", o.CA)
		}
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = config
	return &caller{strings.TrimSuffix(u.String(), "/"), o.Token, http.Client{
		Transport: transport, Timeout: cmp.Or(o.Timeout, 2*time.Minute),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // The token is for this server only.
	}}, nil
}

// do sends a request with a body, unless that is nil, and reads the response into out, unless that is nil.
func (c *caller) do(ctx context.Context, method, path string, body, out any) error {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := c.http.Do(r)
	if wrong, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("%s: %w", c.base, wrong.Err)
	} else if err != nil {
		return err
	}
	text, err = io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return fmt.Errorf("%s: %w", c.base, err)
	}
	if response.StatusCode >= 300 {
		return c.failure(response, text)
	}
	if out != nil {
		if err := json.Unmarshal(text, out); err != nil {
			return fmt.Errorf("%s does not answer like 'lumi serve': %w", c.base, err)
		}
	}
	return nil
}

// failure returns the error that a response has.
func (c *caller) failure(response *http.Response, text []byte) error {
	var p wire.Error
	if err := json.Unmarshal(text, &p); err != nil || p.Status != response.StatusCode {
		return fmt.Errorf("%s does not answer like 'lumi serve': %s", c.base, response.Status)
	}
	if len(p.Problems) > 0 {
		for i := range p.Problems {
			p.Problems[i].Line, p.Problems[i].Column = 0, 0 // They are those of the request.
		}
		return &taskgraph.Error{Problems: p.Problems}
	}
	if p.Status == http.StatusUnauthorized {
		return fmt.Errorf("%s does not accept the token: set LUMI_TOKEN to one that 'lumi serve' has", c.base)
	}
	if kind := kinds[p.Status]; kind != "" {
		return &service.Error{Kind: kind, Message: p.Detail}
	}
	return fmt.Errorf("%s: %s", c.base, p.Detail)
}

var kinds = map[int]service.Kind{
	http.StatusBadRequest: service.Invalid, http.StatusNotFound: service.NotFound, http.StatusConflict: service.Conflict,
}

// call is do for responses with a value.
func call[T any](ctx context.Context, c *caller, method, path string, body any) (value T, err error) {
	err = c.do(ctx, method, path, body, &value)
	return value, err
}

func releases(layer store.Layer) string { return "/" + url.PathEscape(string(layer)) + "s/" }
func cluster(environment string) string { return "/clusters/" + url.PathEscape(environment) + "/" }

func graphs(o *store.Owner) string {
	switch {
	case o == nil:
		return "/graphs/"
	case o.Layer == store.ClusterLayer:
		return cluster(o.Environment) + "deployment_graphs/"
	}
	return releases(o.Layer) + strconv.FormatInt(o.ID, 10) + "/deployment_graphs/"
}

func (c *caller) AddRelease(ctx context.Context, r service.Release) (service.Release, error) {
	return call[service.Release](ctx, c, "POST", releases(r.Layer), r)
}
func (c *caller) Releases(ctx context.Context, layer store.Layer) ([]service.Release, error) {
	return call[[]service.Release](ctx, c, "GET", releases(layer), nil)
}
func (c *caller) DeleteRelease(ctx context.Context, layer store.Layer, id int64) error {
	return c.do(ctx, "DELETE", releases(layer)+strconv.FormatInt(id, 10), nil, nil)
}
func (c *caller) Use(ctx context.Context, s service.Selection) (service.Selection, error) {
	use := wire.NewSelection{Order: s.Order, Whole: s.Whole}
	if s.Release != nil {
		use.Release = s.Release.ID
	}
	for _, p := range s.Plugins {
		use.Plugins = append(use.Plugins, p.ID)
	}
	return call[service.Selection](ctx, c, "PUT", cluster(s.Environment)+"selection", use)
}
func (c *caller) Selection(ctx context.Context, environment string) (service.Selection, error) {
	return call[service.Selection](ctx, c, "GET", cluster(environment)+"selection", nil)
}
func (c *caller) Graphs(ctx context.Context, owner *store.Owner) ([]service.Graph, error) {
	return call[[]service.Graph](ctx, c, "GET", graphs(owner), nil)
}
func (c *caller) Graph(ctx context.Context, id int64) (service.Graph, error) {
	return call[service.Graph](ctx, c, "GET", fmt.Sprintf("/graphs/%d", id), nil)
}
func (c *caller) Find(ctx context.Context, owner store.Owner, graphType string) (service.Graph, error) {
	return call[service.Graph](ctx, c, "GET", graphs(&owner)+url.PathEscape(cmp.Or(graphType, taskgraph.DefaultType))+"/", nil)
}
func (c *caller) Create(ctx context.Context, owner store.Owner, g taskgraph.Graph) (service.Graph, error) {
	return call[service.Graph](ctx, c, "POST", graphs(&owner), wire.Upload{Type: g.Type, Name: g.Name, Tasks: g.Tasks})
}
func (c *caller) Update(ctx context.Context, id int64, name *string, tasks []taskgraph.Task) (service.Graph, error) {
	change := wire.Upload{Tasks: tasks}
	if name != nil {
		change.Name = *name
	}
	return call[service.Graph](ctx, c, "PUT", fmt.Sprintf("/graphs/%d", id), change)
}
func (c *caller) Delete(ctx context.Context, id int64) error {
	return c.do(ctx, "DELETE", fmt.Sprintf("/graphs/%d", id), nil, nil)
}
func (c *caller) UpdateTask(ctx context.Context, graph, id int64, t taskgraph.Task) (service.Task, error) {
	return call[service.Task](ctx, c, "PUT", fmt.Sprintf("/graphs/%d/tasks/%d", graph, id), t)
}
func (c *caller) DeleteTask(ctx context.Context, graph, id int64) error {
	return c.do(ctx, "DELETE", fmt.Sprintf("/graphs/%d/tasks/%d", graph, id), nil, nil)
}
func (c *caller) Effective(ctx context.Context, environment, graphType string, layers ...store.Layer) (service.Effective, error) {
	names := []string{}
	for _, l := range layers {
		names = append(names, string(l))
	}
	query := url.Values{"type": {cmp.Or(graphType, taskgraph.DefaultType)}}
	if len(names) > 0 {
		query.Set("layers", strings.Join(names, ","))
	}
	return call[service.Effective](ctx, c, "GET", cluster(environment)+"deployment_tasks/origins?"+query.Encode(), nil)
}
func (c *caller) Plan(ctx context.Context, environment string, r service.RunRequest) (service.Plan, error) {
	return call[service.Plan](ctx, c, "POST", cluster(environment)+"plan", r)
}
func (c *caller) Start(ctx context.Context, environment string, r service.RunRequest) (service.Run, error) {
	return call[service.Run](ctx, c, "PUT", cluster(environment)+"deploy/", r)
}
func (c *caller) Resume(ctx context.Context, id int64, answer *service.Answer) (service.Run, error) {
	if answer == nil {
		return call[service.Run](ctx, c, "PUT", fmt.Sprintf("/runs/%d/resume", id), nil)
	}
	return call[service.Run](ctx, c, "PUT", fmt.Sprintf("/runs/%d/resume", id), answer)
}
func (c *caller) Stop(ctx context.Context, id int64) (service.Run, error) {
	return call[service.Run](ctx, c, "PUT", fmt.Sprintf("/runs/%d/stop", id), nil)
}
func (c *caller) Runs(ctx context.Context, environment string, before int64, limit int) ([]service.Run, error) {
	return call[[]service.Run](ctx, c, "GET", fmt.Sprintf("%sruns/?before=%d&limit=%d", cluster(environment), before, limit), nil)
}
func (c *caller) Run(ctx context.Context, id int64) (service.Run, error) {
	return call[service.Run](ctx, c, "GET", fmt.Sprintf("/runs/%d", id), nil)
}
func (c *caller) Events(ctx context.Context, id, after int64) ([]store.Event, error) {
	return call[[]store.Event](ctx, c, "GET", fmt.Sprintf("/runs/%d/events?after=%d", id, after), nil)
}
