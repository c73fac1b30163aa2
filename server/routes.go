package server

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/server/wire"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/service"
)

// Types of request bodies.
var (
	graphType = reflect.TypeFor[wire.Upload]()
	tasksType = reflect.TypeFor[[]taskgraph.Task]()
	taskType  = reflect.TypeFor[taskgraph.Task]()
)

var errOwner = invalid(`relations must have one owner, such as {"layer": "cluster", "environment": "prod"} or {"layer": "release", "id": 1}`)

func invalid(format string, args ...any) error {
	return &service.Error{Kind: service.Invalid, Message: fmt.Sprintf(format, args...)}
}

// parse parses a graph and its owner. The owner is nil if the body names none.
func parse(body []byte) (g *taskgraph.Upload, of *store.Owner, err error) {
	g, err = taskgraph.ParseUpload(body)
	if err != nil || g.Relations == nil {
		return g, nil, err
	}
	var owners []store.Owner
	text, err := json.Marshal(g.Relations)
	if err != nil || json.Unmarshal(text, &owners) != nil || len(owners) != 1 {
		return nil, nil, errOwner
	}
	return g, &owners[0], nil
}

// update applies the changes in body to g. It keeps fields that are missing from the body.
func (s *Server) update(ctx context.Context, g service.Graph, body []byte) (service.Graph, error) {
	change, of, err := parse(body)
	switch {
	case err != nil:
		return g, err
	case change.Type != "" && change.Type != g.Type:
		return g, invalid("the type of graph %d is %s and cannot be changed", g.ID, g.Type)
	case of != nil && *of != g.Relations[0]:
		return g, invalid("the owner of graph %d cannot be changed", g.ID)
	}
	var name *string
	if change.Name != "" || change.Unnamed {
		name = &change.Name
	}
	g, err = s.API.Update(ctx, g.ID, name, change.Tasks)
	g.Warnings = change.Warnings
	return g, err
}

// create adds a graph. If of is nil, the body must name the owner.
func (s *Server) create(ctx context.Context, of *store.Owner, body []byte) (service.Graph, error) {
	g, owner, err := parse(body)
	switch {
	case err != nil:
		return service.Graph{}, err
	case cmp.Or(of, owner) == nil:
		return service.Graph{}, errOwner
	case of != nil && owner != nil && *of != *owner:
		return service.Graph{}, invalid("relations must name the same owner as the path")
	}
	created, err := s.API.Create(ctx, *cmp.Or(of, owner), g.Graph)
	created.Warnings = g.Warnings
	return created, err
}

// graphs registers the operations on graphs and tasks by ID.
func (s *Server) graphs() {
	type upload struct {
		ByID
		Upload
	}
	put := func(ctx context.Context, in *upload) (service.Graph, error) {
		g, err := s.API.Graph(ctx, in.ID)
		if err == nil {
			g, err = s.update(ctx, g, in.RawBody)
		}
		return g, err
	}
	add(s, "GET /graphs", "list-graphs", "List all graphs, without tasks",
		func(ctx context.Context, _ *none) ([]service.Graph, error) { return s.API.Graphs(ctx, nil) })
	add(s, "POST /graphs", "create-graph", "Create a graph",
		func(ctx context.Context, in *Upload) (service.Graph, error) { return s.create(ctx, nil, in.RawBody) }, graphType)
	add(s, "GET /graphs/{id}", "get-graph", "Get a graph",
		func(ctx context.Context, in *ByID) (service.Graph, error) { return s.API.Graph(ctx, in.ID) })
	add(s, "PUT /graphs/{id}", "put-graph", "Update a graph. Unchanged tasks keep their IDs", put, graphType)
	add(s, "DELETE /graphs/{id}", "delete-graph", "Delete a graph",
		func(ctx context.Context, in *ByID) (none, error) { return none{}, s.API.Delete(ctx, in.ID) })
	add(s, "GET /graphs/{id}/tasks", "list-tasks", "Get the tasks of a graph", func(ctx context.Context, in *ByID) ([]service.Task, error) {
		g, err := s.API.Graph(ctx, in.ID)
		return g.Tasks, err
	})
	add(s, "PUT /graphs/{id}/tasks", "put-tasks", "Replace the tasks of a graph. Unchanged ones keep their IDs", func(ctx context.Context, in *upload) ([]service.Task, error) {
		if change, _, err := parse(in.RawBody); err == nil && change.Tasks == nil {
			return nil, invalid("tasks is missing; an empty list removes all tasks")
		}
		g, err := put(ctx, in)
		for i, t := range g.Tasks {
			isOther := func(p taskgraph.Problem) bool { return p.Task != t.ID }
			g.Tasks[i].Warnings = slices.DeleteFunc(slices.Clone(g.Warnings), isOther)
		}
		return g.Tasks, err
	}, tasksType)
	add(s, "GET /graphs/{id}/tasks/{task}", "get-task", "Get a task", func(ctx context.Context, in *ByTask) (service.Task, error) {
		g, err := s.API.Graph(ctx, in.ID)
		if err != nil {
			return service.Task{}, err
		}
		for _, t := range g.Tasks {
			if t.DatabaseID == in.Task {
				return t, nil
			}
		}
		return service.Task{}, &service.Error{Kind: service.NotFound, Message: fmt.Sprintf("graph %d has no task %d", in.ID, in.Task)}
	})
	add(s, "PUT /graphs/{id}/tasks/{task}", "put-task", "Replace a task. It gets a new ID if it changes", func(ctx context.Context, in *struct {
		ByTask
		Upload
	}) (service.Task, error) {
		t, warnings, err := taskgraph.ParseTask(in.RawBody)
		if err != nil {
			return service.Task{}, err
		}
		updated, err := s.API.UpdateTask(ctx, in.ID, in.Task, t)
		updated.Warnings = warnings
		return updated, err
	}, taskType)
	add(s, "DELETE /graphs/{id}/tasks/{task}", "delete-task", "Delete a task",
		func(ctx context.Context, in *ByTask) (none, error) {
			return none{}, s.API.DeleteTask(ctx, in.ID, in.Task)
		})
}

