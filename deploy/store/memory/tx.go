package memory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
)

// tx is a transaction with its own copy of the data.
type tx struct {
	data
	now time.Time
}

// Now implements [store.Tx].
func (t *tx) Now() time.Time { return t.now }

func (t *tx) environment(name string) (int, error) {
	i, found := slices.BinarySearchFunc(t.environments, store.Environment{Name: name}, byName)
	if !found {
		return 0, fmt.Errorf("environment %s: %w", name, store.ErrNotFound)
	}
	return i, nil
}

func (t *tx) deployment(id int64) (int, error) {
	i, found := slices.BinarySearchFunc(t.deployments, deployment{Job: store.Job{ID: id}}, byID)
	if !found {
		return 0, fmt.Errorf("deployment %d: %w", id, store.ErrNotFound)
	}
	return i, nil
}

func (t *tx) Environments() ([]store.Environment, error) { return slices.Clone(t.environments), nil }

func (t *tx) Environment(name string) (store.Environment, error) {
	i, err := t.environment(name)
	if err != nil {
		return store.Environment{}, err
	}
	return t.environments[i], nil
}

func (t *tx) PutEnvironment(e store.Environment) error {
	t.environments = put(t.environments, e, byName)
	return nil
}

func (t *tx) DeleteEnvironment(name string) error {
	if _, err := t.environment(name); err != nil {
		return err
	}
	owned := func(id int64) bool {
		i, err := t.deployment(id)
		return err == nil && t.deployments[i].Environment == name
	}
	t.tasks = find(t.tasks, func(r store.Task) bool { return !owned(r.Deployment) }, same)
	t.steps = find(t.steps, func(r store.Step) bool { return !owned(r.Deployment) }, same)
	t.taskRuns = find(t.taskRuns, func(r taskRuns) bool { return !owned(r.run) }, same)
	t.deployments = find(t.deployments, func(r deployment) bool { return r.Environment != name }, same)
	t.vertices = find(t.vertices, func(r vertex) bool { return r.environment != name }, same)
	t.workers = find(t.workers, func(r store.Worker) bool { return r.Environment != name }, same)
	t.events = find(t.events, func(r events) bool { return r.environment != name }, same)
	t.selections = find(t.selections, func(r store.Selection) bool { return r.Environment != name }, same)
	t.deleteGraphs(func(o store.Owner) bool { return o.Environment == name })
	t.environments = find(t.environments, func(r store.Environment) bool { return r.Name != name }, same)
	return nil
}

func (t *tx) Vertices(environment string) ([]store.Vertex, error) {
	of := func(r vertex) bool { return r.environment == environment }
	return find(t.vertices, of, func(r vertex) store.Vertex { return r.Vertex }), nil
}

func (t *tx) VerticesFrom(environment, from string, limit int) (all []store.Vertex, err error) {
	at, _ := slices.BinarySearchFunc(t.vertices, vertex{environment, store.Vertex{Key: from}}, byKey)
	for ; at < len(t.vertices) && t.vertices[at].environment == environment && len(all) < limit; at++ {
		all = append(all, t.vertices[at].Vertex)
	}
	return all, nil
}

func (t *tx) PutVertices(environment string, add []store.Vertex, gone []string) error {
	i, err := t.environment(environment)
	if err != nil {
		return err
	}
	e := t.environments[i]
	e.Serial++
	t.environments = put(t.environments, e, byName)
	for _, v := range add {
		t.vertices = put(t.vertices, vertex{environment, v}, byKey)
	}
	if len(gone) > 0 {
		t.vertices = find(t.vertices, func(r vertex) bool {
			return r.environment != environment || !slices.Contains(gone, r.Key)
		}, same)
	}
	return nil
}

func (t *tx) AddJob(d store.Job, c store.Content) (int64, error) {
	if _, err := t.environment(d.Environment); err != nil {
		return 0, err
	}
	t.last++
	d.ID, d.Place = t.last, cmp.Or(d.Place, t.last)
	t.deployments = append(t.deployments, deployment{stored(d), c})
	return d.ID, nil
}

func (t *tx) Job(id int64) (store.Job, error) {
	i, err := t.deployment(id)
	if err != nil {
		return store.Job{}, err
	}
	return shown(t.deployments[i]), nil
}

func (t *tx) Content(id int64) (store.Content, error) {
	i, err := t.deployment(id)
	if err != nil {
		return store.Content{}, err
	}
	return t.deployments[i].content, nil
}

func (t *tx) PutContent(id int64, c store.Content) error {
	d, err := t.Job(id)
	if err == nil {
		t.deployments = put(t.deployments, deployment{d, c}, byID)
	}
	return err
}

func (t *tx) Queue(environment string) ([]store.Job, error) {
	queue := find(t.deployments, func(r deployment) bool {
		return r.Environment == environment && r.Kind != store.Tasks && !r.State.IsFinal()
	}, shown)
	slices.SortStableFunc(queue, func(a, b store.Job) int { return cmp.Compare(a.Place, b.Place) })
	return queue, nil
}

func (t *tx) History(environment string, before int64, limit int) ([]store.Job, error) {
	history := find(t.deployments, func(r deployment) bool {
		return r.Environment == environment && r.Kind != store.Tasks && r.State.IsFinal() && (before == 0 || r.ID < before)
	}, shown)
	slices.Reverse(history)
	return history[:min(len(history), max(limit, 0))], nil
}

