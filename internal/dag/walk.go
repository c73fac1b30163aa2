package dag

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
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
		g, flip = g.Reverse(), -1 // ^ of which with a number reverses the order of numbers
	}
	type result struct {
		v   int32
		err error
	}
	results := make(chan result)
	waiting := NewReady(g)
	var ready numbers
	for v := range int32(g.Len()) {
		if waiting.Has(v) {
			ready.push(v ^ flip)
		}
	}
	failed := map[int32]error{}
	for running := 0; ; {
		for running < o.Parallelism && len(ready) > 0 && ctx.Err() == nil && (!o.StopOnError || len(failed) == 0) {
			v := ready.pop() ^ flip
			running++
			go func() {
				r := result{v, errors.New("the visit ended its goroutine")}
				defer func() { results <- r }()
				r.err = visit(ctx, v)
			}()
		}
		if running == 0 {
			break
		}
		r := <-results
		running--
		if r.err != nil {
			failed[r.v] = r.err
			continue
		}
		waiting.Done(r.v, func(v int32) { ready.push(v ^ flip) })
	}
	var errs []error
	for _, v := range slices.Sorted(maps.Keys(failed)) {
		errs = append(errs, failed[v])
	}
	if len(ready) > 0 && ctx.Err() != nil {
		errs = append(errs, context.Cause(ctx))
	}
	return errors.Join(errs...)
}
