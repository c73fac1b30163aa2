package run_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/refresh"
	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/memory"
	"github.com/lumi-idl/lumi/deploy/store/postgres"
	"github.com/lumi-idl/lumi/deploy/store/sqlite"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/test/kit/must"
	pg "github.com/lumi-idl/lumi/test/kit/postgres"
	"github.com/lumi-idl/lumi/test/sim"
)

// modelCase is a sequence of program changes and deployments in an environment. It ends with a deployment of all
// modules.
type modelCase struct {
	Seed    uint64
	Modules int
	Faults  float64
	// Slow is set if all calls of the cloud take time.
	Slow bool
	// Names is who asks for unique names: nobody, the environment, or every second resource.
	Names modelNames
	// Reads has resources refer to others through look-ups and calls.
	Reads bool
	Acts  []modelAct
}

// modelAct is a change to a program and its deployment.
type modelAct struct {
	Module int
	Edits  []modelEdit
	// Later postpones the run to the deployment of the next act.
	Later bool
	// Crashes lists the crashes of consecutive processes. If Twice is set, two processes run concurrently.
	Crashes []modelCrash
	Twice   bool
	// Meddle is an external change, which is made After a number of seconds.
	Meddle modelMeddling
	After  int
	// Failed is the reaction to a failed deployment.
	Failed modelAnswer
	// Rollback deploys the module's state from two deployments earlier.
	Rollback bool
	// Drift, if not 0, is the number of a resource in the cloud to change before the deployment, which reads it if Refresh
	// is set. If Accept is set, the actual state of all modules is accepted first.
	Drift           int
	Refresh, Accept bool
}

type modelMeddling int

const (
	nothing modelMeddling = iota
	aborts
	stops
	stopsTwice
	stopsThrice
)

type modelAnswer int

const (
	retries modelAnswer = iota
	leaves
	givesUp
)

// drawModelCase draws a case. Rapid prefers small numbers, which would lead to similar programs, so most numbers are
// scattered, except those that rapid tries when shrinking. The salt varies the case for the same draws.
func drawModelCase(t *rapid.T, salt uint32) modelCase {
	number := rapid.Uint16()
	below := func(t *rapid.T, n uint16, label string) int {
		if u := number.Draw(t, label); u >= n {
			return int((uint32(u)*2654435761 + salt*2246822519) >> 8 % uint32(n)) //nolint:gosec // less than n
		} else {
			return int(u)
		}
	}
	edits := rapid.Custom(func(t *rapid.T) modelEdit {
		do := []int{0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 10, 11, 12, 13}
		return modelEdit{do[below(t, uint16(len(do)), "do")], below(t, 5, "on"), below(t, 24, "how")}
	})
	crashes := rapid.Custom(func(t *rapid.T) modelCrash {
		return modelCrash{below(t, 40, "at"), modelDeath(below(t, 5, "death"))}
	})
	acts := rapid.Custom(func(t *rapid.T) modelAct {
		return modelAct{
			Module: below(t, 3, "module"), Edits: rapid.SliceOfN(edits, 1, 8).Draw(t, "edits"),
			Later: below(t, 3, "later") == 2, Crashes: rapid.SliceOfN(crashes, 0, 2).Draw(t, "crashes"),
			Twice: below(t, 4, "twice") == 3, Meddle: modelMeddling(max(0, below(t, 9, "meddle")-4)), After: below(t, 20, "after"),
			Failed: modelAnswer(below(t, 3, "failed")), Rollback: below(t, 8, "rollback") == 7,
			Drift: max(0, below(t, 20, "drift")-10), Refresh: below(t, 3, "refresh") == 2, Accept: below(t, 4, "accept") == 3,
		}
	})
	return modelCase{
		Seed: uint64(number.Draw(t, "seed")), Modules: 1 + below(t, 3, "modules"),
		Faults: []float64{0, .1, .3}[below(t, 3, "faults")], Slow: below(t, 2, "slow") == 1,
		Names: modelNames(below(t, 3, "names")),
		Acts:  rapid.SliceOfN(acts, 1, 5).Draw(t, "acts"),
		Reads: below(t, 2, "reads") == 1,
	}
}

