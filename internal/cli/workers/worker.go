// Package workers implements the commands for the processes that run deployments.
package workers

import (
	"cmp"
	"context"
	"errors"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/view"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/runs"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	taskrun "github.com/lumi-idl/lumi/taskgraph/run"
)

// Command returns the command that runs a worker, with its subcommands. tasks returns an engine for the runs of a session's
// environment.
func Command(con *console.Console, tasks func(*workspace.Session) *taskrun.Engine) *cobra.Command {
	w := &worker{Console: con, tasks: tasks, keys: map[string]*secret.Key{}, locked: map[string]time.Time{}, stopped: make(chan struct{}), engines: map[stopper]bool{}}
	c := &cobra.Command{
		Use:   "worker",
		Short: "run the deployments of all environments, and list who does",
		Long: `Run what is queued in the environments of the project until interrupted: deployments that
'lumi deploy --detach' has queued, cleanups, and whatever another process has left. Any number of
workers can share a state in PostgreSQL. Programs are evaluated by 'lumi deploy', not by a worker.

A worker needs Lumi.yaml, the plugins, and the keys: an age identity or a command, since nobody can
enter a passphrase. What it lacks plugins or a key for stays queued, and 'lumi status' shows why.
Interrupt it once to finish running calls and hand over the rest, twice to cancel calls.
docs/fleet.md is a guide.`,
		Annotations: console.ExitCodes("interrupted", "", console.ElseFailed),
		Example: console.Examples(
			"Run deployments to all environments.", "lumi worker",
			"Run only those to production.", "lumi worker --environments='prod-*'",
		),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if _, err := path.Match(w.pattern, ""); err != nil {
				return console.Misused("--environments=%s: not a valid pattern", w.pattern)
			}
			if err := w.flags.Misuse(); err != nil {
				return err
			}
			return workspace.WithStore(c.Context(), con, true, func(s *workspace.Session) error { return w.run(c.Context(), s) })
		},
	}
	c.Flags().StringVar(&w.pattern, "environments", "*", "only environments whose names match `PATTERN`, such as prod-*")
	w.flags.Add(c)
	console.AddCommands(c, "Commands", newWorkerListCommand(con), newWorkerForgetCommand(con))
	return c
}

// worker runs the jobs of environments.
type worker struct {
	*console.Console
	session  *workspace.Session // with the store, but no environment
	tasks    func(*workspace.Session) *taskrun.Engine
	pattern  string
	flags    runs.Flags
	reporter view.Reporter
	stopped  chan struct{} // closed by the first interrupt

	mu      sync.Mutex
	keys    map[string]*secret.Key // by their wrapped forms
	locked  map[string]time.Time   // when a key could not be unwrapped, by its wrapped form
	engines map[stopper]bool       // running engines
}

type stopper interface{ Stop() }

// Times between queries for jobs, and between attempts in an environment whose jobs cannot start.
const (
	poll = 2 * time.Second
	rest = 5 * time.Second
)

func (w *worker) run(ctx context.Context, s *workspace.Session) error {
	console.NormalGC()
	w.session, w.reporter = s, runs.NewReporter(s, w.flags)
	defer w.reporter.Close()
	w.OnInterrupts(func() {
		w.Say("interrupted: waiting for running calls; interrupt again to cancel them")
		close(w.stopped)
		w.stop()
	}, func() {
		w.Say("canceling calls; interrupt again to exit immediately")
		w.stop()
	})
	w.Say("waiting for deployments to %s in %s", cmp.Or(map[string]string{"*": "all environments"}[w.pattern], w.pattern), workspace.Location(s.Workspace))
	w.work(ctx)
	return nil
}

func (w *worker) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for e := range w.engines {
		e.Stop()
	}
}

// work serves environments until the worker is stopped and nothing is running.
func (w *worker) work(ctx context.Context) {
	type result struct {
		name   string
		worked bool
	}
	watched, end := context.WithCancel(ctx)
	defer end()
	changed, ended := make(chan string), make(chan result)
	go w.session.Store.Watch(watched, func(name string) {
		select {
		case changed <- name:
		case <-watched.Done():
		}
	})
	busy, idle := map[string]bool{}, map[string]time.Time{} // environments that run, and that rest until a time
	for stopped, tick := w.stopped, time.Tick(poll); stopped != nil || len(busy) > 0; {
		if stopped != nil {
			for name, tasks := range w.ready(ctx) {
				if !busy[name] && time.Now().After(idle[name]) {
					busy[name] = true
					go func() { ended <- result{name, w.serve(ctx, name, tasks)} }()
				}
			}
		}
		for isDue := false; !isDue; {
			select {
			case name := <-changed:
				isDue = !busy[name]
				delete(idle, name)
			case r := <-ended:
				isDue = true
				delete(busy, r.name)
				if !r.worked {
					idle[r.name] = time.Now().Add(rest)
				}
			case <-tick:
				isDue = true
			case <-stopped:
				stopped, isDue = nil, true
			}
		}
	}
}

