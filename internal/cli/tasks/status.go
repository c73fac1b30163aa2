package tasks

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/runs"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/taskgraph/service"
)

func newTasksStatusCommand(con *console.Console) *cobra.Command {
	var limit int
	c := withTasks(con, &taskFlags{}, "environment", false, &cobra.Command{
		Use: "status [RUN]", Short: "list runs, or show one",
		Long: `Without arguments, it lists the last runs of the environment, newest first, and what to do about the
newest. With RUN, a number such as 7 or upgrade[7], it shows the tasks of that run; if there are
more than 40, without finished and skipped ones.

With --json, it prints one object per run, one per line; the object of RUN has all tasks.`,
		Annotations: map[string]string{
			"0": "the last run is done", "1": "it failed, or does not exist", "2": console.ElseFailed, "3": "it is waiting for an answer", "4": "it is running, or was stopped or interrupted",
		},
		Example: console.Examples(
			"What became of the last runs?", "lumi tasks status --limit=5",
			"On which nodes did tasks fail?", `lumi tasks status 1 --json | jq -r '.tasks[] | select(.state == "FAILED") | .node'`,
		),
		ValidArgsFunction: completeRuns,
	}, func(t *tasker, ctx context.Context, args []string) error {
		switch {
		case limit < 1:
			return console.Misused("--limit=%d: must be at least 1", limit)
		case len(args) > 0:
			return t.oneRun(ctx, args[0])
		}
		return t.listRuns(ctx, limit)
	})
	c.Flags().IntVar(&limit, "limit", 20, "list up to `N` runs")
	return c
}

// stateOf returns the word shown for the state of a run.
func stateOf(r service.Run) string {
	switch unfinished := r.State == store.Running || r.State == store.Wait; {
	case unfinished && !r.Running:
		return "interrupted"
	case r.State == store.Wait:
		return "waiting"
	case r.State == store.Ask:
		return "asks"
	}
	return strings.ToLower(string(r.State))
}

// endOf returns the end time of a run, or "" if it has not ended.
func endOf(r service.Run) string {
	if r.Ended.IsZero() {
		return ""
	}
	return runs.Stamp(r.Ended)
}

func (t *tasker) listRuns(ctx context.Context, limit int) error {
	if err := t.enter(ctx, workspace.Fail); err != nil {
		return err
	}
	all, err := t.api.Runs(ctx, t.Environment.Name, 0, limit)
	if err != nil {
		return err
	}
	err = console.PrintList(t.Console, all, "No runs in "+t.Environment.Name+".", []string{"RUN", "STATE", "STARTED", "ENDED"}, func(r service.Run) []string {
		return []string{nameOf(r), stateOf(r), runs.Stamp(r.Created), endOf(r)}
	})
	if err != nil || len(all) == 0 {
		return err
	}
	last, err := t.api.Run(ctx, all[0].ID)
	if err != nil {
		return err
	}
	_, advice, code := t.next(last)
	if !t.JSON && advice != "" {
		t.Printf("\n%s: %s\n", nameOf(last), term.Paragraph(advice))
	}
	return code
}

func (t *tasker) oneRun(ctx context.Context, given string) error {
	r, err := t.chosen(ctx, given)
	if err != nil {
		return err
	}
	_, advice, code := t.next(r)
	if t.JSON {
		return cmp.Or(t.PrintJSON(r), code)
	}
	ended := endOf(r)
	if ended != "" {
		ended = ", ended " + ended
	}
	t.Printf("%s in %s: %s, started %s%s\n%s\n", nameOf(r), r.Environment, stateOf(r), runs.Stamp(r.Created), ended, counts(r.Tasks))
	if has := func(task service.TaskRun) bool { return task.Message != "" }; r.Message != "" && !slices.ContainsFunc(r.Tasks, has) {
		t.Printf("%s\n", term.Paragraph(r.Message)) // otherwise, the message repeats the messages of the tasks
	}
	if len(r.Tasks) > 40 {
		r.Tasks = slices.DeleteFunc(r.Tasks, func(task service.TaskRun) bool { return task.State == store.Done || task.State == store.Skipped })
	}
	if len(r.Tasks) > 0 {
		t.Printf("\n")
		_ = console.PrintList(t.Console, r.Tasks, "", []string{"TASK", "NODE", "STATE", "TOOK", "MESSAGE"}, func(task service.TaskRun) []string {
			took := ""
			if !task.Started.IsZero() && !task.Ended.IsZero() {
				took = task.Ended.Sub(task.Started).Round(100 * time.Millisecond).String()
			}
			return []string{task.Task, task.Node, taskState(task), took, strings.ReplaceAll(task.Message, "\n", "; ")}
		})
	}
	if advice != "" {
		t.Printf("\n%s\n", term.Paragraph(advice))
	}
	return code
}

