// Package openapitest is a client that is generated from docs/openapi.json, with short templates. Tests of package server use it.
package openapitest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
)

//go:generate go tool -modfile=../../../tools/go.mod oapi-codegen -generate=types,client -package=openapitest -templates=templates -o=client.gen.go ../../../docs/openapi.json

// Client calls the operations of a server.
type Client struct {
	URL, Token string
	HTTP       http.Client
}

// Response is a response with its body: JSON, or Problem if it is an error.
type Response[T any] struct {
	*http.Response
	Body    []byte
	JSON    *T
	Problem *Error
}

// send sends a request. The error says how the response differs from the OpenAPI document.
func send[T any](ctx context.Context, c *Client, status int, method, path string, params, body any, values ...any) (*Response[T], error) {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "{") {
			parts[i], values = url.PathEscape(fmt.Sprint(values[0])), values[1:]
		}
	}
	query, err := encode(params)
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
	q, err := http.NewRequestWithContext(ctx, method, c.URL+strings.Join(parts, "/")+query, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Authorization", "Bearer "+c.Token)
	q.Header.Set("Content-Type", "application/json")
	a, err := c.HTTP.Do(q)
	if err != nil {
		return nil, err
	}
	r := &Response[T]{Response: a}
	r.Body, err = io.ReadAll(a.Body)
	if err := errors.Join(err, a.Body.Close()); err != nil {
		return r, err
	}
	var out any = &r.JSON
	switch kind := a.Header.Get("Content-Type"); {
	case a.StatusCode >= 400 && kind == "application/problem+json":
		out = &r.Problem
	case a.StatusCode != status, status != http.StatusNoContent && kind != "application/json":
		return r, fmt.Errorf("%s %s: the document has no response %s of type %q", method, path, a.Status, kind)
	case status == http.StatusNoContent:
		return r, nil
	}
	d := json.NewDecoder(bytes.NewReader(r.Body))
	d.DisallowUnknownFields()
	return r, d.Decode(out)
}

// encode returns the query of parameters.
func encode(params any) (string, error) {
	text, err := json.Marshal(params)
	var values map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err = errors.Join(err, d.Decode(&values)); err != nil || len(values) == 0 {
		return "", err
	}
	query := url.Values{}
	for name, v := range values {
		if list, ok := v.([]any); ok {
			all := make([]string, len(list))
			for i := range list {
				all[i] = fmt.Sprint(list[i])
			}
			v = strings.Join(all, ",")
		}
		query.Set(name, fmt.Sprint(v))
	}
	return "?" + query.Encode(), nil
}

// unmarshal parses an object with properties and others.
func unmarshal(text []byte, known any, others *map[string]any, properties ...string) error {
	err := errors.Join(json.Unmarshal(text, known), json.Unmarshal(text, others))
	for _, name := range properties {
		delete(*others, name)
	}
	return err
}

func marshal(known any, others map[string]any) ([]byte, error) {
	text, err := json.Marshal(known)
	all := map[string]any{}
	err = errors.Join(err, json.Unmarshal(text, &all))
	if err != nil {
		return nil, err
	}
	maps.Copy(all, others)
	return json.Marshal(all)
}
