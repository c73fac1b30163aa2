package dag

import (
	"context"
	"errors"
	"runtime"
)

// WalkOptions configures [Graph.Walk].
type WalkOptions struct {
	Parallelism int  // the maximum number of concurrent visits; GOMAXPROCS if not positive
	Reverse     bool // visit each vertex after its dependents
	StopOnError bool // start no further visits once a visit has failed
}

// Walk calls visit for each vertex, concurrently, once the visits of all its dependencies have returned nil. Ready
// vertices are visited in order, or in reverse order if Reverse is set.
//
// Dependents of a failed vertex are not visited. No visit starts after ctx is done. Walk always waits for running
// visits. It returns their errors, joined in vertex order, together with the cause of ctx if it prevented a visit.
// Vertices that are on a cycle or depend on one are skipped without an error.
func (g Graph) Walk(ctx context.Context, o WalkOptions, visit func(context.Context, int32) error) error {
	if o.Parallelism <= 0 {
		o.Parallelism = runtime.GOMAXPROCS(0)
	}
	flip := int32(0)
	if o.Reverse {
		g, flip = g.Reverse(), -1 // v ^ -1 reverses the order of vertices
	}
	errs := make([]error, g.Len()+1) // errors by vertex, followed by the error of ctx
	done := make(chan int32)
	waiting := NewReady(g)
	var ready numbers
	for v := range int32(g.Len()) {
		if waiting.Has(v) {
			ready.push(v ^ flip)
		}
	}
	for running, stop := 0, false; ; {
		for running < o.Parallelism && len(ready) > 0 && ctx.Err() == nil && !stop {
			v := ready.pop() ^ flip
			running++
			errs[v] = errors.New("the visit ended its goroutine")
			go func() {
				defer func() { done <- v }()
				errs[v] = visit(ctx, v)
			}()
		}
		if running == 0 {
			break
		}
		v := <-done
		running--
		if errs[v] != nil {
			stop = o.StopOnError
			continue
		}
		waiting.Done(v, func(v int32) { ready.push(v ^ flip) })
	}
	if len(ready) > 0 && ctx.Err() != nil {
		errs[g.Len()] = context.Cause(ctx)
	}
	return errors.Join(errs...)
}
