package run

import (
	"context"
	"strings"
	"time"

	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/taskgraph/schedule"
)

// commit writes the pending records to the store and then reports their events.
func (x *execution) commit(ctx context.Context) error {
	x.lines = append(x.lines, x.take()...)
	if len(x.rows)+len(x.lines)+len(x.events) == 0 {
		return nil
	}
	if err := x.Record(ctx, func(t *job.Tx, _ store.Job) error { return x.put(t) }); err != nil {
		x.rows = x.rows[:len(x.rows)-len(x.starting)]
		return err
	}
	x.committed()
	return nil
}

func (x *execution) put(t *job.Tx) error {
	if err := t.PutTaskRuns(x.Job.ID, x.rows); err != nil {
		return err
	}
	t.Emit(x.events...)
	return t.AddEvents(x.Environment, x.lines)
}

func (x *execution) committed() {
	x.lines, x.rows, x.events = nil, rest(x.rows, 2*x.left), x.events[:0]
}

// rest returns an empty slice for further rows. It shares the unused capacity of rows, which the store keeps.
func rest[T any](rows []T, left int) []T {
	if rows = rows[len(rows):]; cap(rows) < chunk/8 {
		rows = make([]T, 0, min(left, chunk)+chunk/8)
	}
	return rows
}

// chunk is the capacity of a slice of rows.
const chunk = 1024

// kind is the kind of the events of task runs.
const kind = "execute"

func (x *execution) row(i int32) store.TaskRun {
	item := &x.schedule.Items[i]
	return store.TaskRun{
		Number: int(i), Task: item.Task.ID, Node: nodeOf(item), Digest: item.Digest, Refresh: item.Refresh, Owner: x.jobs.Owner,
		Attempt: int(x.vertices[i].attempt),
	}
}

func (x *execution) event(i int32, at time.Time, state store.State, message string) store.Event {
	return store.Event{
		Time: at, Deployment: x.Job.ID, Name: x.name, URN: x.names[i], Kind: kind, State: state, Message: message,
	}
}

// log reports a line of an item's output and queues it to be stored.
func (x *execution) log(item int32, level, message string) {
	event := store.Event{
		Time: time.Now().UTC(), Deployment: x.Job.ID, Name: x.name, URN: x.names[item], Kind: kind, Level: level,
		Message: strings.ToValidUTF8(message, "\ufffd"),
	}
	x.Show(event)
	if level != "progress" {
		x.add(item, event)
	}
}

func nodeOf(item *schedule.Item) string {
	if item.Node == nil {
		return ""
	}
	return item.Node.Name
}

// names returns the name of each item.
func names(items []schedule.Item) []string {
	all := make([]string, len(items))
	for i := range items {
		all[i] = items[i].Name()
	}
	return all
}
