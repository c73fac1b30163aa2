// Package client is a client for 'lumi serve'. [Client] has a generated method for each operation in docs/openapi.json.
// [New] wraps a Client as a [service.API].
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/server/wire"
	"github.com/lumi-idl/lumi/taskgraph/service"
)

//go:generate go tool -modfile=../../tools/go.mod oapi-codegen -generate=types,client -package=client -templates=templates -exclude-schemas=Answer,Cluster,Effective,Error,Event,Graph,NewSelection,Owner,Plan,PlanItem,PlanWindow,Problem,Release,Run,RunRequest,Selection,Task,TaskBoolean,TaskCross,TaskDependency,TaskExpression,TaskName,TaskNames,TaskReference,TaskReferences,TaskRetries,TaskRole,TaskRoles,TaskRun,TaskSeconds,TaskShare,TaskTest,TaskText,TaskTexts,Upload -o=client.gen.go ../../docs/openapi.json

type (
	// Answer is the body of ResumeRun: the answer to a run that is waiting for one.
	Answer = service.Answer
	// Cluster is an environment.
	Cluster = service.Cluster
	// Effective is a graph merged from the layers of an environment.
	Effective = service.Effective
	// Error is an error response.
	Error = wire.Error
	// Event is an event of a run.
	Event = store.Event
	// Graph is a stored graph.
	Graph = service.Graph
	// ID is the ID of a release or a plugin in a NewSelection.
	ID = wire.ID
	// NewSelection is the body of PutSelection.
	NewSelection = wire.NewSelection
	// Plan lists the tasks that a run would execute.
	Plan = service.Plan
	// Release is a release or a plugin.
	Release = service.Release
	// Run is a run with its task runs.
	Run = service.Run
	// RunRequest is the body of PlanRun and of the operations that start a run.
	RunRequest = service.RunRequest
	// Selection selects the layers of an environment.
	Selection = service.Selection
	// Task is a stored task.
	Task = service.Task
	// Upload creates or updates a graph.
	Upload = wire.Upload
)

// Client sends requests to a server.
type Client struct {
	// URL is the base URL, without a trailing slash. Token may be empty.
	URL, Token string
	HTTP       http.Client
}

// Response is an HTTP response with its decoded body, which is in Problem for an error and in JSON otherwise.
type Response[T any] struct {
	*http.Response
	Body    []byte
	JSON    T
	Problem *wire.Error
	client  *Client
}

// send sends a request. It replaces the placeholders in path with values. It returns an error if there is no response,
// or if the response is not from 'lumi serve'.
func send[T any](ctx context.Context, c *Client, method, path string, params, body any, values ...any) (*Response[T], error) {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "{") {
			parts[i], values = url.PathEscape(fmt.Sprint(values[0])), values[1:]
		}
	}
	query, header, err := encode(params)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	if string(text) == "null" {
		text = nil
	}
	header.Set("Content-Type", "application/json")
	a, err := c.do(ctx, c.HTTP, method, strings.Join(parts, "/")+query, header, text)
	if err != nil {
		return nil, err
	}
	defer func() { _ = a.Body.Close() }()
	return receive[T](c, a)
}

func (c *Client) do(ctx context.Context, by http.Client, method, path string, header http.Header, body []byte) (*http.Response, error) {
	q, err := http.NewRequestWithContext(ctx, method, c.URL+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	q.Header = header
	if c.Token != "" {
		q.Header.Set("Authorization", "Bearer "+c.Token)
	}
	a, err := by.Do(q)
	if wrong, ok := errors.AsType[*url.Error](err); ok {
		err = fmt.Errorf("%s: %w", c.URL, wrong.Err)
	}
	return a, err
}

// receive reads and decodes a response.
func receive[T any](c *Client, a *http.Response) (*Response[T], error) {
	r := &Response[T]{Response: a, client: c}
	var err error
	if r.Body, err = io.ReadAll(a.Body); err != nil {
		return nil, fmt.Errorf("%s: %w", c.URL, err)
	}
	switch {
	case a.StatusCode == http.StatusNoContent:
	case a.StatusCode < 300:
		if err := json.Unmarshal(r.Body, &r.JSON); err != nil {
			return r, fmt.Errorf("%s does not answer like 'lumi serve': %w", c.URL, err)
		}
	default:
		if err := json.Unmarshal(r.Body, &r.Problem); err != nil || r.Problem == nil || r.Problem.Status != a.StatusCode {
			return r, fmt.Errorf("%s does not answer like 'lumi serve': %s", c.URL, a.Status)
		}
	}
	return r, nil
}

// encode returns params as a query string and a header. The names of headers, and only they, begin with a capital.
func encode(params any) (string, http.Header, error) {
	text, err := json.Marshal(params)
	var values map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	query, header := url.Values{}, http.Header{}
	err = errors.Join(err, d.Decode(&values))
	for name, v := range values {
		if list, ok := v.([]any); ok {
			all := make([]string, len(list))
			for i := range list {
				all[i] = fmt.Sprint(list[i])
			}
			v = strings.Join(all, ",")
		}
		if name[0] <= 'Z' {
			header.Set(name, fmt.Sprint(v))
		} else {
			query.Set(name, fmt.Sprint(v))
		}
	}
	if err != nil || len(query) == 0 {
		return "", header, err
	}
	return "?" + query.Encode(), header, nil
}
