package run_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/memory"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
	"github.com/lumi-idl/lumi/taskgraph/run"
	"github.com/lumi-idl/lumi/taskgraph/schedule"
)

// modelCase is a graph together with the fates of the processes that run it.
type modelCase struct {
	Seed        uint64
	Tasks       []modelTask
	Nodes       []int // roles as bits
	Parallelism int
	PerRole     int // limit for role a, or 0
	StopOnError bool
	Faults      int // in percent
	// Processes run the graph one after another. They are followed by processes that are not disturbed, until the run
	// is done.
	Processes []modelFate
}

// modelTask is a task. It may depend only on earlier tasks.
type modelTask struct {
	Type     int
	Roles    int
	After    []modelEdge
	Once     bool
	Tolerant bool
	Strategy int
	// MayFail determines the fault tolerance of a group: none, 1, or 50%.
	MayFail int
}

// modelEdge is a dependency through requires or cross_depends.
type modelEdge struct{ To, Kind int }

type modelFate struct {
	At   int // number of the point at which the process crashes, or 0
	Lost bool
	// Stop is the second at which the process is stopped. How determines by whom.
	Stop, How int
	Rival     bool // whether another process competes for the graph
}

func drawModelCase(t *rapid.T, salt uint32) modelCase {
	number := rapid.Uint16()
	below := func(t *rapid.T, n uint16, label string) int { // as in package deploy/run
		if u := number.Draw(t, label); u >= n {
			return int((uint32(u)*2654435761 + salt*2246822519) >> 8 % uint32(n)) //nolint:gosec // less than n
		} else {
			return int(u)
		}
	}
	edges := rapid.Custom(func(t *rapid.T) modelEdge { return modelEdge{below(t, 8, "to"), below(t, 7, "kind")} })
	tasks := rapid.Custom(func(t *rapid.T) modelTask {
		return modelTask{
			max(0, below(t, 12, "type")-7), below(t, 5, "roles"), rapid.SliceOfN(edges, 0, 3).Draw(t, "after"), below(t, 3, "once") == 2,
			below(t, 5, "tolerant") == 4, max(0, below(t, 6, "strategy")-3), below(t, 3, "mayfail"),
		}
	})
	fates := rapid.Custom(func(t *rapid.T) modelFate {
		return modelFate{below(t, 40, "at"), below(t, 2, "lost") == 1, below(t, 12, "stop"), below(t, 6, "how"), below(t, 4, "rival") == 3}
	})
	c := modelCase{
		uint64(number.Draw(t, "seed")), rapid.SliceOfN(tasks, 1, 8).Draw(t, "tasks"),
		rapid.SliceOfN(rapid.IntRange(0, 3), 1, 4).Draw(t, "nodes"), 1 + below(t, 5, "parallelism"), below(t, 3, "perrole"),
		below(t, 4, "stoponerror") == 3, []int{0, 20, 50}[below(t, 3, "faults")], rapid.SliceOfN(fates, 0, 5).Draw(t, "fates"),
	}
	if below(t, 2, "windowed") == 1 {
		group := modelTask{Type: 2, Strategy: 1 + below(t, 2, "amount"), MayFail: below(t, 3, "mayfail")}
		for i := range c.Tasks {
			group.After = append(group.After, modelEdge{To: i})
			if c.Tasks[i].Type > 2 { // fewer tasks have nothing to do
				c.Tasks[i].Type = 0
			}
		}
		c.Tasks = append(c.Tasks, group)
	}
	return c
}

var modelTypes = []string{"shell", "stage", "group", "anchor", "skipped"}

