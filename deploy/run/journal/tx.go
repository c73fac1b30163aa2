package journal

import (
	"iter"
	"slices"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/store"
)

// Graph returns the resource graph. Unchanged graphs are shared between transactions.
func (t *Tx) Graph() (*graph.Graph, error) {
	environment, err := t.useLatest()
	if err != nil || t.graph != nil {
		return t.graph, err
	}
	rows, err := t.Vertices(environment.Name)
	if err != nil {
		return nil, err
	}
	t.graph, err = t.journal.Codec().Graph(environment, rows)
	return t.graph, err
}

// Outline returns the resource graph, but its newest versions may omit resources.
func (t *Tx) Outline() (*graph.Graph, error) {
	environment, err := t.useLatest()
	if err != nil || t.graph != nil {
		return t.graph, err
	}
	return t.journal.Codec().Outline(t, environment)
}

// useLatest sets t.graph from the cache if the cached graph is current. It returns the environment, or a zero value if
// t.graph was already set.
func (t *Tx) useLatest() (environment store.Environment, err error) {
	if t.graph != nil {
		return environment, nil
	}
	j := t.journal
	if environment, err = t.Environment(j.Jobs.Environment); err != nil {
		return environment, err
	}
	if err := j.Key.Verify(environment.Key); err != nil { // Data sealed with the old key could not be opened again.
		return environment, err
	}
	t.serial = environment.Serial
	j.latest.mutex.Lock()
	defer j.latest.mutex.Unlock()
	if c := &j.latest; c.graph != nil && c.serial == t.serial && c.graph.Lineage == environment.Lineage {
		t.graph = c.graph
	}
	return environment, nil
}

// QueueAndGraph returns the unfinished deployments in queue order, and the resource graph.
func (t *Tx) QueueAndGraph() (rows []store.Job, g *graph.Graph, err error) {
	if rows, err = t.Queue(t.journal.Jobs.Environment); err == nil {
		g, err = t.Graph()
	}
	return rows, g, err
}

// SetGraph replaces the resource graph and stores the changes.
func (t *Tx) SetGraph(after *graph.Graph) error {
	before, err := t.Graph()
	if err != nil || before == after {
		return err
	}
	put, gone, err := t.journal.Codec().Changes(before, after)
	if err != nil {
		return err
	}
	if len(put)+len(gone) > 0 {
		if err := t.PutVertices(t.journal.Jobs.Environment, put, gone); err != nil {
			return err
		}
		t.serial++
	}
	t.graph = after
	return nil
}

// keep caches the resource graph for later transactions.
func (t *Tx) keep() {
	c := &t.journal.latest
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if t.graph != nil && (c.graph == nil || t.serial >= c.serial || t.graph.Lineage != c.graph.Lineage) {
		c.graph, c.serial = t.graph, t.serial
	}
}

// QueueCleanups queues the cleanups required after a deployment. It queues one for each module with unused versions
// and, if the deployment was aborted, one for the module's pending deletions. c is the content of the cleanups.
func (t *Tx) QueueCleanups(d store.Job, g *graph.Graph, c store.Content) error {
	modules := g.Unused()
	if d.Abort && len(g.Pending(d.Module)) > 0 && !slices.Contains(modules, d.Module) {
		modules = append(modules, d.Module)
	}
	for _, module := range modules {
		if _, err := t.QueueCleanup(module, c); err != nil {
			return err
		}
	}
	return nil
}

// QueueCleanup queues a cleanup of a module and returns its ID. If a cleanup of the module is already waiting, it
// returns the ID of that one after replacing its content.
func (t *Tx) QueueCleanup(module string, c store.Content) (int64, error) {
	rows, err := t.Queue(t.journal.Jobs.Environment)
	if err != nil {
		return 0, err
	}
	for _, d := range rows {
		if d.Kind == store.Cleanup && d.Module == module && d.State == store.Wait {
			return d.ID, t.PutContent(d.ID, c)
		}
	}
	d := store.Job{Environment: t.journal.Jobs.Environment, Module: module, Kind: store.Cleanup}
	err = t.Add(&d, c)
	return d.ID, err
}

// Log returns the events of a deployment, or of all deployments if id is 0, with serials greater than after, oldest
// first.
func (t *Tx) Log(id, after int64) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		for after := after; ; {
			events, err := t.Events(t.journal.Jobs.Environment, id, after, page)
			if err != nil {
				yield(store.Event{}, err)
				return
			}
			for _, event := range events {
				if after = event.Serial; !yield(event, nil) {
					return
				}
			}
			if len(events) < page {
				return
			}
		}
	}
}

// Deployments returns the deployments of the environment: first the queued ones in queue order, then the finished ones,
// latest first.
func (t *Tx) Deployments() iter.Seq2[store.Job, error] {
	return func(yield func(store.Job, error) bool) {
		rows, err := t.Queue(t.journal.Jobs.Environment)
		for before := int64(0); ; {
			for _, d := range rows {
				if !yield(d, nil) {
					return
				}
			}
			if err == nil {
				rows, err = t.History(t.journal.Jobs.Environment, before, page)
			}
			switch {
			case err != nil:
				yield(store.Job{}, err)
				return
			case len(rows) == 0:
				return
			}
			before = rows[len(rows)-1].ID
		}
	}
}

// page is the number of history rows to read at once.
const page = 1000