// TestModel runs cases with a simulated cloud and compares the outcomes with the programs. By default, it runs the same
// 4,000 cases each time. With -rapid.checks=N, it runs 40*N random cases.
func TestModel(t *testing.T) {
	checkModel(t, 40, inMemory)
}

func inMemory(context.Context) store.Store { return memory.New() }

// TestModelSQLite runs 500 cases with databases, on a RAM disk if available, since no case simulates a power failure.
func TestModelSQLite(t *testing.T) {
	folder := t.TempDir()
	if fast, err := os.MkdirTemp("/dev/shm", "lumi"); err == nil {
		t.Cleanup(func() { os.RemoveAll(fast) })
		folder = fast
	}
	checkModel(t, 5, func(ctx context.Context) store.Store {
		folder := must.Value(os.MkdirTemp(folder, ""))
		return &temporary{must.Value(sqlite.Open(ctx, filepath.Join(folder, "state.db"), sqlite.Options{})), folder}
	})
}

// TestModelPostgres runs 200 cases with a server.
func TestModelPostgres(t *testing.T) {
	server := pg.Start(t, "synchronous_commit=off")
	checkModel(t, 2, func(ctx context.Context) store.Store {
		return must.Value(postgres.Open(ctx, server.URL(), postgres.Options{Clock: time.Now}))
	})
}

// temporary is a store whose Close also removes its folder.
type temporary struct {
	store.Store
	folder string
}

// Close implements [store.Store].
func (t *temporary) Close() error { return errors.Join(t.Store.Close(), os.RemoveAll(t.folder)) }