// ready returns the matching environments with jobs that no process holds, and the runs of task graphs among these jobs.
func (w *worker) ready(ctx context.Context) map[string][]store.Job {
	const page = 1000
	prefix := w.pattern
	if i := strings.IndexAny(prefix, `*?[\`); i >= 0 {
		prefix = prefix[:i]
	}
	var names map[string][]store.Job
	err := w.session.Store.Read(ctx, func(tx store.Tx) error {
		names = map[string][]store.Job{}
		for after := int64(0); ; {
			found, err := tx.Ready(prefix, after, page)
			for _, d := range found {
				after = d.ID
				if ok, _ := path.Match(w.pattern, d.Environment); !ok {
					continue
				}
				runs := names[d.Environment]
				if d.Kind == store.Tasks {
					runs = append(runs, d)
				}
				names[d.Environment] = runs
			}
			if err != nil || len(found) < page {
				return err
			}
		}
	})
	if err != nil && ctx.Err() == nil {
		w.Say("%s", err)
	}
	return names
}

// serve runs the jobs of an environment until none can start, then the given runs of task graphs, and reports whether it ran
// any.
func (w *worker) serve(ctx context.Context, name string, tasks []store.Job) (worked bool) {
	s := &workspace.Session{
		Console: w.Console, Workspace: w.session.Workspace, Store: w.session.Store, Database: w.session.Database,
		Environment: store.Environment{Name: name},
	}
	s.Reporter.Store(new(view.Reporter(named{w.reporter, name})))
	worked, err := w.serveIn(ctx, s, tasks)
	if err != nil {
		w.Say("%s: %s", name, err)
	}
	return worked
}

func (w *worker) serveIn(ctx context.Context, s *workspace.Session, tasks []store.Job) (worked bool, err error) {
	if err := s.Enter(ctx, workspace.Fail); err != nil {
		return false, err
	}
	engine, end := runs.NewEngine(s, w.key(ctx, s), w.flags.Options()) // without the key, deployments stay queued
	defer end()
	defer w.register(engine)()
	worked, err = engine.Work(ctx)
	if err != nil || w.isStopped() {
		return worked, w.handOver(ctx, s, engine.Owner, err)
	}
	ran, err := w.runTasks(ctx, s, tasks)
	return worked || ran, err
}

// key returns the key of the session's environment, or nil if it has none. It reports why a key cannot be unwrapped, and tries
// again after a minute.
func (w *worker) key(ctx context.Context, s *workspace.Session) *secret.Key {
	w.mu.Lock()
	defer w.mu.Unlock() // others may need the same key
	wrapped := s.Environment.Key
	if key := w.keys[wrapped]; key != nil || time.Since(w.locked[wrapped]) < time.Minute {
		return key
	}
	key, err := s.Key(ctx)
	if err != nil {
		w.Say("%s: %s", s.Environment.Name, err)
		w.locked[wrapped] = time.Now()
		return nil
	}
	w.keys[wrapped] = key
	return key
}

func (w *worker) isStopped() bool {
	select {
	case <-w.stopped:
		return true
	default:
		return false
	}
}

// register lets interrupts stop an engine until the returned function is called.
func (w *worker) register(e stopper) (end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.engines[e] = true
	if w.isStopped() {
		e.Stop()
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.engines, e)
	}
}

// runTasks continues runs of task graphs. It ignores refusals, since other processes may have claimed them.
func (w *worker) runTasks(ctx context.Context, s *workspace.Session, all []store.Job) (ran bool, err error) {
	if len(all) == 0 {
		return false, nil
	}
	engine := w.tasks(s)
	defer func() { _ = s.Hosts.Close() }()
	defer w.register(engine)()
	for _, d := range all {
		var err error
		if d.State == store.Running {
			_, err = engine.Resume(ctx, d.ID, nil)
		}
		if err == nil {
			_, err = engine.Run(ctx, d.ID)
		}
		if _, isRefused := errors.AsType[*job.RefusedError](err); err != nil && !isRefused {
			return ran, err
		}
		ran = ran || err == nil
	}
	return ran, nil
}

// handOver says which deployments of this process others can continue, and returns err.
func (w *worker) handOver(ctx context.Context, s *workspace.Session, owner string, err error) error {
	if err != nil {
		return err
	}
	return s.Store.Read(ctx, func(tx store.Tx) error {
		queue, err := tx.Queue(s.Environment.Name)
		for _, d := range queue {
			if d.Owner == owner && !tx.Now().Before(d.Expires) && !d.State.IsFinal() {
				w.Say("%s/%s is handed over: another worker or 'lumi retry' continues it", s.Environment.Name, job.Name(d))
			}
		}
		return err
	})
}

// named adds the environment to the names of deployments.
type named struct {
	view.Reporter
	environment string
}

func (n named) Event(e store.Event) {
	if e.Name != "" {
		e.Name = n.environment + "/" + e.Name
	}
	n.Reporter.Event(e)
}
