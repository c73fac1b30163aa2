package runs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
)

// conclude prints advice about unfinished deployments, the deployments they wait for, and failed deletions. It returns
// the error that determines the exit code.
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
		what, advice, code := Next(s, engine, status)
		if what != "" {
			s.Say("%s %s", status.Name, strings.TrimSuffix(what+". "+advice, ". "))
		}
		isOwn := slices.ContainsFunc(ended, func(d store.Job) bool { return d.ID == status.ID })
		if Rank(code) > Rank(worst) && (isOwn || errors.Is(code, console.ErrAsks)) { // earlier failures matter only if they block these deployments
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

// Rank orders the errors that determine exit codes by severity. Failures rank highest.
func Rank(err error) int {
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

// Next describes a deployment that needs attention, and returns advice and the error that determines the exit code.
// What is empty if the deployment needs no attention.
func Next(s *workspace.Session, engine *environment.Environment, d environment.Status) (what, advice string, code error) {
	about := d.Module + s.Flag()
	retry := "continue with 'lumi retry " + about + "'"
	giveUp := fmt.Sprintf(", or give up with 'lumi abort %s'", about)
	if d.Kind == "cleanup" {
		giveUp = "" // cleanups cannot be aborted
	}
	switch d.State {
	case store.Done, store.Aborted, store.Canceled:
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
			return "is waiting for an answer", fmt.Sprintf("Look for %s: 'lumi resolve %s%s --id=ID' if it exists, 'lumi resolve %[2]s%[3]s --absent' if not",
				strings.Join(names, ", "), names[0], s.Flag()), console.ErrAsks
		}
		return "is waiting for an answer", fmt.Sprintf("Review the new plan with 'lumi deploy %s'%s", about, giveUp), console.ErrAsks
	}
	switch {
	case !IsLeft(d):
		return "", "", console.ErrResumable
	case d.State == store.Wait && d.Owner == "" && len(d.Waits) == 0:
		return "is waiting for a worker", fmt.Sprintf("'lumi retry %s' runs it here", about), console.ErrResumable
	case len(d.Waits) > 0:
		return fmt.Sprintf("is waiting for %s: %s", d.Waits[0].For.Name(), d.Waits[0].Reason), "Afterward, " + retry, console.ErrResumable
	}
	return "was interrupted", "C" + retry[1:], console.ErrResumable
}

// IsLeft reports whether a deployment can be run because no other process is running it or about to run it.
func IsLeft(d environment.Status) bool {
	switch d.State {
	case store.Wait, store.Running, store.Aborting:
		return !d.Held
	}
	return false
}
