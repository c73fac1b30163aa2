package job

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
)

// Tx is a transaction with events. Events are stored when a transaction is committed, and then shown. A read-only
// transaction only shows its events.
type Tx struct {
	store.Tx
	runner *Runner
	events []store.Event
}

// Read runs f in a read-only transaction with a consistent view of the store, then shows its events, even those of
// an attempt after which f runs again.
func (r *Runner) Read(ctx context.Context, f func(*Tx) error) error {
	t := &Tx{runner: r}
	err := r.Store.Read(ctx, func(tx store.Tx) error {
		t.Tx = tx
		return f(t)
	})
	if err == nil {
		t.show()
	}
	return err
}

// Write runs f in a transaction and shows its events after the commit. As with [store.Store], f may run more than once.
func (r *Runner) Write(ctx context.Context, f func(*Tx) error) error {
	t := &Tx{runner: r}
	err := r.Store.Write(ctx, r.Environment, func(tx store.Tx) error {
		t.Tx, t.events = tx, nil
		if err := f(t); err != nil || len(t.events) == 0 {
			return err
		}
		return tx.AddEvents(r.Environment, t.events)
	})
	isLost := errors.Is(err, store.ErrLost)
	if isLost {
		r.lost.Store(&err)
	}
	if err == nil || isLost {
		t.show()
	}
	return err
}

func (t *Tx) show() {
	for _, event := range t.events {
		t.runner.Show(event)
	}
}

// Emit adds events to the transaction.
func (t *Tx) Emit(events ...store.Event) { t.events = append(t.events, events...) }

// Note adds an event for a job, with the current time.
func (t *Tx) Note(j store.Job, event store.Event) {
	event.Time, event.Deployment, event.Name, event.Message = t.Now(), j.ID, Name(j), Brief(event.Message)
	t.Emit(event)
}

// Add adds a job in state WAIT and sets its ID and, unless already set, its place in the queue.
func (t *Tx) Add(j *store.Job, c store.Content) (err error) {
	j.State, j.Created = store.Wait, t.Now()
	place := j.Place
	if j.ID, err = t.AddJob(*j, c); place == 0 {
		j.Place = j.ID
	}
	t.Note(*j, store.Event{State: j.State})
	return err
}

// Claim claims a job for this process with a new fencing token and moves it to the given state.
func (t *Tx) Claim(j *store.Job, to store.State) error {
	j.Fence++
	j.Owner, j.Expires = t.runner.Owner, t.Expires()
	return t.Move(j, to, "")
}

// Revoke takes a job away from its holder and moves it to the given state.
func (t *Tx) Revoke(j *store.Job, to store.State) error {
	j.Fence++
	j.Owner, j.Expires = "", time.Time{}
	return t.Move(j, to, "")
}

// Move changes the state of a job. It releases the lease if the job has failed, waits for an answer, or has ended.
func (t *Tx) Move(j *store.Job, to store.State, message string) error {
	transitions := Deployments
	if j.Kind == store.Tasks {
		transitions = Runs
	}
	if err := transitions.Move(&j.State, to); err != nil {
		return err
	}
	j.Message, j.Ended = Brief(message), time.Time{}
	if rests := to == store.Failed || to == store.Ask; rests || to.IsFinal() {
		j.Owner, j.Expires = "", time.Time{}
		if to.IsFinal() || j.Kind == store.Tasks {
			j.Ended = t.Now()
		}
	}
	t.Note(*j, store.Event{State: to, Message: message})
	return t.PutJob(*j)
}

// maxMessage is the maximum length, in bytes, of a stored message. Some providers return whole pages.
const maxMessage = 4096

// Brief truncates a message to 4,096 bytes, makes it valid UTF-8, and removes NULs, which not every store can hold.
func Brief(message string) string {
	message = strings.ReplaceAll(message, "\x00", "")
	if len(message) > maxMessage {
		return strings.ToValidUTF8(message[:maxMessage], "") + "…"
	}
	return strings.ToValidUTF8(message, "\ufffd")
}
