package client

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/service"
)

// Options configures [New].
type Options struct {
	// URL is the base URL of the server. It must use https unless the server runs on this machine, because requests
	// contain the token.
	URL, Token string
	// CA is the path of a PEM file with certificate authorities, which replace those of the system.
	CA string
	// Timeout limits the duration of each request. The default is 2 minutes.
	Timeout time.Duration
	// Reconnect limits the time for which followers of a run try to reconnect to the server. The default is 5 minutes.
	// Report is called when they lose the connection and when they have a new one. It may be nil.
	Reconnect time.Duration
	Report    func(message string)
}

const defaultTimeout, defaultReconnect = 2 * time.Minute, 5 * time.Minute

// New returns a client for the server's API. It does not connect. It returns an error if the options are invalid.
func New(o Options) (service.API, error) {
	u, err := url.Parse(o.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("must be a URL such as https://lumi.example.com:8440")
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
			return nil, fmt.Errorf("%s contains no PEM certificate", o.CA)
		}
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = config
	report := o.Report
	if report == nil {
		report = func(string) {}
	}
	return &remote{reconnect: cmp.Or(o.Reconnect, defaultReconnect), report: report, client: Client{URL: strings.TrimSuffix(u.String(), "/"), Token: o.Token, HTTP: http.Client{
		Transport: transport, Timeout: cmp.Or(o.Timeout, defaultTimeout),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // do not send the token to another server
	}}}, nil
}

// remote implements [service.API] with requests to a server.
type remote struct {
	client    Client
	reconnect time.Duration
	report    func(string)
}

// result returns the value in a response. If the response is an error, result returns the error that the service would
// have returned.
func result[T any](r *Response[T], err error) (T, error) {
	var none T
	if err != nil {
		return none, err
	}
	p := r.Problem
	switch {
	case p == nil:
		return r.JSON, nil
	case len(p.Problems) > 0:
		for i := range p.Problems {
			p.Problems[i].Line, p.Problems[i].Column = 0, 0 // positions in the request body mean nothing to the caller
		}
		return none, &taskgraph.Error{Problems: p.Problems}
	case p.Status == http.StatusUnauthorized:
		return none, fmt.Errorf("%s rejected the token: set LUMI_TOKEN to a token known to 'lumi serve'", r.client.URL)
	case kinds[p.Status] != "":
		return none, &service.Error{Kind: kinds[p.Status], Message: p.Detail}
	}
	return none, fmt.Errorf("%s: %s", r.client.URL, p.Detail)
}

var kinds = map[int]service.Kind{
	http.StatusBadRequest: service.Invalid, http.StatusNotFound: service.NotFound, http.StatusConflict: service.Conflict,
}

// done returns the error of a response that contains no value.
func done(r *Response[struct{}], err error) error {
	_, err = result(r, err)
	return err
}

