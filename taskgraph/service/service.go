package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
	"github.com/lumi-idl/lumi/taskgraph/run"
	"github.com/lumi-idl/lumi/taskgraph/tasktype"
)

// Service is the API on a store.
type Service struct {
	Store store.Store
	Types tasktype.Registry
	// Inventory returns the nodes of an environment, and the data of its resources for conditions and refresh_on.
	Inventory func(ctx context.Context, environment string) (*inventory.Inventory, error)
	// Engine returns an engine that runs the graphs of an environment.
	Engine func(environment string) *run.Engine
}

// Create implements [API].
func (s *Service) Create(ctx context.Context, owner store.Owner, g taskgraph.Graph) (Graph, error) {
	added := Graph{Owner: owner, Type: g.Type, Name: g.Name}
	err := s.Store.Write(ctx, func(tx store.Tx) (err error) {
		added.ID, err = tx.AddGraph(store.TaskGraph{Owner: owner, Type: g.Type, Name: g.Name})
		if errors.Is(err, store.ErrExists) {
			return &Error{Conflict, fmt.Sprintf("there is a graph of type %s: update it", g.Type)}
		}
		added.Tasks = nil
		for _, t := range g.Tasks {
			text, err2 := json.Marshal(t)
			if err = errors.Join(err, err2); err != nil {
				return err
			}
			id, err := tx.AddGraphTask(store.GraphTask{Graph: added.ID, Name: t.ID, Content: string(text)})
			if err != nil {
				return err
			}
			added.Tasks = append(added.Tasks, Task{t, id})
		}
		return err
	})
	return added, err
}

// Effective implements [API].
func (s *Service) Effective(ctx context.Context, environment, graphType string, _ ...store.Layer) (Effective, error) {
	var layers []taskgraph.Layer
	err := s.Store.Read(ctx, func(tx store.Tx) error {
		graphs, err := tx.Graphs()
		for _, g := range graphs {
			if g.Type != graphType || g.Owner.Environment != environment || err != nil {
				continue
			}
			var rows []store.GraphTask
			rows, err = tx.GraphTasks(g.ID)
			l := taskgraph.Layer{Name: "cluster " + environment}
			for _, row := range rows {
				var t taskgraph.Task
				if err := json.Unmarshal([]byte(row.Content), &t); err != nil {
					return err
				}
				l.Tasks = append(l.Tasks, t)
			}
			layers = append(layers, l)
		}
		return err
	})
	return Effective{Type: graphType, Tasks: taskgraph.Merge(layers, false).Tasks}, err
}

// Start implements [API].
func (s *Service) Start(ctx context.Context, environment string, r RunRequest) (Run, error) {
	e, err := s.Effective(ctx, environment, r.Type)
	if err != nil {
		return Run{}, err
	}
	nodes, err := s.Inventory(ctx, environment)
	if err != nil {
		return Run{}, err
	}
	d, err := s.Engine(environment).Start(ctx, run.Request{Type: r.Type, Tasks: e.Tasks, Inventory: *nodes, Only: r.Nodes, Event: r.Event})
	return Run{ID: d.ID, Environment: environment, Type: d.Module, State: d.State, Created: d.Created}, err
}
