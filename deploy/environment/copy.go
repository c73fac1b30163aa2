package environment

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/store"
)

// Copy copies an environment to another store: its graph, key, queue, and history, and its task graphs with the releases and
// plugins that they belong to. It returns [store.ErrNotFound] if the environment does not exist, and a *[job.RefusedError] if
// something runs in it or if the other store already contains it. Of a release that the other store already contains, nothing
// is changed.
func Copy(ctx context.Context, from, to store.Store, name string) error {
	return from.Read(ctx, func(src store.Tx) error {
		return to.Write(ctx, name, func(dst store.Tx) error {
			c := &copying{name: name, src: src, dst: dst, jobs: map[int64]int64{}, owners: map[int64]int64{}}
			for _, rows := range []func() error{c.environment, c.queueAndHistory, c.events, c.taskGraphs} {
				if err := rows(); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// copying copies rows from src to dst.
type copying struct {
	name     string
	src, dst store.Tx
	// jobs and owners map the IDs of jobs, and of releases and plugins, to those in dst.
	jobs, owners map[int64]int64
}

func (c *copying) environment() error {
	e, err := c.src.Environment(c.name)
	if err != nil {
		return err
	}
	if _, err := c.dst.Environment(c.name); err == nil {
		return job.Refuse("environment %s already exists: an environment keeps its name when it is copied, "+
			"so delete the existing one first with 'lumi env delete %[1]s', or use another state", c.name)
	} else if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	vertices, err := c.src.Vertices(c.name)
	return cmp.Or(err, c.dst.PutEnvironment(e), c.dst.PutVertices(c.name, vertices, nil), c.dst.PutEnvironment(e)) // restores the serial
}

func (c *copying) queueAndHistory() error {
	queue, err1 := c.src.Queue(c.name)
	history, err2 := c.src.History(c.name, 0, math.MaxInt32)
	runs, err3 := c.src.Runs(c.name, 0, math.MaxInt32)
	if err := cmp.Or(err1, err2, err3); err != nil {
		return err
	}
	all := slices.Concat(queue, history, runs)
	slices.SortFunc(all, func(a, b store.Job) int { return cmp.Compare(a.ID, b.ID) })
	for _, j := range all {
		if j.State == store.Running || j.State == store.Aborting {
			return job.Refuse("%s is running: wait until it ends", job.Name(j))
		}
		if err := c.job(j); err != nil {
			return err
		}
	}
	return nil
}

// job copies a job with its content, tasks, steps, and task runs.
func (c *copying) job(j store.Job) error {
	content, err := c.src.Content(j.ID)
	if err != nil {
		return err
	}
	old := j.ID
	j.Place, j.Owner, j.Expires = c.jobs[j.Place], "", time.Time{} // 0, which selects the new ID, if it is the job's own place
	id, err := c.dst.AddJob(j, content)
	if err != nil {
		return err
	}
	c.jobs[old] = id
	tasks, err1 := c.src.Tasks(old)
	steps, err2 := c.src.Steps(old)
	runs, err3 := c.src.TaskRuns(old)
	if err := cmp.Or(err1, err2, err3); err != nil {
		return err
	}
	for _, t := range tasks {
		t.Deployment = id
		if err := c.dst.PutTask(t); err != nil {
			return err
		}
	}
	for _, s := range steps {
		s.Deployment = id
		if err := c.dst.PutStep(s); err != nil {
			return err
		}
	}
	return c.dst.PutTaskRuns(id, runs)
}

func (c *copying) events() error {
	const batch = 1000
	for after := int64(0); ; {
		events, err := c.src.Events(c.name, 0, after, batch)
		if err != nil || len(events) == 0 {
			return err
		}
		after = events[len(events)-1].Serial
		for i := range events {
			events[i].Serial, events[i].Deployment = 0, c.jobs[events[i].Deployment]
		}
		if err := c.dst.AddEvents(c.name, events); err != nil {
			return err
		}
	}
}

// taskGraphs copies the selection of the environment, what it selects, and the graphs.
func (c *copying) taskGraphs() error {
	selections, err1 := c.src.Selections()
	graphs, err2 := c.src.Graphs()
	if err := cmp.Or(err1, err2); err != nil {
		return err
	}
	selected := slices.IndexFunc(selections, func(s store.Selection) bool { return s.Environment == c.name })
	var s store.Selection
	if selected >= 0 {
		s = selections[selected]
	}
	added, err := c.releases(append(slices.Clone(s.Plugins), s.Release))
	if err != nil {
		return err
	}
	for _, g := range graphs {
		if g.Owner.Environment != c.name && !added[g.Owner.ID] {
			continue
		}
		g.Owner.ID = c.owners[g.Owner.ID]
		if err := c.graph(g); err != nil {
			return err
		}
	}
	if selected < 0 {
		return nil
	}
	s.Release = c.owners[s.Release]
	for i, id := range s.Plugins {
		s.Plugins[i] = c.owners[id]
	}
	return c.dst.PutSelection(s)
}

// releases copies the releases and plugins with the given IDs. It returns the IDs of the added ones.
func (c *copying) releases(ids []int64) (added map[int64]bool, err error) {
	all, err1 := c.src.Releases()
	existing, err2 := c.dst.Releases()
	if err := cmp.Or(err1, err2); err != nil {
		return nil, err
	}
	added = map[int64]bool{}
	for _, r := range all {
		id := r.ID
		if !slices.Contains(ids, id) {
			continue
		}
		same := func(e store.Release) bool { return e.Layer == r.Layer && e.Name == r.Name && e.Version == r.Version }
		if i := slices.IndexFunc(existing, same); i >= 0 {
			c.owners[id] = existing[i].ID
			continue
		}
		if c.owners[id], err = c.dst.AddRelease(r); err != nil {
			return nil, err
		}
		added[id] = true
	}
	return added, nil
}

func (c *copying) graph(g store.TaskGraph) error {
	tasks, err := c.src.GraphTasks(g.ID)
	if err != nil {
		return err
	}
	order := g.Order
	g.Order = nil
	if g.ID, err = c.dst.AddGraph(g); err != nil {
		return err
	}
	ids := map[int64]int64{}
	for _, t := range tasks {
		old := t.ID
		t.Graph = g.ID
		if ids[old], err = c.dst.AddGraphTask(t); err != nil {
			return err
		}
	}
	for _, id := range order {
		g.Order = append(g.Order, ids[id])
	}
	return c.dst.PutGraph(g)
}