func (t *tx) Ready(prefix string, after int64, limit int) ([]store.Job, error) {
	rows := find(t.deployments, func(d deployment) bool {
		return d.ID > after && strings.HasPrefix(d.Environment, prefix) && !t.now.Before(d.Expires) &&
			(d.State == store.Wait || d.State == store.Running || d.State == store.Aborting)
	}, shown)
	return rows[:min(len(rows), max(limit, 0))], nil
}

func (t *tx) PutJob(d store.Job) error {
	i, err := t.deployment(d.ID)
	if err != nil {
		return err
	}
	if t.deployments[i].Environment != d.Environment {
		return fmt.Errorf("deployment %d of %s: %w", d.ID, d.Environment, store.ErrNotFound)
	}
	t.deployments = put(t.deployments, deployment{stored(d), t.deployments[i].content}, byID)
	return nil
}

func (t *tx) Touch(id, fence int64, states ...store.State) (store.Job, error) {
	d, err := t.Job(id)
	if err != nil || d.Fence != fence || !slices.Contains(states, d.State) {
		return d, fmt.Errorf("deployment %d: %w", id, store.ErrFenced)
	}
	return d, nil
}

func (t *tx) Tasks(deployment int64) ([]store.Task, error) {
	return find(t.tasks, func(r store.Task) bool { return r.Deployment == deployment }, same), nil
}

func (t *tx) PutTask(r store.Task) error {
	if _, err := t.deployment(r.Deployment); err != nil {
		return err
	}
	t.tasks = put(t.tasks, r, byTask)
	return nil
}

func (t *tx) DeleteTasks(deployment int64) error {
	t.tasks = find(t.tasks, func(r store.Task) bool { return r.Deployment != deployment }, same)
	return nil
}

func (t *tx) Steps(deployment int64) ([]store.Step, error) {
	return find(t.steps, func(r store.Step) bool { return r.Deployment == deployment }, same), nil
}

func (t *tx) PutStep(r store.Step) error {
	if _, err := t.deployment(r.Deployment); err != nil {
		return err
	}
	r.Deadline = micros(r.Deadline)
	t.steps = put(t.steps, r, byStep)
	return nil
}

func (t *tx) DeleteSteps(deployment int64, except ...store.State) error {
	t.steps = find(t.steps, func(r store.Step) bool {
		return r.Deployment != deployment || slices.Contains(except, r.State)
	}, same)
	return nil
}

func (t *tx) MoveSteps(from, to int64) error {
	if _, err := t.deployment(to); err != nil {
		return err
	}
	if slices.ContainsFunc(t.steps, func(r store.Step) bool { return r.Deployment == to }) {
		return fmt.Errorf("deployment %d already has steps", to)
	}
	t.steps = slices.Clone(t.steps)
	for i := range t.steps {
		if t.steps[i].Deployment == from {
			t.steps[i].Deployment = to
		}
	}
	slices.SortFunc(t.steps, byStep)
	return nil
}

func (t *tx) Prune(environment string, jobs []int64) (deleted int, err error) {
	gone := map[int64]bool{}
	for _, id := range jobs {
		j, err := t.Job(id)
		gone[id] = err == nil && j.Environment == environment
	}
	for _, d := range t.deployments {
		if d.Kind == store.Tasks && d.Environment == environment {
			for _, run := range t.lastRuns(environment, d.Module) {
				delete(gone, run)
			}
		}
	}
	kept := func(id int64) bool { return !gone[id] }
	before := len(t.deployments)
	t.deployments = find(t.deployments, func(d deployment) bool { return kept(d.ID) }, same)
	t.tasks = find(t.tasks, func(r store.Task) bool { return kept(r.Deployment) }, same)
	t.steps = find(t.steps, func(r store.Step) bool { return kept(r.Deployment) }, same)
	t.taskRuns = find(t.taskRuns, func(r taskRuns) bool { return kept(r.run) }, same)
	var batches []events
	for _, batch := range t.events {
		for i, e := range batch.rows {
			if kept(e.Deployment) {
				batches = append(batches, events{batch.environment, batch.after + int64(i), batch.rows[i : i+1]})
			}
		}
	}
	t.events = batches
	return before - len(t.deployments), nil
}

func (t *tx) Workers(environment string) ([]store.Worker, error) {
	return find(t.workers, func(r store.Worker) bool { return r.Environment == environment }, same), nil
}

func (t *tx) PutWorker(w store.Worker) error {
	if _, err := t.environment(w.Environment); err != nil {
		return err
	}
	w.Seen = micros(w.Seen)
	t.workers = put(t.workers, w, byOwner)
	return nil
}

func (t *tx) DeleteWorker(environment, owner string) error {
	t.workers = find(t.workers, func(r store.Worker) bool { return r.Environment != environment || r.Owner != owner }, same)
	return nil
}

func (t *tx) AddEvents(environment string, all []store.Event) error {
	if _, err := t.environment(environment); err != nil {
		return err
	}
	if len(all) > 0 {
		t.events = append(t.events, events{environment, t.serial, all})
		t.serial += int64(len(all))
	}
	return nil
}

func (t *tx) Events(environment string, deployment, after int64, limit int) (all []store.Event, err error) {
	for _, part := range t.events {
		if part.environment != environment || part.after+int64(len(part.rows)) <= after {
			continue
		}
		for i, e := range part.rows {
			if len(all) >= limit {
				return all, nil
			}
			e.Serial, e.Time = part.after+int64(i)+1, micros(e.Time)
			if (deployment == 0 || e.Deployment == deployment) && e.Serial > after {
				all = append(all, e)
			}
		}
	}
	return all, nil
}
