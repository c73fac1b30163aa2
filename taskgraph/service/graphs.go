package service

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/taskgraph"
)

// Graphs implements [API].
func (s *Service) Graphs(ctx context.Context, owner *store.Owner) ([]Graph, error) {
	return read(ctx, s, func(v *view) []Graph {
		rows := v.graphs
		if owner != nil {
			_, of := v.owner(*owner)
			rows = v.graphsOf("", of)
		}
		all := make([]Graph, len(rows))
		for i, g := range rows {
			all[i] = Graph{ID: g.ID, Relations: [1]store.Owner{g.Owner}, Type: g.Type, Name: g.Name}
		}
		return all
	})
}

// graphsOf returns the graphs of the given owners and type. If the type is "", it returns the graphs of all types.
func (v *view) graphsOf(graphType string, owners ...store.Owner) (all []store.TaskGraph) {
	for _, o := range owners {
		for _, g := range v.graphs {
			if g.Owner == o && (graphType == "" || g.Type == graphType) {
				all = append(all, g)
			}
		}
	}
	return all
}

// Graph implements [API].
func (s *Service) Graph(ctx context.Context, id int64) (Graph, error) {
	return read(ctx, s, func(v *view) Graph { return v.tasks(v.graph(id)) })
}

func (v *view) graph(id int64) store.TaskGraph {
	i := slices.IndexFunc(v.graphs, func(g store.TaskGraph) bool { return g.ID == id })
	if i < 0 {
		v.fail(NotFound, "graph %d does not exist", id)
		return store.TaskGraph{}
	}
	return v.graphs[i]
}

// tasks returns a stored graph with its tasks.
func (v *view) tasks(row store.TaskGraph) Graph {
	g := Graph{ID: row.ID, Relations: [1]store.Owner{row.Owner}, Type: row.Type, Name: row.Name, Tasks: []Task{}}
	if v.err != nil {
		return g
	}
	var rows []store.GraphTask
	rows, v.err = v.GraphTasks(row.ID)
	for _, r := range rows {
		t := Task{DatabaseID: r.ID}
		v.err = cmp.Or(v.err, json.Unmarshal([]byte(r.Content), &t.Task))
		g.Tasks = append(g.Tasks, t)
	}
	slices.SortFunc(g.Tasks, func(a, b Task) int {
		return cmp.Compare(slices.Index(row.Order, a.DatabaseID), slices.Index(row.Order, b.DatabaseID))
	})
	return g
}

// plain returns tasks without their database IDs.
func plain(tasks []Task) []taskgraph.Task {
	all := make([]taskgraph.Task, len(tasks))
	for i, t := range tasks {
		all[i] = t.Task
	}
	return all
}

// Find implements [API].
func (s *Service) Find(ctx context.Context, owner store.Owner, graphType string) (Graph, error) {
	graphType = cmp.Or(graphType, taskgraph.DefaultType)
	return read(ctx, s, func(v *view) Graph {
		name, of := v.owner(owner)
		found := v.graphsOf(graphType, of)
		if found == nil {
			near := suggest.DidYouMean(graphType, typesOf(v.graphsOf("", of)))
			v.fail(NotFound, "%s has no graph of type %s%s", name, graphType, near)
			return Graph{}
		}
		return v.tasks(found[0])
	})
}

// Create implements [API].
func (s *Service) Create(ctx context.Context, owner store.Owner, g taskgraph.Graph) (Graph, error) {
	return write(ctx, s, func(v *view) Graph {
		name, of := v.owner(owner)
		row := store.TaskGraph{Owner: of, Type: cmp.Or(g.Type, taskgraph.DefaultType), Name: g.Name}
		if err := taskgraph.CheckName("graph type", row.Type); err != nil {
			v.fail(Invalid, "%v", err)
		}
		if v.graphsOf(row.Type, of) != nil {
			v.fail(Conflict, "%s already has a graph of type %s: update it instead", name, row.Type)
		}
		if v.err == nil {
			row.ID, v.err = v.AddGraph(row)
		}
		return v.put(row, g.Tasks)
	})
}

