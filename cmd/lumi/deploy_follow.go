package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/provision"
	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/view"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
)

// runFlags say how deployments run.
type runFlags struct {
	parallel int
	onError  string
	verbose  bool
}

func (f *runFlags) add(c *cobra.Command) {
	c.Flags().IntVar(&f.parallel, "parallel", 16, "make up to `N` calls at once")
	console.ChoiceVar(c, c.Flags(), &f.onError, "on-error", "continue", "after an error, `WHAT` to do with steps that do not depend on it", "continue", "stop")
	c.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "show debug messages of providers, too")
}

// misuse returns an error if a flag has no sensible value.
func (f *runFlags) misuse() error {
	if f.parallel < 1 {
		return console.Misused("--parallel=%d: it is a whole number from 1 up", f.parallel)
	}
	return nil
}

func (f *runFlags) options() run.Options {
	return run.Options{Parallelism: f.parallel, StopOnError: f.onError == "stop"}
}

// NewEngine returns an engine for the environment, and a function that ends its plugins. The messages of providers go where the
// events of deployments go, or to standard error before there are any.
func NewEngine(s *workspace.Session, key *secret.Key, o run.Options) (*environment.Environment, func()) {
	pool := provision.NewPool(provision.PoolOptions{Command: s.Plugin, Events: s.Event})
	external := findProvisioners(s)
	o.Provisioners, o.Provisioner = external.all(), external.of
	o.Store, o.Environment, o.Key, o.Events = s.Store, s.Environment.Name, key, s.Report
	o.Providers = func(module string) provision.Providers { return pool.In(s.ProgramFolder(module)) }
	if s.Simulates {
		providers := o.Providers
		o.Providers = func(module string) provision.Providers { return provision.Simulate(providers(module)) }
	}
	return environment.New(o), func() {
		if err := pool.Close(); err != nil {
			s.Say("%s", err)
		}
	}
}

// newReporter returns what shows events: a live view on a terminal.
func newReporter(s *workspace.Session, f runFlags) view.Reporter {
	o := view.Options{Width: s.Out.Width, Color: s.Out.Color, Verbose: f.verbose}
	if s.JSON {
		return view.NewJSON(s.Out.Filter(s.Unbuffered))
	}
	if s.Out.Terminal {
		if live, err := view.NewLive(os.Stdout, o); err == nil {
			return live
		}
	}
	return view.NewLines(s.Out.Filter(s.Unbuffered), o)
}

// follow begins deployments and runs them until they end, fail, ask or are interrupted, and shows their events. It prints what
// to do next.
func follow(ctx context.Context, s *workspace.Session, engine *environment.Environment, f runFlags, begin func() ([]int64, error)) error {
	reporter := newReporter(s, f)
	s.Reporter.Store(&reporter)
	s.OnInterrupt(stopper(s, engine)) // Until the process ends: a plugin may take long to.
	hangup := make(chan os.Signal, 1) // A deployment outlives its terminal.
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	ctx, cancel := context.WithCancel(ctx)
	ended, err := runAll(ctx, s, engine, begin, reporter)
	cancel()
	s.Reporter.Store(nil)
	reporter.Close()
	if err != nil {
		return err
	}
	return conclude(ctx, s, engine, ended)
}

// runAll begins deployments and runs them all at once.
func runAll(ctx context.Context, s *workspace.Session, engine *environment.Environment, begin func() ([]int64, error), reporter view.Reporter) ([]store.Job, error) {
	ids, err := begin()
	if err != nil {
		return nil, err
	}
	watched, end := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { watchWaits(watched, engine, ids, reporter) })
	ended, lost := make([]store.Job, len(ids)), make([]error, len(ids))
	group, ctx := errgroup.WithContext(ctx)
	for i, id := range ids {
		group.Go(func() (err error) {
			ended[i], err = engine.Run(ctx, id)
			if lost[i] = err; errors.Is(err, store.ErrLost) {
				return nil // The others end their running calls, too.
			}
			return err
		})
	}
	if err = group.Wait(); err == nil {
		err = errors.Join(lost...)
	}
	end()
	watch.Wait()
	return ended, err
}

