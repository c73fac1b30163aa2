package server

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/taskgraph/service"
)

type none struct{}

// The inputs of operations are exported because huma ignores embedded fields that are not.
type (
	// ByID identifies a graph, release, plugin, or run by its ID.
	ByID struct {
		ID int64 `path:"id"`
	}
	// ByTask identifies a task in a graph.
	ByTask struct {
		ByID
		Task int64 `path:"task" doc:"The ID of the stored task: its _id."`
	}
	// ByOwner identifies an environment by name, or a release or plugin by ID.
	ByOwner struct {
		Owner string `path:"id"`
		of    store.Owner
	}
	// ByType identifies a graph by its owner and type.
	ByType struct {
		ByOwner
		Type string `path:"type"`
	}
	// Upload is the body of operations that change a graph or its tasks.
	Upload struct {
		RawBody []byte `contentType:"application/yaml"`
	}
)

// Resolve implements [huma.Resolver]. It sets the owner from the path.
func (o *ByOwner) Resolve(ctx huma.Context) []error {
	layer, _, _ := strings.Cut(ctx.Operation().Path[1:], "/")
	if o.of.Layer = store.Layer(strings.TrimSuffix(layer, "s")); o.of.Layer == store.ClusterLayer {
		o.of.Environment = o.Owner
		return nil
	}
	var err error
	if o.of.ID, err = strconv.ParseInt(o.Owner, 10, 64); err != nil {
		return []error{fmt.Errorf("invalid %s %q: must be an ID", o.of.Layer, o.Owner)}
	}
	return nil
}

// response is a request or response with a JSON body.
type response[T any] struct{ Body T }

// failure refers to the description of error responses.
const failure = "#/components/responses/Failure"

// locate is a transformer that sets the Location header in responses about new objects.
func locate(ctx huma.Context, status string, value any) (any, error) {
	path := ""
	switch v := value.(type) {
	case service.Graph:
		path = fmt.Sprintf("/graphs/%d", v.ID)
	case service.Release:
		path = fmt.Sprintf("/%ss/%d", v.Layer, v.ID)
	case service.Run:
		path = fmt.Sprintf("/runs/%d", v.ID)
	}
	if status == strconv.Itoa(http.StatusCreated) {
		ctx.SetHeader("Location", path)
	}
	return value, nil
}

// operation returns an operation. The route is a method and a path, which determine the required role and the success
// status. The optional upload is the type of the request body.
func (s *Server) operation(route, id, summary string, upload ...reflect.Type) huma.Operation {
	method, path, _ := strings.Cut(route, " ")
	role, plans := Deploy, strings.HasSuffix(path, "/plan")
	if method == http.MethodGet {
		role = Read
	} else if plans {
		role = Plan
	}
	op := huma.Operation{
		OperationID: id, Method: method, Path: path, Summary: summary + ".", Tags: []string{strings.Split(path, "/")[1]},
		Description:  fmt.Sprintf("Requires a token with the role %s.", role),
		MaxBodyBytes: maxBody, BodyReadTimeout: cmp.Or(s.ReadTimeout, defaultRead),
		Responses:   map[string]*huma.Response{"4XX": {Ref: failure}, "default": {Ref: failure}},
		Middlewares: huma.Middlewares{s.need(role), s.checkQuery}, Security: []map[string][]string{{"token": {}}},
	}
	for _, t := range upload {
		op.RequestBody = &huma.RequestBody{Content: map[string]*huma.MediaType{"application/json": {Schema: s.schema(t)}}}
		op.SkipValidateBody = true
		op.Description += " The body is JSON or YAML."
	}
	if method == http.MethodDelete {
		op.DefaultStatus = http.StatusNoContent
	} else if method == http.MethodPost && !plans || strings.HasSuffix(path, "/deploy") {
		op.DefaultStatus = http.StatusCreated
	}
	return op
}

func (s *Server) schema(t reflect.Type) *huma.Schema {
	return s.api.OpenAPI().Components.Schemas.Schema(t, true, "")
}

// add registers an operation. Lists in responses are never null.
func add[I, O any](s *Server, route, id, summary string, f func(context.Context, *I) (O, error), upload ...reflect.Type) {
	op := s.operation(route, id, summary, upload...)
	call := func(ctx context.Context, in *I) (value O, err error) {
		value, err = f(ctx, in)
		if v := reflect.ValueOf(&value).Elem(); v.Kind() == reflect.Slice && v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		return value, s.problem(err)
	}
	if op.Method == http.MethodDelete {
		huma.Register(s.api, op, func(ctx context.Context, in *I) (*none, error) {
			_, err := call(ctx, in)
			return nil, err
		})
		return
	}
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*response[O], error) {
		value, err := call(ctx, in)
		return &response[O]{value}, err
	})
}

// checkQuery is middleware that rejects unknown query parameters. Otherwise, a typo could run another graph type or
// more nodes than intended.
func (s *Server) checkQuery(ctx huma.Context, next func(huma.Context)) {
	u := ctx.URL()
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		_ = huma.WriteErr(s.api, ctx, http.StatusBadRequest, "query: "+err.Error())
		return
	}
	var known []string
	for _, p := range ctx.Operation().Parameters {
		if p.In == "query" {
			known = append(known, p.Name)
		}
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(query)) {
		switch all := query[name]; {
		case !slices.Contains(known, name):
			errs = append(errs, fmt.Errorf("unknown query parameter %q; expected %s", name, cmp.Or(strings.Join(known, ", "), "none")))
		case len(all) > 1:
			errs = append(errs, fmt.Errorf("query.%s: given more than once; separate several values with commas", name))
		case all[0] == "":
			errs = append(errs, fmt.Errorf("query.%s: must not be empty", name))
		}
	}
	if errs != nil {
		_ = huma.WriteErr(s.api, ctx, http.StatusBadRequest, "", errs...)
		return
	}
	next(ctx)
}