func (r *remote) AddRelease(ctx context.Context, release Release) (Release, error) {
	if release.Layer == store.PluginLayer {
		return result(r.client.AddPlugin(ctx, release))
	}
	return result(r.client.AddRelease(ctx, release))
}
func (r *remote) Releases(ctx context.Context, layer store.Layer) ([]Release, error) {
	if layer == store.PluginLayer {
		return result(r.client.ListPlugins(ctx))
	}
	return result(r.client.ListReleases(ctx))
}
func (r *remote) DeleteRelease(ctx context.Context, layer store.Layer, id int64) error {
	if layer == store.PluginLayer {
		return done(r.client.DeletePlugin(ctx, id))
	}
	return done(r.client.DeleteRelease(ctx, id))
}
func (r *remote) Clusters(ctx context.Context) ([]Cluster, error) {
	return result(r.client.ListClusters(ctx))
}
func (r *remote) Use(ctx context.Context, s Selection) (Selection, error) {
	use := NewSelection{Release: new(ID), Plugins: []ID{}, Order: append([]store.Layer{}, s.Order...), Whole: &s.Whole}
	if s.Release != nil {
		*use.Release = ID(s.Release.ID)
	}
	for _, p := range s.Plugins {
		use.Plugins = append(use.Plugins, ID(p.ID))
	}
	return result(r.client.PutSelection(ctx, s.Environment, use))
}
func (r *remote) Selection(ctx context.Context, environment string) (Selection, error) {
	return result(r.client.GetSelection(ctx, environment))
}
func (r *remote) Graphs(ctx context.Context, owner *store.Owner) ([]Graph, error) {
	switch {
	case owner == nil:
		return result(r.client.ListGraphs(ctx))
	case owner.Layer == store.ClusterLayer:
		return result(r.client.ListClusterGraphs(ctx, owner.Environment))
	case owner.Layer == store.PluginLayer:
		return result(r.client.ListPluginGraphs(ctx, strconv.FormatInt(owner.ID, 10)))
	}
	return result(r.client.ListReleaseGraphs(ctx, strconv.FormatInt(owner.ID, 10)))
}
func (r *remote) Graph(ctx context.Context, id int64) (Graph, error) {
	return result(r.client.GetGraph(ctx, id))
}
func (r *remote) Find(ctx context.Context, owner store.Owner, graphType string) (Graph, error) {
	graphType = cmp.Or(graphType, taskgraph.DefaultType)
	switch owner.Layer {
	case store.ClusterLayer:
		return result(r.client.GetClusterGraph(ctx, owner.Environment, graphType))
	case store.PluginLayer:
		return result(r.client.GetPluginGraph(ctx, strconv.FormatInt(owner.ID, 10), graphType))
	}
	return result(r.client.GetReleaseGraph(ctx, strconv.FormatInt(owner.ID, 10), graphType))
}
func (r *remote) Create(ctx context.Context, owner store.Owner, g taskgraph.Graph) (Graph, error) {
	return result(r.client.CreateGraph(ctx, Upload{Type: g.Type, Name: &g.Name, Tasks: g.Tasks, Relations: []store.Owner{owner}}))
}
func (r *remote) Update(ctx context.Context, id int64, name *string, tasks []taskgraph.Task) (Graph, error) {
	return result(r.client.PutGraph(ctx, id, Upload{Name: name, Tasks: tasks}))
}
func (r *remote) Delete(ctx context.Context, id int64) error {
	return done(r.client.DeleteGraph(ctx, id))
}
func (r *remote) UpdateTask(ctx context.Context, graph, id int64, t taskgraph.Task) (Task, error) {
	return result(r.client.PutTask(ctx, graph, id, Task{Task: t}))
}
func (r *remote) DeleteTask(ctx context.Context, graph, id int64) error {
	return done(r.client.DeleteTask(ctx, graph, id))
}
func (r *remote) Effective(ctx context.Context, environment, graphType string, layers ...store.Layer) (Effective, error) {
	params := ExplainMergedTasksParams{Type: new(cmp.Or(graphType, taskgraph.DefaultType))}
	if len(layers) > 0 {
		params.Layers = &[]string{}
	}
	for _, l := range layers {
		*params.Layers = append(*params.Layers, string(l))
	}
	return result(r.client.ExplainMergedTasks(ctx, environment, params))
}
func (r *remote) Plan(ctx context.Context, environment string, q RunRequest) (Plan, error) {
	return result(r.client.PlanRun(ctx, environment, PlanRunParams{}, &q))
}
func (r *remote) Start(ctx context.Context, environment string, q RunRequest) (Run, error) {
	return result(r.client.DeployClusters(ctx, environment, DeployClustersParams{}, &q))
}
func (r *remote) Resume(ctx context.Context, id int64, answer *Answer) (Run, error) {
	return result(r.client.ResumeRun(ctx, id, answer))
}
func (r *remote) Stop(ctx context.Context, id int64) (Run, error) {
	return result(r.client.StopRun(ctx, id))
}
func (r *remote) Runs(ctx context.Context, environment string, before int64, limit int) ([]Run, error) {
	return result(r.client.ListRuns(ctx, environment, ListRunsParams{Before: &before, Limit: new(int64(limit))}))
}
func (r *remote) Run(ctx context.Context, id int64) (Run, error) {
	return result(r.client.GetRun(ctx, id))
}
func (r *remote) Events(ctx context.Context, id, after int64) ([]Event, error) {
	return result(r.client.GetEvents(ctx, id, GetEventsParams{After: &after}))
}
