package muranopl

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/lumi-idl/lumi/lang/yaql"
)

func compileParallel(c *compiler, n *Node) func(*scope) error {
	body, limit := c.block(n.Get("Parallel")), c.value(n.Get("Limit"))
	return func(s *scope) error {
		most := len(body)
		switch v, err := limit.eval(s); v := v.(type) {
		case int64:
			if v < 0 {
				return s.at(fail(yaql.Value, "Limit must be positive, not %d", v), limit.pos)
			}
			if v > 0 {
				most = int(min(v, int64(most)))
			}
		case nil:
			if err != nil {
				return err
			}
		default:
			return s.at(fail(yaql.TypeError, "Limit must be an integer, got %s", show(v)), limit.pos)
		}
		branches := make([]func() error, len(body))
		for i, one := range body {
			branch := *s
			branch.ctx = yaql.New(s.ctx)
			branch.ctx.Set(scopeVariable, &branch)
			branches[i] = func() error { return block{one}.run(&branch) }
		}
		return s.in.parallel(branches, most)
	}
}

// within reports whether t is outer or a branch started by it, directly or indirectly.
func (t *task) within(outer *task) bool {
	for ; t != nil && t != outer; t = t.outer {
	}
	return t == outer
}

// suspend runs other branches until t is ready. It returns an error if the run has ended.
func (t *task) suspend() error {
	if !t.yield(struct{}{}) {
		return context.Canceled
	}
	return nil
}

func (in *Interpreter) wake(t *task, at time.Duration) {
	t.wake = at
	in.ready = append(in.ready, t)
}

// pause waits for a duration, during which other branches run.
func (in *Interpreter) pause(d time.Duration) error {
	t := in.current
	if t == nil {
		return in.options.Sleep(in.run, d)
	}
	in.wake(t, in.now+d)
	return t.suspend()
}

// parallel runs branches, up to limit at a time. It runs all of them to completion and returns the first error in
// branch order.
func (in *Interpreter) parallel(branches []func() error, limit int) (err error) {
	outer, left := in.current, len(branches)
	var all []*task
	var start func()
	start = func() {
		if in.branch(1) != nil {
			return
		}
		t, run := &task{outer: outer}, branches[len(all)]
		t.resume, t.stop = iter.Pull(func(yield func(struct{}) bool) {
			t.yield = yield
			t.err = run()
		})
		t.done = func() {
			_ = in.branch(-1)
			if left--; len(all) < len(branches) {
				start()
			} else if left == 0 && outer != nil {
				in.wake(outer, in.now)
			}
		}
		all = append(all, t)
		in.wake(t, in.now)
	}
	defer func() {
		for _, t := range all {
			t.stop()
		}
	}()
	for len(all) < min(limit, len(branches)) && in.exceeded == nil {
		start()
	}
	switch {
	case in.exceeded != nil:
		return in.exceeded
	case outer == nil:
		err = in.turns(&left)
	case left > 0:
		err = outer.suspend()
	}
	for _, t := range all {
		if err == nil {
			err = t.err
		}
	}
	return err
}

// branch adds n to the number of running branches. It returns an error if there are too many; all branches then fail.
func (in *Interpreter) branch(n int) error {
	in.branches += n
	in.held += int64(n) * branchSize
	switch {
	case n < 0:
	case in.branches > maxBranches:
		in.exceeded = fail(yaql.Limit, "more than %d branches of Parallel at a time", maxBranches)
	case in.held > maxHeld:
		in.exceeded = fail(yaql.Limit, "variables, properties and branches of Parallel hold more than %d bytes", maxHeld)
	}
	return in.exceeded
}

// turns runs tasks until *left is 0.
func (in *Interpreter) turns(left *int) error {
	defer func() { in.tasks = tasks{now: in.now} }()
	for *left > 0 {
		if in.exceeded != nil { // Waiting branches also end.
			return in.exceeded
		}
		if len(in.ready) == 0 {
			t := in.waiting[0]
			t.stuck, in.waiting = true, in.waiting[1:]
			in.wake(t, in.now)
		}
		first := 0
		for i, t := range in.ready {
			if t.wake < in.ready[first].wake {
				first = i
			}
		}
		t := in.ready[first]
		in.ready = slices.Delete(in.ready, first, first+1)
		if d := t.wake - in.now; d > 0 {
			if err := in.options.Sleep(in.run, d); err != nil {
				return err
			}
			in.now = t.wake
		}
		in.current = t
		if _, more := t.resume(); !more {
			t.done()
		}
	}
	return nil
}

// locked runs a method while t holds the method's lock. It does not wait if t or an outer branch already holds the
// lock.
func (in *Interpreter) locked(t *task, o *Object, m *Method, run func() (any, error)) (any, error) {
	key := lock{o.inst, m}
	for {
		owner, held := in.locks[key]
		if !held {
			break
		}
		if t.within(owner) {
			return run()
		}
		t.lock = key
		in.waiting = append(in.waiting, t)
		if err := t.suspend(); err != nil {
			return nil, err
		}
		if t.stuck {
			t.stuck = false
			return nil, fail(Deadlock, "method %s of object %s waits for a branch that waits for this one", m.Name, o.ID())
		}
	}
	if in.locks == nil {
		in.locks = map[lock]*task{}
	}
	in.locks[key] = t
	defer func() {
		delete(in.locks, key)
		in.waiting = slices.DeleteFunc(in.waiting, func(w *task) bool {
			if w.lock == key {
				in.wake(w, in.now)
			}
			return w.lock == key
		})
	}()
	return run()
}
