package run_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/taskgraph/run"
)

// modelCall is the record of a token on a node.
type modelCall struct {
	item  string
	ended bool
	err   error
}

var errDead = errors.New("the process is dead")

// modelProcess is a process with an engine. It is the store and the executor of the engine.
type modelProcess struct {
	store.Store
	*model
	context.Context
	name   string
	fate   modelFate
	end    context.CancelFunc
	engine *run.Engine
	mutex  sync.Mutex
	points int
	isDead bool
	begun  map[int32]bool // items that this process has started
}

func (m *model) start(name string, fate modelFate) *modelProcess {
	p := &modelProcess{Store: m.store, model: m, name: name, fate: fate, begun: map[int32]bool{}}
	p.Context, p.end = context.WithCancel(m.Context)
	p.engine = run.New(run.Options{
		Store: p, Environment: "prod", Executor: p, Owner: name, Parallelism: m.Parallelism, PerRole: map[string]int{"a": m.PerRole},
		StopOnError: m.StopOnError, Events: func(e store.Event) { m.log("%s: %s", name, eventText(e)) },
		IsDead: func(owner string) bool {
			m.mutex.Lock()
			defer m.mutex.Unlock()
			return m.dead[owner]
		},
	})
	return p
}

// point marks a point at which a process may crash. It returns an error if the process has crashed.
func (p *modelProcess) point(where string) error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.points++; p.isDead {
		return errDead
	} else if p.points != p.fate.At {
		return nil
	}
	p.log("%s dies %s", p.name, where)
	p.isDead = true
	p.model.mutex.Lock()
	p.dead[p.name] = !p.fate.Lost
	p.model.mutex.Unlock()
	p.end()
	return errDead
}

// Read implements [store.Store].
func (p *modelProcess) Read(ctx context.Context, f func(store.Tx) error) error {
	return p.Store.Read(ctx, f)
}

// errAgain rolls back the first execution of a transaction.
var errAgain = errors.New("again")

// Write implements [store.Store]. It calls f twice.
func (p *modelProcess) Write(ctx context.Context, environment string, f func(store.Tx) error) error {
	if err := p.point("before a transaction"); err != nil {
		return err
	}
	_ = p.Store.Write(ctx, environment, func(tx store.Tx) error { // as in a store that retries after a conflict
		_ = f(tx)
		return errAgain
	})
	err := p.Store.Write(ctx, environment, f)
	if dead := p.point("after a transaction"); dead != nil {
		return dead
	}
	return err
}

// Execute implements [run.Executor]. Nodes remember the outcomes of tokens.
func (p *modelProcess) Execute(ctx context.Context, w run.Work) error {
	name := w.Node.Name + "/" + w.Task.ID
	if err := p.point("before " + name); err != nil {
		return err
	}
	p.checkStart(name, w)
	err := p.call(ctx, name, w)
	p.log("%s: %s %s: %v", p.name, name, w.Token, err)
	if dead := p.point("after " + name); dead != nil {
		return dead
	}
	return err
}

func (p *modelProcess) call(ctx context.Context, name string, w run.Work) error {
	m := p.model
	m.mutex.Lock()
	c, known := m.calls[w.Token]
	if !known {
		c = &modelCall{item: name}
		m.calls[w.Token] = c
	}
	m.mutex.Unlock()
	switch {
	case c.item != name:
		m.fail("a token is used twice", "%s: %s and %s", w.Token, c.item, name)
	case known && !w.Resumed:
		m.fail("not resumed", "%s", w.Token)
	case c.ended:
		return c.err
	case known: // the call was interrupted earlier
		return run.ErrUncertain
	}
	attempt := w.Token[strings.LastIndex(w.Token, "-"):]
	select {
	case <-time.After(time.Duration(1+m.chance(9000, "time", name)) * time.Millisecond):
	case <-ctx.Done():
		if m.chance(2, "cut", name, attempt) == 0 {
			m.takesEffect(name, w)
		}
		return ctx.Err()
	}
	var err error
	switch luck := m.chance(100, "luck", name, attempt); {
	case luck >= m.Faults || strings.HasSuffix(attempt, ".2") || strings.HasSuffix(attempt, ".3"):
		m.takesEffect(name, w)
	case luck%2 == 0:
		err = errors.New("exit status 1")
	default:
		if luck%4 == 1 {
			m.takesEffect(name, w)
		}
		return run.ErrUncertain
	}
	c.ended, c.err = true, err
	return err
}

func (m *model) takesEffect(name string, w run.Work) {
	m.mutex.Lock()
	m.happened[name]++
	n := m.happened[name]
	m.mutex.Unlock()
	if n > 1 && w.Task.Once {
		m.fail("a task that must not be repeated took effect twice", "%s", name)
	}
}

// perform starts or resumes the run in a process and executes it. It reports whether the run ended as expected.
func (p *modelProcess) perform() bool {
	var d store.Job
	var err error
	if p.id.Load() == 0 {
		if d, err = p.engine.Start(p, p.request); err == nil {
			p.id.Store(d.ID)
		}
	} else {
		var answer *run.Answer
		if s, err := p.engine.Status(p.model, p.id.Load()); err == nil && s.State == store.Ask {
			p.model.mutex.Lock()
			answer = &run.Answer{Number: s.Asks[0].Number, Done: p.happened[s.Asks[0].Node+"/"+s.Asks[0].Task] > 0}
			p.model.mutex.Unlock()
		}
		d, err = p.engine.Resume(p, p.id.Load(), answer)
	}
	if err == nil {
		d, err = p.engine.Run(p, d.ID)
	}
	p.log("%s ran: %s %q %v", p.name, d.State, d.Message, err)
	if err != nil && !errors.Is(err, errDead) && !errors.Is(err, store.ErrFenced) && !errors.As(err, new(*job.RefusedError)) && p.Err() == nil {
		p.fail("an error", "%s: %v", p.name, err)
	}
	return err == nil
}

// attempt runs the graph in a new process and ignores the outcome. It reports whether the run is done.
func (m *model) attempt(n int, fate modelFate) bool {
	p := m.start(fmt.Sprint("p", n), fate)
	var all sync.WaitGroup
	var isEnded bool
	all.Go(func() { isEnded = p.perform() })
	if fate.Rival && m.id.Load() != 0 {
		all.Go(func() { m.start(fmt.Sprint("rival", n), modelFate{}).perform() })
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Duration(fate.Stop) * time.Second):
		switch {
		case fate.How == 1:
			p.engine.Stop()
		case fate.How == 2:
			p.engine.Stop()
			p.engine.Stop()
		case fate.How == 3 && m.id.Load() != 0:
			_, _ = m.start("stopper", modelFate{}).engine.Cancel(m, m.id.Load())
		}
		<-done
	}
	_ = m.store.Read(m, func(tx store.Tx) error {
		runs, err := tx.Runs("prod", 0, 9)
		if len(runs) > 1 {
			m.fail("two runs", "%+v", runs)
		} else if len(runs) == 1 {
			m.id.Store(runs[0].ID)
		}
		return err
	})
	if isEnded {
		m.checkEnd()
	}
	if m.id.Load() == 0 {
		return false
	}
	d, _ := m.rows()
	return d.State == store.Done
}