// Update implements [API].
func (s *Service) Update(ctx context.Context, id int64, name *string, tasks []taskgraph.Task) (Graph, error) {
	return write(ctx, s, func(v *view) Graph {
		row := v.graph(id)
		if name != nil {
			row.Name = *name
		}
		if tasks == nil {
			tasks = plain(v.tasks(row).Tasks)
		}
		return v.put(row, tasks)
	})
}

// UpdateTask implements [API].
func (s *Service) UpdateTask(ctx context.Context, graph, id int64, t taskgraph.Task) (updated Task, err error) {
	_, err = write(ctx, s, func(v *view) Graph {
		g, at := v.task(graph, id)
		if v.err == nil {
			g.Tasks[at].Task = t
		}
		if g = v.put(v.graph(graph), plain(g.Tasks)); v.err == nil {
			updated = g.Tasks[at]
		}
		return g
	})
	return updated, err
}

// DeleteTask implements [API].
func (s *Service) DeleteTask(ctx context.Context, graph, id int64) error {
	_, err := write(ctx, s, func(v *view) Graph {
		g, at := v.task(graph, id)
		if v.err == nil {
			g.Tasks = slices.Delete(g.Tasks, at, at+1)
		}
		return v.put(v.graph(graph), plain(g.Tasks))
	})
	return err
}

// task returns a graph and the index of the task with the given ID in it.
func (v *view) task(graph, id int64) (Graph, int) {
	g := v.tasks(v.graph(graph))
	at := slices.IndexFunc(g.Tasks, func(t Task) bool { return t.DatabaseID == id })
	if at < 0 {
		v.fail(NotFound, "graph %d has no task %d", graph, id)
	}
	return g, at
}

// put stores the name and the tasks of a graph, and checks all affected graphs. Unchanged tasks keep their IDs.
func (v *view) put(row store.TaskGraph, tasks []taskgraph.Task) Graph {
	name, _ := v.owner(row.Owner)
	if v.err = cmp.Or(v.err, form(name, tasks)); v.err != nil {
		return Graph{}
	}
	contents, kept := map[string]string{}, map[string]int64{}
	for _, t := range tasks {
		text, err := json.Marshal(t)
		v.err = cmp.Or(v.err, err)
		contents[t.ID] = string(text)
	}
	rows, err := v.GraphTasks(row.ID)
	v.err = cmp.Or(v.err, err)
	for _, r := range rows {
		if r.Content == contents[r.Name] {
			kept[r.Name] = r.ID
		} else if v.err == nil {
			v.err = v.DeleteGraphTask(r.ID)
		}
	}
	row.Order = make([]int64, len(tasks))
	for i, t := range tasks {
		if row.Order[i] = kept[t.ID]; row.Order[i] == 0 && v.err == nil {
			row.Order[i], v.err = v.AddGraphTask(store.GraphTask{Graph: row.ID, Name: t.ID, Content: contents[t.ID]})
		}
	}
	if v.err == nil {
		v.err = v.PutGraph(row)
	}
	v.checkOwner(row.Owner, row.Type)
	return v.tasks(row)
}

// form returns a *[taskgraph.Error] if the tasks are invalid on their own, regardless of other layers.
func form(layer string, tasks []taskgraph.Task) error {
	var all taskgraph.Error
	var one *taskgraph.Error
	seen := map[string]bool{}
	for _, t := range tasks {
		if seen[t.ID] {
			all.Problems = append(all.Problems, taskgraph.Problem{
				Task: t.ID, Attribute: "id", Message: "duplicate task id",
			})
		}
		seen[t.ID] = true
		if _, err := t.Spec(); errors.As(err, &one) {
			all.Problems = append(all.Problems, one.Problems...)
		}
	}
	if all.Problems == nil {
		return nil
	}
	for i := range all.Problems {
		all.Problems[i].Layer = layer
	}
	return &all
}

// Delete implements [API].
func (s *Service) Delete(ctx context.Context, id int64) error {
	_, err := write(ctx, s, func(v *view) any {
		row := v.graph(id)
		if v.err == nil {
			v.err = v.DeleteGraph(id)
		}
		v.checkOwner(row.Owner, row.Type)
		return nil
	})
	return err
}

// typesOf returns the types of graphs, sorted without duplicates.
func typesOf(graphs []store.TaskGraph) (types []string) {
	for _, g := range graphs {
		types = append(types, g.Type)
	}
	slices.Sort(types)
	return slices.Compact(types)
}
