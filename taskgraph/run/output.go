package run

import (
	"sync"
	"time"

	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/store"
)

const (
	// maxOutput is how many bytes of a task run's output are stored.
	maxOutput = 64 << 10
	// delay is how long output waits for something else to be recorded with.
	delay = time.Second
)

// output has the output of tasks that is not recorded yet.
type output struct {
	lock   sync.Mutex
	fresh  []store.Event
	logged map[int32]int // bytes by item
	poke   chan struct{}
}

// add adds a line, as far as an item may have that many.
func (o *output) add(item int32, event store.Event) {
	o.lock.Lock()
	defer o.lock.Unlock()
	if o.logged[item] > maxOutput {
		return
	}
	event.Message = job.Brief(event.Message)
	if o.logged[item] += len(event.Message) + 1; o.logged[item] > maxOutput {
		event.Level, event.Message = "warn", "output limit reached; the rest is not stored"
	}
	if o.fresh = append(o.fresh, event); len(o.fresh) == 1 {
		time.AfterFunc(delay, func() {
			select {
			case o.poke <- struct{}{}:
			default:
			}
		})
	}
}

// take returns what was added since the last call.
func (o *output) take() []store.Event {
	o.lock.Lock()
	defer o.lock.Unlock()
	events := o.fresh
	o.fresh = nil
	return events
}