// owned registers the operations on graphs by owner.
func (s *Server) owned(layer store.Layer) {
	path, name := fmt.Sprintf(" /%ss/{id}/deployment_graphs", layer), string(layer)
	find := func(ctx context.Context, in *ByType) (service.Graph, error) { return s.API.Find(ctx, in.of, in.Type) }
	add(s, "GET"+path, "list-"+name+"-graphs", "List the graphs of a "+name+", without tasks",
		func(ctx context.Context, in *ByOwner) ([]service.Graph, error) { return s.API.Graphs(ctx, &in.of) })
	add(s, "POST"+path, "create-"+name+"-graph", "Create a graph of a "+name, func(ctx context.Context, in *struct {
		ByOwner
		Upload
	}) (service.Graph, error) {
		return s.create(ctx, &in.of, in.RawBody)
	}, graphType)
	add(s, "GET"+path+"/{type}", "get-"+name+"-graph", "Get a graph of a "+name, find)
	add(s, "PUT"+path+"/{type}", "put-"+name+"-graph", "Update a graph of a "+name, func(ctx context.Context, in *struct {
		ByType
		Upload
	}) (service.Graph, error) {
		g, err := find(ctx, &in.ByType)
		if err == nil {
			g, err = s.update(ctx, g, in.RawBody)
		}
		return g, err
	}, graphType)
	add(s, "DELETE"+path+"/{type}", "delete-"+name+"-graph", "Delete a graph of a "+name, func(ctx context.Context, in *ByType) (none, error) {
		g, err := find(ctx, in)
		if err == nil {
			err = s.API.Delete(ctx, g.ID)
		}
		return none{}, err
	})
}

// releases registers the operations on releases or, depending on layer, plugins.
func (s *Server) releases(layer store.Layer) {
	path, name := fmt.Sprintf(" /%ss", layer), string(layer)
	add(s, "GET"+path, "list-"+name+"s", "List "+name+"s",
		func(ctx context.Context, _ *none) ([]service.Release, error) { return s.API.Releases(ctx, layer) })
	add(s, "POST"+path, "add-"+name, "Add a "+name, func(ctx context.Context, in *response[service.Release]) (service.Release, error) {
		return s.API.AddRelease(ctx, service.Release{Layer: layer, Name: in.Body.Name, Version: in.Body.Version})
	})
	add(s, "GET"+path+"/{id}", "get-"+name, "Get a "+name, func(ctx context.Context, in *ByID) (service.Release, error) {
		all, err := s.API.Releases(ctx, layer)
		i := slices.IndexFunc(all, func(r service.Release) bool { return r.ID == in.ID })
		if err == nil && i < 0 {
			err = &service.Error{Kind: service.NotFound, Message: fmt.Sprintf("%s %d does not exist", layer, in.ID)}
		}
		if err != nil {
			return service.Release{}, err
		}
		return all[i], nil
	})
	add(s, "DELETE"+path+"/{id}", "delete-"+name, "Delete a "+name+" with its graphs",
		func(ctx context.Context, in *ByID) (none, error) {
			return none{}, s.API.DeleteRelease(ctx, layer, in.ID)
		})
}

type (
	merged struct {
		ByOwner
		Type   string        `query:"type" default:"default"`
		Layers []store.Layer `query:"layers" doc:"Only these layers: release, cluster, plugin."`
	}
	request struct {
		ByOwner
		Type  string   `query:"type" doc:"The graph type; the default is \"default\"."`
		Graph string   `query:"graph_type" doc:"An alias of type."`
		Nodes []string `query:"nodes" doc:"Comma-separated node names; the default is all."`
		Event string   `query:"event"`
		All   bool     `query:"all" doc:"Also run tasks that have nothing to do."`
		Body  *service.RunRequest
	}
)