// TestModelRegressions runs cases that failed in the past, as shrunk by rapid.
func TestModelRegressions(t *testing.T) {
	for name, c := range map[string]modelCase{
		"a reference to a replacement": {Modules: 1, Acts: []modelAct{
			{Edits: []modelEdit{{0, 0, 0}, {0, 0, 0}}}, {Edits: []modelEdit{{10, 0, 3}}},
		}},
		"a call ends at its deadline": {Seed: 0x124f, Modules: 3, Faults: 0.1, Slow: true, Acts: []modelAct{
			{Module: 1, Edits: []modelEdit{{4, 0, 10}, {0, 4, 16}}, After: 12, Failed: leaves},
			{
				Edits:   []modelEdit{{0, 3, 18}, {0, 0, 1}, {0, 2, 8}},
				Crashes: []modelCrash{{23, cutOff}}, After: 11, Failed: givesUp,
			},
		}},
		"a failed deployment would have renamed a replaced resource": {Modules: 2, Faults: 0.3, Slow: true, Acts: []modelAct{
			{Edits: []modelEdit{{0, 0, 12}}, After: 14},
			{
				Edits:   []modelEdit{{11, 3, 14}, {10, 1, 1}, {0, 0, 12}, {0, 1, 1}, {0, 4, 3}, {12, 1, 17}, {0, 3, 2}, {7, 1, 6}},
				Crashes: []modelCrash{{24, suspended}, {27, lost}}, Later: true, After: 1, Failed: leaves,
			},
			{Module: 1, Edits: []modelEdit{{5, 0, 18}}, Meddle: stopsTwice, After: 12, Failed: leaves},
			{Edits: []modelEdit{{3, 0, 10}}, After: 1},
		}},
		"a deployment in between adopts an unknown resource": {Seed: 4, Modules: 1, Faults: 0.3, Slow: true, Acts: []modelAct{
			{Edits: []modelEdit{{0, 0, 7}}, After: 14}, {Edits: []modelEdit{{1, 3, 8}}, Later: true, After: 2},
			{Edits: []modelEdit{{3, 2, 23}}, After: 4, Failed: leaves}, {Edits: []modelEdit{{2, 1, 0}}, Failed: leaves},
		}},
		"an update that was aborted fails half way when it is repeated": {Seed: 1, Modules: 1, Faults: 0.3, Acts: []modelAct{
			{
				Edits: []modelEdit{{8, 0, 6}, {7, 4, 11}, {0, 4, 4}, {0, 1, 17}, {10, 2, 1}, {2, 0, 1}, {8, 2, 20}},
				Twice: true, After: 11,
			},
			{
				Module: 2, Edits: []modelEdit{{8, 1, 5}, {1, 0, 22}, {2, 4, 19}, {2, 3, 0}, {0, 1, 6}, {4, 0, 2}, {0, 2, 1}, {5, 2, 19}},
				Meddle: aborts, After: 15, Failed: leaves,
			},
			{Edits: []modelEdit{{1, 0, 1}, {12, 3, 11}, {4, 4, 0}}, Crashes: []modelCrash{{0, cutOff}}, After: 12, Failed: givesUp},
			{Edits: []modelEdit{{1, 4, 2}, {1, 0, 1}}, Crashes: []modelCrash{{16, cutOff}}, Meddle: stopsTwice, After: 12},
		}},
		"a resource of a failed deployment needs one that it would have renamed": {Seed: 1, Modules: 1, Faults: 0.3, Acts: []modelAct{
			{Edits: []modelEdit{{0, 0, 0}, {0, 0, 0}}},
			{
				Edits:   []modelEdit{{9, 0, 1}, {10, 0, 21}, {8, 2, 1}, {7, 3, 7}, {12, 2, 18}, {6, 3, 6}, {1, 0, 14}, {0, 0, 11}},
				Crashes: []modelCrash{{1, killed}, {6, suspended}}, After: 10, Failed: givesUp, Rollback: true,
			},
			{Module: 2, Edits: []modelEdit{{0, 0, 16}, {10, 1, 4}, {0, 0, 3}, {0, 1, 9}, {0, 3, 14}}, After: 8, Failed: leaves},
			{Edits: []modelEdit{{13, 3, 0}}, After: 8, Failed: leaves},
		}},
		"a pending resource of another module refers to a replaced one": {Seed: 0x1e6, Modules: 2, Faults: 0.1, Slow: true, Acts: []modelAct{
			{Module: 1, Edits: []modelEdit{{9, 1, 5}}, Failed: leaves},
			{Edits: []modelEdit{{12, 1, 17}, {2, 2, 14}}, Failed: leaves},
			{Module: 1, Edits: []modelEdit{{8, 1, 19}}, Failed: leaves},
			{Module: 1, Edits: []modelEdit{{0, 3, 18}, {0, 2, 10}}, Failed: leaves},
			{Module: 1, Edits: []modelEdit{{13, 4, 0}}, Failed: leaves},
			{Edits: []modelEdit{{10, 2, 10}, {8, 3, 3}, {3, 0, 1}}, Failed: leaves},
		}},
		"a pending resource of another module contains an output of a replaced one": {Seed: 0x2a6, Modules: 2, Faults: 0.3, Acts: []modelAct{
			{Edits: []modelEdit{{1, 3, 3}, {13, 0, 14}, {2, 1, 20}, {3, 1, 4}}, Failed: leaves},
			{Module: 1, Edits: []modelEdit{{3, 0, 7}, {8, 3, 11}, {3, 3, 20}, {1, 3, 8}}, Failed: leaves},
			{Module: 1, Edits: []modelEdit{{8, 3, 16}, {9, 1, 22}, {8, 0, 8}, {13, 1, 23}}, Failed: leaves},
			{Edits: []modelEdit{{9, 0, 20}, {10, 0, 23}}, Failed: leaves},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var story []string
			failure := c.play(t, inMemory, func(format string, args ...any) { story = append(story, fmt.Sprintf(format, args...)) })
			if failure != nil {
				t.Errorf("case failed after\n%s\n%s: %s", strings.Join(story, "\n"), failure.class, failure.detail)
			}
		})
	}
}

