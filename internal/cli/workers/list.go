package workers

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/runs"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
)

// jsonWorker is the JSON form of a worker.
type jsonWorker struct {
	Owner     string    `json:"owner"`
	Host      string    `json:"host"`
	Boot      string    `json:"boot,omitempty"`
	State     string    `json:"state"`
	Heartbeat time.Time `json:"heartbeat,omitzero"`
	Holds     []string  `json:"holds"`
}

func newWorkerListCommand(con *console.Console) *cobra.Command {
	return workspace.RunInEnvironment(con, &cobra.Command{
		Use:   "list",
		Short: "list the processes that run deployments",
		Long: `A worker is running, draining (it was interrupted and starts no new work), gone (its process is known
to have ended), or unknown (it is on another host and its heartbeats have stopped).
HOLDS lists what it runs, or what must wait for a call that it started.
With --json, it prints one object per worker, one per line.`,
		Annotations: console.ExitCodes("the workers are listed", "", console.ElseFailed),
		Example:     console.Examples("Who runs deployments?", "lumi worker list"),
	}, listWorkers)
}

func listWorkers(ctx context.Context, s *workspace.Session, _ []string) error {
	workers, err := runnerOf(s).Workers(ctx)
	if err != nil {
		return err
	}
	all := make([]jsonWorker, len(workers))
	for i, w := range workers {
		all[i] = jsonWorker{w.Owner, w.Host, w.Boot, w.State, w.Seen, []string{}}
		for _, j := range w.Holds {
			all[i].Holds = append(all[i].Holds, job.Name(j))
		}
	}
	head := []string{"OWNER", "HOST", "STATE", "HEARTBEAT", "HOLDS"}
	return console.PrintList(s.Console, all, "No workers.", head, func(w jsonWorker) []string {
		seen := "-"
		if !w.Heartbeat.IsZero() {
			seen = runs.Stamp(w.Heartbeat)
		}
		return []string{w.Owner, w.Host, w.State, seen, cmp.Or(strings.Join(w.Holds, ", "), "-")}
	})
}

func newWorkerForgetCommand(con *console.Console) *cobra.Command {
	return workspace.RunInEnvironment(con, &cobra.Command{
		Use:   "forget OWNER",
		Short: "take over from a process whose host is gone",
		Long: `After 'lumi worker forget', what the worker held can be continued at once, without waiting for its
calls. OWNER is its name in 'lumi worker list'.

Only forget a worker whose host no longer runs. If its calls still run, they may be made twice, and
a resource may be created twice. A worker that is alive is not forgotten.`,
		Annotations: console.ExitCodes("the worker is forgotten", "refused", console.ElseFailed),
		Example: console.Examples(
			"The host ci-7 was deleted. Continue what it ran.", "lumi worker forget ci-7/4711/81930 && lumi retry",
		),
	}, func(ctx context.Context, s *workspace.Session, args []string) error {
		if err := s.Copied(); err != nil {
			return err
		}
		w, err := runnerOf(s).Forget(ctx, args[0])
		if err != nil {
			return err
		}
		return s.Finish("worker %s forgotten", w.Owner)
	})
}

func runnerOf(s *workspace.Session) *job.Runner {
	return job.New(job.Options{Store: s.Store, Environment: s.Environment.Name, Events: s.Report})
}
