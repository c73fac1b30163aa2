package store

import (
	"fmt"
	"reflect"
	"strings"
)

// Guarded returns tx for a write of an environment, for stores to pass to f. Its statements return [ErrNotFound] for rows of
// other environments, and an error for text that contains NUL, which some databases cannot store. Statements for releases,
// selections, and graphs are not restricted, since [Store.Write] has no environment for them.
func Guarded(tx Tx, environment string) Tx {
	return &guarded{Tx: tx, environment: environment, own: map[int64]bool{}}
}

type guarded struct {
	Tx
	environment string
	own         map[int64]bool // IDs of jobs that are known to be in the environment
}

// in returns an error if name is not the environment or the text of a row contains NUL.
func (t *guarded) in(name string, rows ...any) error {
	if name != t.environment {
		return fmt.Errorf("environment %s in a write of %s: %w", name, t.environment, ErrNotFound)
	}
	return checkText(rows...)
}

// job returns an error if a job is not in the environment or the text of a row contains NUL.
func (t *guarded) job(id int64, rows ...any) error {
	if !t.own[id] {
		j, err := t.Job(id)
		if err != nil {
			return err
		}
		if j.Environment != t.environment {
			return fmt.Errorf("deployment %d in a write of %s: %w", id, t.environment, ErrNotFound)
		}
		t.own[id] = true
	}
	return checkText(rows...)
}

// checkText returns an error if a string in the rows, which are structs, contains NUL.
func checkText(rows ...any) error {
	for _, row := range rows {
		v := reflect.ValueOf(row)
		for i := range v.NumField() {
			if field := v.Field(i); field.Kind() == reflect.String && strings.IndexByte(field.String(), 0) >= 0 {
				return fmt.Errorf("%s.%s contains NUL, which cannot be stored", v.Type().Name(), v.Type().Field(i).Name)
			}
		}
	}
	return nil
}

func (t *guarded) PutEnvironment(e Environment) error {
	if err := t.in(e.Name, e); err != nil {
		return err
	}
	return t.Tx.PutEnvironment(e)
}

func (t *guarded) DeleteEnvironment(name string) error {
	if err := t.in(name); err != nil {
		return err
	}
	return t.Tx.DeleteEnvironment(name)
}

func (t *guarded) PutVertices(environment string, put []Vertex, gone []string) error {
	if err := t.in(environment); err != nil {
		return err
	}
	for _, v := range put {
		if err := checkText(v); err != nil {
			return err
		}
	}
	return t.Tx.PutVertices(environment, put, gone)
}

func (t *guarded) AddJob(j Job, c Content) (id int64, err error) {
	if err := t.in(j.Environment, j, c); err != nil {
		return 0, err
	}
	if id, err = t.Tx.AddJob(j, c); err == nil {
		t.own[id] = true
	}
	return id, err
}

func (t *guarded) PutContent(id int64, c Content) error {
	if err := t.job(id, c); err != nil {
		return err
	}
	return t.Tx.PutContent(id, c)
}

func (t *guarded) PutJob(j Job) error {
	if err := t.in(j.Environment, j); err != nil {
		return err
	}
	return t.Tx.PutJob(j)
}

func (t *guarded) Touch(id, fence int64, states ...State) (Job, error) {
	j, err := t.Tx.Touch(id, fence, states...)
	if err == nil && j.Environment != t.environment {
		return j, fmt.Errorf("deployment %d in a write of %s: %w", id, t.environment, ErrFenced)
	}
	t.own[id] = err == nil
	return j, err
}

func (t *guarded) PutTask(r Task) error {
	if err := t.job(r.Deployment, r); err != nil {
		return err
	}
	return t.Tx.PutTask(r)
}

func (t *guarded) DeleteTasks(deployment int64) error {
	if err := t.job(deployment); err != nil {
		return err
	}
	return t.Tx.DeleteTasks(deployment)
}

func (t *guarded) PutStep(r Step) error {
	if err := t.job(r.Deployment, r); err != nil {
		return err
	}
	return t.Tx.PutStep(r)
}

func (t *guarded) DeleteSteps(deployment int64, except ...State) error {
	if err := t.job(deployment); err != nil {
		return err
	}
	return t.Tx.DeleteSteps(deployment, except...)
}

func (t *guarded) MoveSteps(from, to int64) error {
	for _, id := range []int64{from, to} {
		if err := t.job(id); err != nil {
			return err
		}
	}
	return t.Tx.MoveSteps(from, to)
}

func (t *guarded) Prune(environment string, jobs []int64) (int, error) {
	if err := t.in(environment); err != nil {
		return 0, err
	}
	return t.Tx.Prune(environment, jobs)
}

func (t *guarded) PutWorker(w Worker) error {
	if err := t.in(w.Environment, w); err != nil {
		return err
	}
	return t.Tx.PutWorker(w)
}

func (t *guarded) DeleteWorker(environment, owner string) error {
	if err := t.in(environment); err != nil {
		return err
	}
	return t.Tx.DeleteWorker(environment, owner)
}

func (t *guarded) AddEvents(environment string, events []Event) error {
	if err := t.in(environment); err != nil {
		return err
	}
	for _, e := range events {
		if err := checkText(e); err != nil {
			return err
		}
	}
	return t.Tx.AddEvents(environment, events)
}

func (t *guarded) PutTaskRuns(run int64, all []TaskRun) error {
	if err := t.job(run); err != nil {
		return err
	}
	for _, r := range all {
		if err := checkText(r); err != nil {
			return err
		}
	}
	return t.Tx.PutTaskRuns(run, all)
}