func checkModel(t *testing.T, parts int, open func(context.Context) store.Store) {
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // There are many small cases.
	isSet := false
	flag.Visit(func(f *flag.Flag) { isSet = isSet || f.Name == "rapid.checks" || f.Name == "rapid.seed" })
	if !isSet {
		must.Value(0, flag.Set("rapid.seed", "1"))
		defer func() { must.Value(0, flag.Set("rapid.seed", "0")) }()
	}
	t.Run("all", func(t *testing.T) {
		for i := range parts {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				checkCases(t, uint32(i), open)
			})
		}
	})
	if alone := modelAlone.Swap(0); alone > 20 {
		t.Errorf("the programs of %d cases had to be changed to be deployed, want at most 20", alone)
	}
}

// modelAlone counts the cases in which a program had to be changed before it could be deployed.
var modelAlone atomic.Int64

// checkCases runs the number of random cases that rapid is configured for.
func checkCases(t *testing.T, salt uint32, open func(context.Context) store.Store) {
	var first []string // story of the first failure, which may depend on scheduling
	rapid.Check(t, func(r *rapid.T) {
		c := drawModelCase(r, salt)
		var story []string
		failure := c.play(t, open, func(format string, args ...any) { story = append(story, fmt.Sprintf(format, args...)) })
		if failure == nil {
			return
		}
		story = append(story, fmt.Sprintf("%#v", c), failure.detail)
		if first == nil {
			first = story
			t.Cleanup(func() { t.Logf("the first failure:\n%s", strings.Join(first, "\n")) })
		}
		r.Log(strings.Join(story, "\n"))
		r.Fatal(failure.class)
	})
}

type model struct {
	*modelWorld
	modelPrograms
	// deployed maps the IDs of deployments to their programs.
	deployed map[int64]*modelProgram
	waiting  []int64
	// early is set if a resource may be deleted too early: an aborted deployment may have changed an existing resource
	// to refer to one that the abort deletes, and resources of a failed deployment may use a resource that another
	// module replaces.
	early bool
	// drifted is set once a resource was changed in the cloud.
	drifted bool
	// observer is a process that exists until the end of the case and runs no deployments before that.
	observer *modelProcess
}

// play runs a case in a synctest bubble, in which waiting takes no real time.
func (c modelCase) play(t *testing.T, open func(context.Context) store.Store, log func(string, ...any)) (failure *modelFailure) {
	defer func() {
		if r := recover(); r != nil && failure == nil { // a deadlock in the bubble
			failure = &modelFailure{"deadlock", fmt.Sprint(r)}
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		o := sim.Options{
			Seed: c.Seed, Types: modelTypes, Faults: c.Faults, RetryAfter: 2 * time.Second, Latency: time.Millisecond,
		}
		if c.Slow {
			o.Latency, o.Lag = 5*time.Second, 5*time.Second
			if c.Faults == 0 { // with faults, a failed deletion could continue unnoticed
				o.Deletion = 20 * time.Second
			}
		}
		began := time.Now()
		var mu sync.Mutex
		m := &model{
			modelWorld: &modelWorld{
				Context: ctx, cloud: sim.New(o), store: open(ctx), dead: map[string]bool{},
				log: func(format string, args ...any) {
					mu.Lock()
					defer mu.Unlock()
					log("%6v "+format, append([]any{time.Since(began).Round(time.Second)}, args...)...)
				},
			},
			modelPrograms: modelPrograms{spared: map[string]bool{}, names: c.Names, reads: c.Reads}, deployed: map[int64]*modelProgram{},
		}
		defer m.store.Close()
		defer func() {
			if f, ok := recover().(modelFailure); ok {
				failure = &f
				for _, call := range m.cloud.Calls() {
					log("%s %s %s %s, %s, effect %d: %v", call.Op, call.URN.Name(), call.ID, call.Token, call.Fault, call.Effect, call.Err)
				}
			}
			cancel()
			synctest.Wait()
			time.Sleep(time.Hour) // waits until the last process has ended
		}()
		m.observer = m.start()
		m.must(environment.Add(ctx, m.store, store.Environment{Name: modelEnvironment, Lineage: "lineage", Key: "key"}))
		for i := range c.Modules {
			m.modules = append(m.modules, &modelProgram{name: string(rune('a' + i))})
		}
		for i, act := range c.Acts {
			m.act(act, i == len(c.Acts)-1)
		}
		m.converge()
		m.compare()
	})
	return failure
}

