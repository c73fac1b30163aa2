package dag

import (
	"context"
	"errors"
	"runtime"
)

// WalkOptions says how a walk goes.
type WalkOptions struct {
	Parallelism int  // how many visits may run at once; the number of processors if it is not positive
	Reverse     bool // visit each vertex after those that depend on it
	StopOnError bool // start no further visits after one has failed
}

// Walk calls visit, concurrently, for each vertex after its visits of the vertices that it depends on have returned nil.
// Of vertices that are ready, the first by number comes first, or the last if the walk is in reverse.
//
// Vertices that depend on one whose visit failed are not visited. Once ctx is done, no further visits start. Walk always
// waits for those that run, and then returns their errors joined in the order of the vertices and, if ctx prevented a
// visit, its cause. Vertices that are on a cycle or depend on one are not visited either, which is not an error here.
func (g Graph) Walk(ctx context.Context, o WalkOptions, visit func(context.Context, int32) error) error {
	if o.Parallelism <= 0 {
		o.Parallelism = runtime.GOMAXPROCS(0)
	}
	flip := int32(0)
	if o.Reverse {
		g, flip = g.Reverse(), -1 // v ^ -1 reverses the order of numbers
	}
	errs := make([]error, g.Len()+1) // of the vertices, and of ctx
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