func newTasksLogsCommand(con *console.Console) *cobra.Command {
	var node, task string
	var follow bool
	c := withTasks(con, &taskFlags{}, "environment", false, &cobra.Command{
		Use: "logs [RUN]", Short: "show the events of a run",
		Long: `Print the output and results of a run's tasks. RUN is a number such as 7 or upgrade[7];
the default is the last run. With --json, it prints one event per line.`,
		Annotations: console.ExitCodes("the events are shown", "the run does not exist", console.ElseFailed),
		Example: console.Examples(
			"What did a task print on a node?", "lumi tasks logs 1 --node=web-1 --task=install",
			"Follow what another process runs.", "lumi tasks logs --follow",
		),
		ValidArgsFunction: completeRuns,
	}, func(t *tasker, ctx context.Context, args []string) error {
		r, err := t.chosen(ctx, strings.Join(args, ""))
		if err != nil {
			return err
		}
		if err := shows(r, "node", node, func(task service.TaskRun) string { return task.Node }); err != nil {
			return err
		}
		if err := shows(r, "task", task, func(task service.TaskRun) string { return task.Task }); err != nil {
			return err
		}
		show := func(e store.Event) {
			on, about, found := strings.Cut(e.URN, "/")
			if !found {
				on, about = "", e.URN
			}
			if (node == "" || on == node) && (task == "" || about == task) {
				t.printEvent(e)
			}
			if follow {
				_ = t.Stdout.Flush()
			}
		}
		if follow {
			r, err = t.api.Follow(ctx, r.ID, 0, each(show))
			if err == nil && (r.State == store.Wait || r.State == store.Running) { // interruptions have no event
				what, advice, _ := t.next(r)
				t.Say("%s %s. %s", nameOf(r), what, advice)
			}
		} else {
			_, err = t.events(ctx, r.ID, show)
		}
		return err
	})
	c.Flags().StringVar(&node, "node", "", "show only events of `NODE`")
	c.Flags().StringVar(&task, "task", "", "show only events of `TASK`")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "follow the run until it ends")
	completes(c, "node", completeNodes)
	return c
}

// shows returns an error if given is not empty and no task run matches it. Of returns the node or task of a task run.
// Before the first task run, any value is accepted.
func shows(r service.Run, kind, given string, of func(service.TaskRun) string) error {
	var names []string
	for _, task := range r.Tasks {
		names = append(names, of(task))
	}
	if given == "" || len(names) == 0 || slices.Contains(names, given) {
		return nil
	}
	return refused("%s has no %s %s%s", nameOf(r), kind, given, suggest.DidYouMean(given, names))
}

func (t *tasker) printEvent(e store.Event) {
	if t.JSON {
		_ = t.PrintJSON(e) // write errors are sticky
		return
	}
	text := term.Paragraph(e.Message)
	if e.State != "" {
		word := runs.StateWord(t.Console, e.State)
		if e.State == store.Failed && e.Level == "warn" {
			word += " (tolerated)"
		}
		text = strings.TrimSuffix(word+": "+text, ": ")
	}
	t.Printf("%s %s: %s\n", runs.Stamp(e.Time), term.Visible(cmp.Or(e.URN, e.Name)), strings.ReplaceAll(text, "\n", "\n  "))
}

func newTasksStopCommand(con *console.Console) *cobra.Command {
	return withTasks(con, &taskFlags{}, "environment", false, &cobra.Command{
		Use: "stop [RUN]", Short: "stop a run",
		Long: `No more tasks start; running tasks finish. RUN is a number such as 7 or upgrade[7]; the default is
the last run. 'lumi tasks run --resume' continues it.`,
		Annotations:       console.ExitCodes("the run stops", "the run does not exist, or has ended", console.ElseFailed),
		Example:           console.Examples("Stop the run of another process.", "lumi tasks stop"),
		ValidArgsFunction: completeRuns,
	}, func(t *tasker, ctx context.Context, args []string) error {
		r, err := t.chosen(ctx, strings.Join(args, ""))
		if err != nil {
			return err
		}
		if r, err = t.api.Stop(ctx, r.ID); err != nil {
			return err
		}
		if r.Running {
			return t.result(r, "%s is stopping. Its running tasks will finish.", nameOf(r))
		}
		_, advice, _ := t.next(r)
		return t.result(r, "%s is stopped. %s.", nameOf(r), advice)
	})
}
