package run_test

import (
	"context"
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

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/memory"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
	"github.com/lumi-idl/lumi/taskgraph/run"
	"github.com/lumi-idl/lumi/taskgraph/schedule"
)

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

// play runs a case in a synctest bubble. It returns no failure if the graph is invalid.
func (c *modelCase) play(t *testing.T) (story []string, failure *modelFailure) {
	r := run.Request{Type: "upgrade", Choice: c.choice()}
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
		if m.Schedule, err = schedule.Restore(schedule.Input{Tasks: specs, Nodes: r.Inventory.Nodes, Choice: r.Choice}, m.request.Decisions); err != nil {
			return // tasks on several nodes of a window wait for each other; see the reference of package schedule
		}
		m.findWindows(specs)
		for i := range m.Items {
			m.items[m.Items[i].Name()] = int32(i)
		}
		_ = m.store.Write(m, "prod", func(tx store.Tx) error { return tx.PutEnvironment(store.Environment{Name: "prod"}) })
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
		story, failure = append(strings.Split(c.yaml(), "\n"), fmt.Sprintf("choice: %+v", r.Choice)), m.failure
		story = append(story, m.story...)
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