// watchWaits tells the reporter what deployments wait for.
func watchWaits(ctx context.Context, engine *environment.Environment, ids []int64, reporter view.Reporter) {
	for {
		if queued, err := engine.Status(ctx); err == nil {
			all := map[string][]string{}
			for _, q := range queued {
				if !slices.Contains(ids, q.ID) {
					continue
				}
				for _, w := range q.Waits {
					all[q.Name] = append(all[q.Name], w.For.Name()+": "+w.Reason)
				}
			}
			reporter.Waits(all)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
	}
}

// stopper returns what interrupts do.
func stopper(s *workspace.Session, engine *environment.Environment) func() {
	var times atomic.Int32
	return func() {
		switch times.Add(1) {
		case 1:
			s.Report(store.Event{Time: time.Now().UTC(), Level: "warn", Message: "interrupted: waiting for running calls; interrupt again to cancel them"})
			engine.Stop()
		case 2:
			s.Report(store.Event{Time: time.Now().UTC(), Level: "warn", Message: "cancelling calls; interrupt again to leave at once"})
			engine.Stop()
		default:
			s.Say("left; continue with 'lumi retry%s'", s.Flag())
			os.Exit(console.ExitResumable)
		}
	}
}

// conclude prints what to do about deployments that are not done, those that they wait for and what could not be deleted, and
// returns the exit code's error.
func conclude(ctx context.Context, s *workspace.Session, engine *environment.Environment, ended []store.Job) error {
	ctx = context.WithoutCancel(ctx)
	queued, err := engine.Status(ctx)
	if err != nil {
		return err
	}
	g, err := engine.Graph(ctx)
	if err != nil {
		return err
	}
	var all []environment.Status
	add := func(d environment.Status) {
		if !slices.ContainsFunc(all, func(o environment.Status) bool { return o.ID == d.ID }) {
			all = append(all, d)
		}
	}
	pending := map[string]int{}
	for _, d := range ended {
		status := environment.Status{Job: d, Name: job.Name(d)}
		if i := slices.IndexFunc(queued, func(q environment.Status) bool { return q.ID == d.ID }); i >= 0 {
			status = queued[i]
		}
		add(status)
		for _, q := range queued {
			for _, w := range status.Waits {
				if w.For.Name() == q.Name && (q.State == store.Failed || q.State == store.Ask) {
					add(q)
				}
			}
		}
		pending[d.Module] = len(g.Pending(d.Module))
	}
	var worst error
	for _, status := range all {
		what, advice, code := next(s, engine, status)
		if what != "" {
			s.Say("%s %s", status.Name, strings.TrimSuffix(what+". "+advice, ". "))
		}
		isOwn := slices.ContainsFunc(ended, func(d store.Job) bool { return d.ID == status.ID })
		if rank(code) > rank(worst) && (isOwn || errors.Is(code, console.ErrAsks)) { // What has failed before is only waited for.
			worst = code
		}
	}
	for _, module := range slices.Sorted(maps.Keys(pending)) {
		if n := pending[module]; n > 0 && worst == nil {
			s.Say("%s of %s could not be deleted: 'lumi retry %[2]s%s' tries again", console.Count(n, "resource"), module, s.Flag())
			worst = console.ErrWrong
		}
	}
	return worst
}

// rank orders what ended a deployment: a failure counts most.
func rank(err error) int {
	switch {
	case errors.Is(err, console.ErrWrong):
		return 3
	case errors.Is(err, console.ErrAsks):
		return 2
	case errors.Is(err, console.ErrResumable):
		return 1
	}
	return 0
}

// next returns what became of a deployment, if there is more to say than its state, what to do about that, and the exit code's
// error.
func next(s *workspace.Session, engine *environment.Environment, d environment.Status) (what, advice string, code error) {
	about := d.Module + s.Flag()
	retry := "continue with 'lumi retry " + about + "'"
	giveUp := fmt.Sprintf(", or give up with 'lumi abort %s'", about)
	if d.Kind == "cleanup" {
		giveUp = "" // It cannot be aborted.
	}
	switch d.State {
	case store.Done, store.Aborted, store.Cancelled:
		return "", "", nil
	case store.Superseded:
		return "was superseded " + d.Message, "", console.ErrWrong
	case store.Failed:
		switch {
		case d.Abort:
			retry, giveUp = fmt.Sprintf("try again with 'lumi abort %s'", about), ""
		case d.Kind == "deploy":
			retry += fmt.Sprintf(", deploy a changed program with 'lumi deploy %s'", about)
		}
		return "failed", "Fix the cause, then " + retry + giveUp, console.ErrWrong
	case store.Ask:
		if len(d.Asks) > 0 {
			var names []string
			for _, u := range d.Asks {
				names = append(names, u.Name())
			}
			return "asks", fmt.Sprintf("Look for %s: 'lumi resolve %s%s --id=ID' if it exists, 'lumi resolve %[2]s%[3]s --absent' if not",
				strings.Join(names, ", "), names[0], s.Flag()), console.ErrAsks
		}
		return "asks", fmt.Sprintf("Review the new plan with 'lumi deploy %s'%s", about, giveUp), console.ErrAsks
	}
	switch {
	case !isLeft(engine, d):
		return "", "", console.ErrResumable
	case len(d.Waits) > 0:
		return fmt.Sprintf("waits for %s: %s", d.Waits[0].For.Name(), d.Waits[0].Reason), "Afterwards, " + retry, console.ErrResumable
	}
	return "was interrupted", "C" + retry[1:], console.ErrResumable
}

// isLeft reports whether a deployment could run, and no other process runs it or is about to.
func isLeft(engine *environment.Environment, d environment.Status) bool {
	switch d.State {
	case store.Wait, store.Running, store.Aborting:
		return d.Owner == engine.Owner || !time.Now().Before(d.Expires) || engine.IsDead(d.Owner)
	}
	return false
}