// act changes a program, queues its deployment, and runs processes for the waiting deployments, regardless of the
// outcome.
func (m *model) act(a modelAct, isLast bool) {
	p := m.start()
	program := m.modules[a.Module%len(m.modules)]
	before := program.clone()
	for _, x := range a.Edits {
		m.edit(program, x)
	}
	m.drift(p, a)
	r := m.request(program)
	r.Refresh = a.Refresh && !program.gone
	if a.Rollback {
		m.rollback(p, program, &r)
	}
	if id := m.queue(p, program, r); id != 0 {
		m.waiting = append(m.waiting, id)
	} else {
		*program = *before
	}
	if a.Later && !isLast || len(m.waiting) == 0 {
		return
	}
	ids := m.waiting
	m.waiting = nil
	for attempt := range 6 {
		crash := modelCrash{}
		if attempt < len(a.Crashes) {
			crash = a.Crashes[attempt]
		}
		processes := []*modelProcess{p}
		if attempt > 0 {
			processes[0] = m.start()
		}
		processes[0].dieAt(crash)
		if a.Twice {
			processes = append(processes, m.start())
		}
		if attempt == 0 {
			go m.meddle(a, processes[0], ids[0])
		}
		m.run(ids, processes...)
		if again := m.again(a, ids, attempt); !again {
			break
		}
	}
	g, err := m.observer.engine.Graph(m)
	m.must(err)
	if err := g.Check(); err != nil {
		m.fail("the graph breaks its invariant", "%v", err)
	}
}

// drift changes a resource of the cloud, and accepts the actual state if the act does.
func (m *model) drift(p *modelProcess, a modelAct) {
	if all := m.cloud.Resources(); a.Drift > 0 && len(all) > 0 {
		r := all[a.Drift%len(all)]
		m.log("drift of %s, %s", r.URN.Name(), r.ID)
		m.cloud.Change(r.ID, "size", float64(1000+a.Drift))
		m.drifted = true
	}
	if !a.Accept {
		return
	}
	time.Sleep(time.Minute) // Get may return stale properties, and a later update would not write what they lack.
	found := m.found(p)
	stale, err := p.engine.Accept(m, found)
	m.log("accept: %d changed since, %v", len(stale), err)
	if !errors.As(err, new(*job.RefusedError)) {
		m.must(err)
	}
}

// found compares all resources with the cloud.
func (m *model) found(p *modelProcess) []refresh.Result {
	var modules []string
	for _, program := range m.modules {
		modules = append(modules, program.name)
	}
	found, err := p.engine.Compare(m, modules, func(*graph.Resource) bool { return true })
	m.must(err)
	for _, r := range found {
		m.log("read %s: drifted %v, error %v", r.Stored.URN.Name(), r.Drifted, r.Err)
	}
	return found
}

// again handles unfinished deployments. It reports whether any of them can run again.
func (m *model) again(a modelAct, ids []int64, attempt int) (again bool) {
	p := m.observer
	for _, d := range m.deployments(ids...) {
		switch d.State {
		case store.Running, store.Aborting:
			again = true
		case store.Wait:
			again = again || attempt == 0
		case store.Ask:
			again = m.answer(p, d) || again
			m.early = m.early || len(d.Uses) > 0
		case store.Failed:
			m.early = m.early || len(d.Uses) > 0
			switch {
			case a.Failed == retries && attempt < 3:
				m.logError(p, "Retry", p.engine.Retry(m, d.ID))
				again = true
			case a.Failed == givesUp:
				m.logError(p, "Abort", p.engine.Abort(m, d.ID))
				again, m.early = true, true
			}
		}
	}
	return again
}

