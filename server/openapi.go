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

// Huma is configured through global variables. Parameter errors have status 400 and do not repeat the invalid value.
var _ = func() bool {
	huma.DefaultArrayNullable, huma.ValidateStrictCasing = false, true
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		if status == http.StatusUnprocessableEntity || message == "cannot read request body" { // the client closed the connection
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
		message, _, _ = strings.Cut(message, " into Go ") // Go type names mean nothing to clients
		return &wire.Error{Title: http.StatusText(status), Status: status, Detail: message}
	}
	return true
}()

// config returns the API configuration. It disables the documentation pages, which would load scripts from other sites.
func config() huma.Config {
	c := huma.DefaultConfig("Lumi", "1")
	c.CreateHooks, c.DocsPath, c.OpenAPIPath, c.SchemasPath, c.Transformers = nil, "", "", "", []huma.Transformer{locate}
	c.Info.Description = "Task graphs and their runs. Each path works with and without a trailing slash."
	c.Info.License = &huma.License{Name: "Apache 2.0", Identifier: "Apache-2.0"}
	c.Servers = []*huma.Server{
		{URL: "http://127.0.0.1:8440", Description: "The default address of 'lumi serve'."},
		{URL: "https://{address}", Description: "A server with a certificate.", Variables: map[string]*huma.ServerVariable{
			"address": {Default: "127.0.0.1:8440", Description: "The value of --listen, as seen by the client."},
		}},
	}
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token": {Type: "http", Scheme: "bearer", Description: "The roles are read, plan, and deploy; each includes the ones before it."},
	}
	c.Components.Responses = map[string]*huma.Response{"Failure": {
		Description: "The request failed.",
		Content: map[string]*huma.MediaType{(*wire.Error)(nil).ContentType(""): {
			Schema: c.Components.Schemas.Schema(reflect.TypeFor[wire.Error](), true, ""),
		}},
	}}
	for _, t := range []reflect.Type{reflect.TypeFor[taskgraph.Task](), reflect.TypeFor[service.Task]()} {
		c.Components.Schemas.RegisterTypeAlias(t, reflect.TypeFor[Task]())
	}
	c.Components.Schemas.RegisterTypeAlias(reflect.TypeFor[wire.ID](), reflect.TypeFor[id]())
	return c
}

// id is the JSON schema of [wire.ID]. Huma does not check it, since its messages about alternatives explain nothing.
type id struct{}

// Schema implements [huma.SchemaProvider].
func (id) Schema(huma.Registry) *huma.Schema { return anyOf(idForms()...) }

// null is the JSON schema of null.
var null = map[string]any{"type": "null"}

func anyOf(forms ...any) *huma.Schema {
	return &huma.Schema{Extensions: map[string]any{"anyOf": forms}}
}

func idForms() []any {
	number := map[string]any{"type": "integer", "format": "int64"}
	return []any{number, map[string]any{"type": "object", "properties": map[string]any{"id": number}, "required": []string{"id"}}}
}

// describe registers the handler for the OpenAPI document, which requires no token, and returns the document.
func (s *Server) describe() []byte {
	describeTasks(s.api.OpenAPI().Components.Schemas)
	schemas := s.api.OpenAPI().Components.Schemas.Map()
	schemas["NewSelection"].Properties["release"] = anyOf(append(idForms(), null)...)
	schemas["Selection"].Properties["release"] = anyOf(map[string]any{"$ref": "#/components/schemas/Release"}, null)
	text, err := json.MarshalIndent(s.api.OpenAPI(), "", "  ")
	if err != nil {
		panic(err) // cannot fail, since the document depends only on the code
	}
	text = append(text, '\n')
	s.mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/openapi+json")
		_, _ = w.Write(text) // the client may have closed the connection
	})
	return text
}

// OpenAPI returns the OpenAPI document as JSON.
func OpenAPI() []byte { return New(Options{}).document }