// yaml returns the tasks as YAML.
func (c *modelCase) yaml() string {
	var b strings.Builder
	for i, t := range c.Tasks {
		typ := modelTypes[t.Type]
		fmt.Fprintf(&b, "- id: t%d\n  type: %s\n", i, typ)
		if typ != "stage" {
			fmt.Fprintf(&b, "  roles: [%s]\n", []string{"'*'", "'*'", "a", "b", "'/[ab]/'"}[t.Roles])
		}
		var requires, cross, members []string
		for _, e := range t.After {
			if i == 0 {
				continue
			}
			to := fmt.Sprint("t", e.To%i)
			switch {
			case typ == "group" && modelTypes[c.Tasks[e.To%i].Type] != "stage":
				members = append(members, to)
			case typ == "stage" || e.Kind < 3:
				requires = append(requires, to)
			default:
				more := []string{"", ", policy: any", ", role: a, policy: any", ", role: [a, b]"}[e.Kind-3]
				cross = append(cross, fmt.Sprintf("{name: %s%s}", to, more))
			}
		}
		for name, list := range map[string][]string{"requires": requires, "cross_depends": cross, "tasks": members} {
			slices.Sort(list)
			if list = slices.Compact(list); len(list) > 0 {
				fmt.Fprintf(&b, "  %s: [%s]\n", name, strings.Join(list, ", "))
			}
		}
		if typ == "group" {
			if t.Strategy > 0 {
				fmt.Fprintf(&b, "  parameters: {strategy: %s}\n", []string{"{type: one_by_one}", "{amount: 2}"}[t.Strategy-1])
			}
			if t.MayFail > 0 {
				fmt.Fprintf(&b, "  fault_tolerance: %s\n", []string{"1", "50%"}[t.MayFail-1])
			}
		}
		if typ == "shell" {
			fmt.Fprintf(&b, "  idempotent: %t\n  fail_on_error: %t\n  parameters: {cmd: x", !t.Once, !t.Tolerant)
			if t.Strategy > 0 {
				fmt.Fprintf(&b, ", strategy: {type: parallel, amount: %d}", t.Strategy)
			}
			fmt.Fprintln(&b, "}")
		}
	}
	return b.String()
}

// modelFailure is a violation found by the model. Failures of the same kind have the same class.
type modelFailure struct{ class, detail string }

// model is the state of a case.
type model struct {
	context.Context
	*modelCase
	*schedule.Schedule
	items   map[string]int32
	windows []modelWindow
	request run.Request
	store   store.Store
	began   time.Time
	id      atomic.Int64

	mutex    sync.Mutex
	story    []string
	failure  *modelFailure
	dead     map[string]bool
	calls    map[string]*modelCall // calls by token
	happened map[string]int        // number of executions that took effect, by item name
}

// modelCall is the record of a token on a node.
type modelCall struct {
	item  string
	ended bool
	err   error
}

func (m *model) log(format string, args ...any) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.story = append(m.story, fmt.Sprintf("%6v ", time.Since(m.began).Round(time.Second))+fmt.Sprintf(format, args...))
}

func (m *model) fail(class, format string, args ...any) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.failure == nil {
		m.failure = &modelFailure{class, fmt.Sprintf(format, args...)}
	}
}