func (m *model) meddle(a modelAct, p *modelProcess, id int64) {
	time.Sleep(time.Duration(a.After) * time.Second)
	switch {
	case a.Meddle == aborts:
		m.early = true
		m.logError(m.observer, "Abort", m.observer.engine.Abort(m, id))
	case a.Meddle >= stops:
		for range a.Meddle - stops + 1 {
			p.logf("is stopped")
			p.engine.Stop()
			time.Sleep(time.Second)
		}
	}
}

func (m *model) logError(p *modelProcess, what string, err error) { p.logf("%s: %v", what, err) }

func (m *model) request(program *modelProgram) run.Request {
	if program.gone {
		return run.Request{Destroy: program.name}
	}
	return run.Request{Desired: m.desired(program), UniqueNames: m.names == uniqueByDefault}
}

// rollback replaces a program and its request by those of the last finished deployment of the module.
func (m *model) rollback(p *modelProcess, program *modelProgram, r *run.Request) {
	id, former := m.former(program)
	if former == nil {
		return
	}
	back, err := p.engine.Rollback(m, id)
	m.log("roll back to %d: %v", id, err)
	if err == nil {
		*r, *program = back, *former.clone()
	}
}

// former returns the ID and the program of the module's last finished deployment, or 0 and nil.
func (m *model) former(program *modelProgram) (id int64, former *modelProgram) {
	for _, id := range slices.Backward(slices.Sorted(maps.Keys(m.deployed))) {
		if p := m.deployed[id]; p.name == program.name && !p.gone && m.deployments(id)[0].State == store.Done {
			return id, p
		}
	}
	return 0, nil
}

// queue plans and queues a request. It returns 0 if the request cannot be planned.
func (m *model) queue(p *modelProcess, program *modelProgram, r run.Request) int64 {
	m.log("deploy %s", program)
	if r.Desired != nil {
		m.must(r.Desired.Check())
	}
	shown, err := planOne(m, p.engine, r)
	if refused := (*plan.Error)(nil); errors.As(err, &refused) {
		m.log("refused: %v", err)
		return 0
	}
	m.must(err)
	d, err := queueOne(m, p.engine, shown)
	m.must(err)
	m.log("queued as %d", d.ID)
	m.deployed[d.ID] = program.clone()
	return d.ID
}

// converge makes the cloud reliable and deploys all programs until there are no changes left.
func (m *model) converge() {
	m.log("all is well now")
	m.cloud.Calm()
	time.Sleep(10 * time.Minute) // lets suspended processes continue
	p := m.observer
	for round := range 9 {
		for _, d := range m.deployments() {
			isStuck := d.State == store.Failed || d.State == store.Ask || d.State == store.Wait && d.Number > 0 && round%3 == 2
			switch {
			case d.State == store.Ask && m.answer(p, d):
			case isStuck && (d.Abort || round%3 == 2):
				m.early = true
				m.logError(p, "Abort", p.engine.Abort(m, d.ID))
			case isStuck && round%3 == 0:
				m.logError(p, "Retry", p.engine.Retry(m, d.ID))
			}
			m.run([]int64{d.ID}, p)
		}
		for _, program := range m.modules {
			if m.isPending(program) {
				id, err := p.engine.CleanUp(m, program.name)
				m.must(err)
				m.run([]int64{id}, p)
			}
		}
		if round == 5 { // A resource that is in use may have to be deleted before it is replaced.
			modelAlone.Add(1)
			for _, program := range slices.Backward(m.modules) {
				*program = *program.alone()
			}
		}
		isDone := true
		for _, program := range m.modules {
			isDone = m.isDeployed(p, program) && isDone
		}
		if isDone && len(m.deployments()) == 0 && !m.isPending(m.modules...) {
			return
		}
	}
	m.fail("does not converge", "%+v", m.deployments())
}

// isPending reports whether a resource of any of the programs is pending deletion.
func (m *model) isPending(programs ...*modelProgram) bool {
	g, err := m.observer.engine.Graph(m)
	m.must(err)
	return slices.ContainsFunc(programs, func(p *modelProgram) bool { return len(g.Pending(p.name)) > 0 })
}

