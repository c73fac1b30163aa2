// Package runs executes deployments for commands. It starts an engine, shows events, and prints advice on what to do
// next.
package runs

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/provision"
	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/view"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
)

// Flags holds the flags that control how deployments run.
type Flags struct {
	parallel int
	onError  string
	Verbose  bool
}

// Add declares the flags of c.
func (f *Flags) Add(c *cobra.Command) {
	c.Flags().IntVar(&f.parallel, "parallel", 16, "make up to `N` calls at once")
	console.ChoiceVar(c, c.Flags(), &f.onError, "on-error", "continue", "after an error, `WHAT` to do with steps that do not depend on the failed one", "continue", "stop")
	c.Flags().BoolVarP(&f.Verbose, "verbose", "v", false, "also show debug messages of providers")
}

// Misuse returns an error if the value of a flag is invalid.
func (f *Flags) Misuse() error {
	if f.parallel < 1 {
		return console.Misused("--parallel=%d: must be at least 1", f.parallel)
	}
	return nil
}

// Options returns the engine options that correspond to the flags.
func (f *Flags) Options() run.Options {
	return run.Options{Parallelism: f.parallel, StopOnError: f.onError == "stop"}
}

// NewEngine returns an engine for the environment and a function that stops its plugins. Messages from providers are
// sent to the current reporter or, if there is none, to standard error.
func NewEngine(s *workspace.Session, key *secret.Key, o run.Options) (*environment.Environment, func()) {
	pool := provision.NewPool(provision.PoolOptions{Command: s.Plugin, Events: s.Event})
	external := findProvisioners(s)
	o.Provisioners, o.Provisioner = external.all(), external.of
	o.IgnoreDrift, o.Policy = s.Workspace.IgnoredDrift, s.Policy
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

// NewReporter returns a reporter of deployment events. On a terminal, it shows a live view.
func NewReporter(s *workspace.Session, f Flags) view.Reporter {
	o := view.Options{Width: s.Out.Width, Color: s.Out.Color, Verbose: f.Verbose}
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

// Follow starts deployments with begin and shows their events until all of them end, wait for an answer, or are
// interrupted. It then prints what to do next.
func Follow(ctx context.Context, s *workspace.Session, engine *environment.Environment, f Flags, begin func() ([]int64, error)) error {
	reporter := NewReporter(s, f)
	s.Reporter.Store(&reporter)
	s.OnInterrupt(stopper(s, engine)) // keep the handler until exit, since stopping a plugin may take long
	hangup := make(chan os.Signal, 1) // deployments continue when the terminal is closed
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

// runAll starts deployments with begin and runs them concurrently.
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
				return nil // let the others finish their running calls
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

// watchWaits reports the resources that deployments are waiting for, until ctx is done.
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

// stopper returns the interrupt handler for a running engine.
func stopper(s *workspace.Session, engine *environment.Environment) func() {
	var times atomic.Int32
	return func() {
		switch times.Add(1) {
		case 1:
			s.Report(store.Event{Time: time.Now().UTC(), Level: "warn", Message: "interrupted: waiting for running calls; interrupt again to cancel them"})
			engine.Stop()
		case 2:
			s.Report(store.Event{Time: time.Now().UTC(), Level: "warn", Message: "canceling calls; interrupt again to exit immediately"})
			engine.Stop()
		default:
			s.Say("exited; continue with 'lumi retry%s'", s.Flag())
			os.Exit(console.ExitResumable)
		}
	}
}