// chance returns a number less than n that depends only on the given values.
func (m *model) chance(n uint64, about ...any) int {
	h := fnv.New64a()
	fmt.Fprintln(h, append(about, m.Seed)...)
	return int(h.Sum64() >> 20 % n) //nolint:gosec // less than n
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

// rows returns the run and its stored task runs.
func (m *model) rows() (d store.Job, rows map[int32]store.TaskRun) {
	rows = map[int32]store.TaskRun{}
	err := m.store.Read(m, func(tx store.Tx) (err error) {
		if d, err = tx.Job(m.id.Load()); err != nil {
			return err
		}
		all, err := tx.TaskRuns(m.id.Load())
		for _, r := range all {
			rows[int32(r.Number)] = r
		}
		return err
	})
	if err != nil {
		m.fail("an error", "%v", err)
	}
	return d, rows
}

// isMet reports whether a vertex no longer blocks the item d.
func (m *model) isMet(v, d int32, rows map[int32]store.TaskRun) bool {
	if int(v) < len(m.Items) {
		return m.isGood(v, rows) || m.Items[v].Node != nil && m.Items[v].Node != m.Items[d].Node && m.isLost(v, rows)
	}
	out := m.Graph.Out(v)
	if m.Any[v] {
		return len(out) == 0 || slices.ContainsFunc(out, func(to int32) bool { return m.isGood(to, rows) || m.isLost(to, rows) })
	}
	return !slices.ContainsFunc(out, func(to int32) bool { return !m.isMet(to, d, rows) })
}

func (m *model) isGood(i int32, rows map[int32]store.TaskRun) bool {
	r, item := rows[i], m.Items[i]
	return r.State == store.Done || r.State == store.Skipped && r.Message == item.Skip || r.State == store.Failed && item.Task.Tolerant
}

// checkStart checks the invariants that hold when a task starts.
func (p *modelProcess) checkStart(name string, w run.Work) {
	d, rows := p.rows()
	i := p.items[name]
	if r := rows[i]; r.State != store.Started || r.Owner != p.name || d.Owner != p.name || d.State != store.Running {
		p.fail("a task starts without intent", "%s by %s: %+v of %+v", name, p.name, r, d)
	}
	for _, to := range p.Graph.Out(i) {
		if !p.isMet(to, i, rows) {
			p.fail("a task starts too early", "%s, which waits for vertex %d", name, to)
		}
	}
	if item := p.Items[i]; item.Skip != "" || item.Task.Type != "shell" {
		p.fail("a task without work starts", "%s", name)
	}
	all, task, role := 0, 0, 0
	for i, r := range rows {
		if r.State != store.Started {
			continue
		}
		all++
		if p.Items[i].Task.ID == w.Task.ID {
			task++
		}
		if slices.Contains(p.Items[i].Node.Roles, "a") {
			role++
		}
	}
	if all > p.Parallelism || w.Task.Strategy.Number > 0 && task > w.Task.Strategy.Number || p.PerRole > 0 && role > p.PerRole {
		p.fail("too many run at once", "%d, %d of %s, %d of role a", all, task, w.Task.ID, role)
	}
	p.checkWindows(i, rows)
}

// checkEnd checks the states of all items after a run that was not interrupted.
func (m *model) checkEnd() {
	d, rows := m.rows()
	var isFailed, isUnknown bool
	isHalted := map[int32]bool{} // members of windows in which a member has failed
	for _, w := range m.windows {
		failures, marked := 0, 0
		for group, members := range w.members {
			isLost := false
			for _, i := range members {
				if !m.isGood(i, rows) && (rows[i].State == store.Failed || rows[i].State == store.Unknown) {
					failures++
					isLost = true
				}
			}
			if rows[group].State == store.Failed {
				if marked++; !isLost {
					m.fail("a group fails without a failure", "%s", m.Items[group].Name())
				}
			}
		}
		if marked > w.tolerance {
			m.fail("too many failures are tolerated", "%d nodes, not %d", marked, w.tolerance)
		}
		for _, members := range w.members {
			for _, i := range members {
				isHalted[i] = isHalted[i] || failures > 0
			}
		}
	}
	for i, item := range m.Items {
		r, has := rows[int32(i)]
		isFailed = isFailed || r.State == store.Failed && !item.Task.Tolerant && !m.isTolerated(int32(i), rows)
		isUnknown = isUnknown || r.State == store.Unknown
		if d.State == store.Canceled && !has || r.State == store.Started && (d.State == store.Canceled || m.StopOnError) {
			continue
		}
		met := !slices.ContainsFunc(m.Graph.Out(int32(i)), func(to int32) bool { return !m.isMet(to, int32(i), rows) })
		states := []store.State{store.Done, store.Failed, store.Unknown}
		switch {
		case item.Task.Type == taskgraph.GroupType && r.State == store.Failed && m.isTolerated(int32(i), rows):
			continue
		case item.Skip != "" && met, !met:
			states = []store.State{store.Skipped}
		case item.Task.Type != "shell":
			states = []store.State{store.Done}
		}
		if m.StopOnError || d.State == store.Canceled || isHalted[int32(i)] { // an earlier process may have skipped the item
			states = append(states, store.Skipped)
		}
		if !slices.Contains(states, r.State) || r.State == store.Skipped && r.Message != item.Skip && !strings.HasSuffix(r.Message, " failed") &&
			!strings.HasSuffix(r.Message, " is unknown") {
			m.fail("the final state of an item", "%s is %s %s, not one of %v", item.Name(), r.State, r.Message, states)
		}
	}
	want := store.Done
	switch {
	case d.State == store.Canceled:
		return
	case isUnknown:
		want = store.Ask
	case isFailed:
		want = store.Failed
	}
	if d.State != want {
		m.fail("the state of the run", "%s, not %s", d.State, want)
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

// play runs a case in a synctest bubble. It returns no failure if the graph is invalid.
func (c *modelCase) play(t *testing.T) (story []string, failure *modelFailure) {
	r := run.Request{Type: "upgrade"}
	for i, roles := range c.Nodes {
		r.Inventory.Nodes = append(r.Inventory.Nodes, inventory.Node{Name: fmt.Sprint("n", i), Roles: [][]string{{}, {"a"}, {"b"}, {"a", "b"}}[roles]})
	}
	g, err := taskgraph.Parse([]byte(c.yaml()), "")
	if err != nil {
		return nil, &modelFailure{"the graph", c.yaml() + err.Error()}
	}
	r.Tasks = g.Tasks
	specs, err := taskgraph.Check(taskgraph.Merge([]taskgraph.Layer{{Tasks: g.Tasks}}, false), nil)
	if err != nil {
		return nil, &modelFailure{"the graph", c.yaml() + err.Error()}
	}
	synctest.Test(t, func(t *testing.T) {
		m := &model{
			Context: t.Context(), modelCase: c, items: map[string]int32{}, request: r, store: memory.New(), began: time.Now(),
			dead: map[string]bool{}, calls: map[string]*modelCall{}, happened: map[string]int{},
		}
		skip := map[string]string{}
		for n := range c.Nodes {
			for i := range c.Tasks {
				if name := fmt.Sprintf("n%d/t%d", n, i); c.Tasks[i].Type == 4 {
					skip[name] = "skipped"
				} else if m.chance(10, "skip", name) == 0 {
					skip[name] = "condition"
				}
			}
		}
		m.request.Skip = skip
		if m.Schedule, err = schedule.Restore(schedule.Input{Tasks: specs, Nodes: r.Inventory.Nodes}, m.request.Decisions); err != nil {
			return // tasks on several nodes of a window wait for each other; see the reference of package schedule
		}
		m.findWindows(specs)
		for i := range m.Items {
			m.items[m.Items[i].Name()] = int32(i)
		}
		_ = m.store.Write(m, "dev", func(tx store.Tx) error { return tx.PutEnvironment(store.Environment{Name: "prod"}) })
		isDone := false
		for n := 0; n < 60 && !isDone && m.failure == nil; n++ {
			fate := modelFate{}
			if n < len(c.Processes) {
				fate = c.Processes[n]
			}
			isDone = m.attempt(n, fate)
			time.Sleep(time.Minute) // lets the leases of crashed processes expire
		}
		if !isDone {
			m.fail("the run does not end", "after 60 processes")
		}
		story, failure = append(strings.Split(c.yaml(), "\n"), m.story...), m.failure
	})
	return story, failure
}

// TestModel runs random graphs with failures and processes that crash. With rapid's default of 100 checks, the cases
// are always the same; with -rapid.checks, ten times as many random cases are run.
func TestModel(t *testing.T) {
	isSet := false
	flag.Visit(func(f *flag.Flag) { isSet = isSet || f.Name == "rapid.checks" || f.Name == "rapid.seed" })
	if !isSet {
		_ = flag.Set("rapid.seed", "1")
		defer func() { _ = flag.Set("rapid.seed", "0") }()
	}
	t.Run("all", func(t *testing.T) {
		for salt := range uint32(10) {
			t.Run(fmt.Sprint(salt), func(t *testing.T) {
				t.Parallel()
				var first []string // trace of a failure, which may depend on goroutine scheduling
				rapid.Check(t, func(r *rapid.T) {
					c := drawModelCase(r, salt)
					story, failure := c.play(t)
					if failure == nil {
						return
					}
					if first == nil {
						first = slices.Concat(story, []string{failure.detail})
						t.Cleanup(func() { t.Logf("the first failure:\n%s", strings.Join(first, "\n")) })
					}
					r.Log(strings.Join(append(story, fmt.Sprintf("%#v", c), failure.detail), "\n"))
					r.Fatal(failure.class)
				})
			})
		}
	})
}
