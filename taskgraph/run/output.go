package run

import (
	"sync"
	"time"

	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/store"
)

const (
	// maxOutput is the maximum size in bytes of the stored output of a task run.
	maxOutput = 64 << 10
	// delay is the time for which output is held back in order to be written together with other records.
	delay = time.Second
)

// output buffers the output of tasks until it is recorded.
type output struct {
	lock   sync.Mutex
	fresh  []store.Event
	logged map[int32]int // bytes per item
	poke   chan struct{}
}

// add buffers a line unless the limit of the item has been reached.
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

// take returns the lines added since the last call.
func (o *output) take() []store.Event {
	o.lock.Lock()
	defer o.lock.Unlock()
	events := o.fresh
	o.fresh = nil
	return events
}
