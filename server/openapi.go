package server

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/lumi-idl/lumi/server/wire"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/service"
)

// huma is configured by global variables. Parameter errors have status 400 and do not repeat the value.
var _ = func() bool {
	huma.DefaultArrayNullable, huma.ValidateStrictCasing = false, true
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		if status == http.StatusUnprocessableEntity || message == "cannot read request body" { // the client is gone
			status = http.StatusBadRequest
		}
		var parts []string
		for _, err := range errs {
			if d, ok := err.(huma.ErrorDetailer); ok {
				parts = append(parts, d.ErrorDetail().Location+": "+d.ErrorDetail().Message)
			} else {
				parts = append(parts, err.Error())
			}
		}
		if len(parts) > 0 {
			message = strings.Join(parts, "; ")
		}
		message, _, _ = strings.Cut(message, " into Go ") // Go type names do not matter to clients.
		return &wire.Error{Title: http.StatusText(status), Status: status, Detail: message}
	}
	return true
}()

// config returns the API configuration, without the documentation pages, which would load scripts.
func config() huma.Config {
	c := huma.DefaultConfig("Lumi", "1")
	c.CreateHooks, c.DocsPath, c.OpenAPIPath, c.SchemasPath, c.Transformers = nil, "", "", "", []huma.Transformer{locate}
	c.Info.Description = "Task graphs and their runs. Each path works with and without a trailing slash."
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token": {Type: "http", Scheme: "bearer", Description: "The roles are read, plan, and deploy; each includes the ones before it."},
	}
	for _, t := range []reflect.Type{reflect.TypeFor[taskgraph.Task](), reflect.TypeFor[service.Task]()} {
		c.Components.Schemas.RegisterTypeAlias(t, reflect.TypeFor[Task]())
	}
	return c
}

// Task is the schema of tasks, which accepts any attributes.
type Task struct {
	ID         string `json:"id" doc:"The name of the task, unique in its graph."`
	DatabaseID int64  `json:"_id,omitempty" doc:"The ID of the stored task; ignored in uploads."`
	Type       string `json:"type,omitempty" doc:"The type of the task, such as shell."`
}

// TransformSchema implements [huma.SchemaTransformer].
func (Task) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.AdditionalProperties = true
	return s
}

// describe registers the OpenAPI document, which requires no token, and returns it.
func (s *Server) describe() []byte {
	text, err := json.MarshalIndent(s.api.OpenAPI(), "", "  ")
	if err != nil {
		panic(err) // depends only on the code
	}
	text = append(text, '\n')
	s.mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/openapi+json")
		_, _ = w.Write(text) // The client may be gone.
	})
	return text
}

// OpenAPI returns the OpenAPI document as JSON.
func OpenAPI() []byte { return New(Options{}).document }