// isDeployed deploys a program and reports whether the deployment succeeded.
func (m *model) isDeployed(p *modelProcess, program *modelProgram) bool {
	g, err := p.engine.Graph(m)
	m.must(err)
	if (program.gone || len(program.resources) == 0) && g.Newest(program.name) == nil {
		return true
	}
	r := m.request(program)
	r.Refresh = m.drifted && !program.gone
	id := m.queue(p, program, r)
	if id == 0 {
		// Pending resources may be in use until the previous program is deployed again.
		if _, former := m.former(program); former != nil {
			former = former.unprotected()
			if id := m.queue(p, former, m.request(former)); id != 0 {
				m.run([]int64{id}, p)
			}
		}
		return false
	}
	m.run([]int64{id}, p)
	return m.deployments(id)[0].State == store.Done
}

func (m *model) compare() {
	v := m.cloud.Violations()
	if m.early {
		v = slices.DeleteFunc(v, func(v string) bool { return strings.Contains(v, "although") && strings.HasPrefix(v, "Delete") })
	}
	if len(v) > 0 {
		m.fail("violations", "%s", strings.Join(v, "\n"))
	}
	p := m.observer
	g, err := p.engine.Graph(m)
	m.must(err)
	if err := g.Check(); err != nil {
		m.fail("the graph breaks its invariant", "%v", err)
	}
	time.Sleep(time.Minute) // Get may return stale properties.
	for _, r := range m.found(p) {
		// The output etag may be older than the last of several attempts to update.
		if slices.ContainsFunc(r.Drifted, func(path string) bool { return path != "etag" }) || r.Err != nil {
			m.fail("drift is left", "%s: %v, error %v", r.Stored.URN, r.Drifted, r.Err)
		}
	}
	exists := map[lumi.ID]sim.Resource{}
	for _, r := range m.cloud.Resources() {
		exists[r.ID] = r
	}
	cloud := map[int]sim.Resource{}
	for _, module := range g.Modules() {
		if n := len(g.Versions(module)); n > 1 || len(g.Pending(module)) > 0 {
			m.fail("old versions or pending deletions are left", "%d versions of %s, %d pending", n, module, len(g.Pending(module)))
		}
		for r := range g.Newest(module).Resources() {
			if r.IsRead() {
				continue
			}
			if _, ok := exists[lumi.ID(r.ID)]; !ok {
				m.fail("lost", "%s is not in the cloud as %s", r.URN, r.ID)
			}
			number, _ := r.Inputs.Get("mode").Int()
			cloud[int(number)] = exists[lumi.ID(r.ID)]
			delete(exists, lumi.ID(r.ID))
		}
	}
	for _, r := range exists {
		if !m.spared[r.URN.Name()] {
			m.fail("an orphan", "%+v", r)
		}
	}
	// If a resource had to be read back, its unreadable secrets may or may not be set.
	wasRead := map[lumi.ID]bool{}
	for _, call := range m.cloud.Calls() {
		wasRead[call.ID] = wasRead[call.ID] || call.Op == sim.Get
	}
	count := 0
	for _, program := range m.modules {
		if program.gone {
			continue
		}
		if len(program.resources) > 0 {
			again, err := planOne(m, p.engine, m.request(program))
			m.must(err)
			isRead := func(e plan.Effect) bool { return e.Kind == plan.Read }
			if left := slices.DeleteFunc(again.Effects(), isRead); len(left) > 0 {
				m.fail("deployed, and yet there is something to do", "%+v", left)
			}
		}
		for _, r := range program.resources {
			is := maps.Clone(cloud[r.number].Inputs)
			if _, wanted := r.properties["password"]; !wanted && wasRead[cloud[r.number].ID] {
				delete(is, "password")
			}
			if d := cmp.Diff(m.inputs(program, r, cloud), is); d != "" {
				m.fail("the cloud differs from the program", "%d of %s (-program +cloud):\n%s", r.number, program, d)
			}
			count++
		}
	}
	if count != len(cloud) {
		m.fail("too much is left", "%+v", cloud)
	}
}