// run returns the request for a run. Query parameters override the body.
func (r *request) run() service.RunRequest {
	run := *cmp.Or(r.Body, &service.RunRequest{})
	if len(r.Nodes) > 0 {
		run.Nodes = r.Nodes
	}
	run.Type, run.Event, run.All = cmp.Or(r.Graph, r.Type, run.Type), cmp.Or(r.Event, run.Event), run.All || r.All
	return run
}

// change applies a [wire.NewSelection] in JSON to a selection. Decoding keeps the fields that are missing from the body.
func change(s *service.Selection, body []byte) error {
	n := wire.NewSelection{Order: s.Order, Whole: &s.Whole}
	if s.Release != nil {
		n.Release = new(wire.ID(s.Release.ID))
	}
	for _, p := range s.Plugins {
		n.Plugins = append(n.Plugins, wire.ID(p.ID))
	}
	if err := json.Unmarshal(body, &n); err != nil {
		return invalid("%v", err) // huma has decoded the body before
	}
	s.Release, s.Plugins, s.Order, s.Whole = nil, nil, n.Order, n.Whole != nil && *n.Whole
	if n.Release != nil && *n.Release != 0 {
		s.Release = &service.Release{ID: int64(*n.Release)}
	}
	for _, id := range n.Plugins {
		s.Plugins = append(s.Plugins, service.Release{ID: int64(id)})
	}
	return nil
}

// clusters registers the remaining operations on environments.
func (s *Server) clusters() {
	const path = " /clusters/{id}"
	add(s, "GET /clusters", "list-clusters", "List the environments",
		func(ctx context.Context, _ *none) ([]service.Cluster, error) { return s.API.Clusters(ctx) })
	add(s, "GET"+path+"/selection", "get-selection", "Get the layers of an environment",
		func(ctx context.Context, in *ByOwner) (service.Selection, error) {
			return s.API.Selection(ctx, in.Owner)
		})
	add(s, "PUT"+path+"/selection", "put-selection", "Select the layers of an environment", func(ctx context.Context, in *struct {
		ByOwner
		Body    wire.NewSelection
		RawBody []byte
	}) (service.Selection, error) {
		s.selecting.Lock()
		defer s.selecting.Unlock()
		use, err := s.API.Selection(ctx, in.Owner)
		if err == nil {
			err = change(&use, in.RawBody)
		}
		if err == nil {
			use, err = s.API.Use(ctx, use)
		}
		return use, err
	})
	explain := func(ctx context.Context, in *merged) (service.Effective, error) {
		return s.API.Effective(ctx, in.Owner, in.Type, in.Layers...)
	}
	add(s, "GET"+path+"/deployment_tasks", "get-merged-tasks", "Get the merged tasks of an environment", func(ctx context.Context, in *merged) ([]taskgraph.Task, error) {
		e, err := explain(ctx, in)
		return e.Tasks, err
	})
	add(s, "GET"+path+"/deployment_tasks/origins", "explain-merged-tasks", "Get the merged tasks and the layer that sets each attribute", explain)
	add(s, "POST"+path+"/plan", "plan-run", "Show what a run would do",
		func(ctx context.Context, in *request) (service.Plan, error) {
			return s.API.Plan(ctx, in.Owner, in.run())
		})
	deploy := func(ctx context.Context, in *request) (service.Run, error) {
		return s.API.Start(ctx, in.Owner, in.run())
	}
	add(s, "PUT"+path+"/deploy", "deploy-clusters", "Run a graph on the nodes of an environment", deploy)
	add(s, "PUT /cluster/{id}/deploy", "deploy-cluster", "Run a graph on the nodes of an environment", deploy)
	add(s, "GET"+path+"/runs", "list-runs", "List the runs of an environment, newest first", func(ctx context.Context, in *struct {
		ByOwner
		Before int64 `query:"before" doc:"Only runs with a lower ID."`
		Limit  int   `query:"limit" default:"100" minimum:"1" maximum:"1000"`
	}) ([]service.Run, error) {
		return s.API.Runs(ctx, in.Owner, in.Before, in.Limit)
	})
}

// runs registers the operations on runs.
func (s *Server) runs() {
	add(s, "GET /runs/{id}", "get-run", "Get a run with its task runs",
		func(ctx context.Context, in *ByID) (service.Run, error) { return s.API.Run(ctx, in.ID) })
	s.events()
	add(s, "PUT /runs/{id}/stop", "stop-run", "Stop a run. Running tasks finish",
		func(ctx context.Context, in *ByID) (service.Run, error) { return s.API.Stop(ctx, in.ID) })
	add(s, "PUT /runs/{id}/resume", "resume-run", "Continue a run and optionally answer its question", func(ctx context.Context, in *struct {
		ByID
		Body *service.Answer
	}) (service.Run, error) {
		return s.API.Resume(ctx, in.ID, in.Body)
	})
}
