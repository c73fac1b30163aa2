package tasks

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/runs"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/taskgraph/service"
	"github.com/lumi-idl/lumi/taskgraph/tasktype"
)

// tasksRun is an invocation of 'lumi tasks run'.
type tasksRun struct {
	taskFlags
	request                 service.RunRequest
	onError, resume, answer string
	dry, verbose            bool
}

// latest is the value of --resume without a number.
const latest = "latest"

func newTasksRunCommand(con *console.Console) *cobra.Command {
	r := &tasksRun{}
	c := withTasks(con, &r.taskFlags, "environment type", false, &cobra.Command{
		Use: "run [RUN]", Short: "run a graph on the nodes of an environment",
		Long: `Run the effective graph of a type on all nodes of the environment, or on those of --node. Nodes
are listed in inventory.yaml, or in the file set in Lumi.yaml or with --inventory. With --dry-run,
it only prints the plan. Press Ctrl-C once to stop starting tasks, twice to cancel running tasks,
three times to exit immediately.

--task and --tag run only some tasks and what they depend on; --only leaves out the dependencies.
TASKS and TAGS are names, /regex/, or *, separated by commas; --skip takes both.

--resume continues the last run, or RUN, without repeating finished tasks. If it is unknown whether
a task that must not run twice took effect, the run pauses; --answer continues it. With --json, it
prints one event per line.`,
		Annotations: map[string]string{
			"0": "done", "1": "failed or refused", "2": console.ElseFailed, "3": "waiting for an answer", "4": "interrupted or stopped; it can be resumed",
		},
		Example: console.Examples(
			"What would run where?", "lumi tasks run --dry-run",
			"Run the default graph.", "lumi tasks run",
			"Repair two nodes, once --dry-run looks right.", "lumi tasks run --type=fix-1234 --node=web-1,web-2",
			"Run one task again, without what it depends on.", "lumi tasks run --task=install --only",
			"Upgrade at most two web servers at once.", "lumi tasks run --type=upgrade --per-role=web=2",
		),
		ValidArgsFunction: completeRuns,
	}, r.run)
	flags, engine := c.Flags(), &r.service.engine
	flags.StringSliceVar(&r.request.Nodes, "node", nil, "run only on `NODES`, separated by commas")
	flags.StringSliceVar(&r.request.Tasks, "task", nil, "run only `TASKS` and what they depend on")
	flags.StringSliceVar(&r.request.Tags, "tag", nil, "run only the tasks with `TAGS` and what they depend on")
	flags.StringSliceVar(&r.request.Skip, "skip", nil, "leave out the tasks with these names or tags: `TASKS`")
	flags.BoolVar(&r.request.Only, "only", false, "run only the tasks of --task and --tag, without what they depend on")
	flags.StringVar(&r.request.Event, "event", "", "the `EVENT` that tasks list in reexecute_on (default \"deploy_changes\")")
	flags.BoolVar(&r.request.All, "all", false, "also run tasks that have nothing to do, except those whose condition is false")
	flags.BoolVar(&r.dry, "dry-run", false, "show what would run, without running it")
	flags.StringVar(&r.resume, "resume", "", "continue the last run, or run `NUMBER`")
	flags.Lookup("resume").NoOptDefVal = latest
	flags.StringVar(&r.answer, "answer", "", "the `ANSWER` about a task: NODE/TASK=done or NODE/TASK=again")
	flags.IntVar(&engine.Parallelism, "parallel", 16, "run up to `N` tasks at once")
	flags.StringToIntVar(&engine.PerRole, "per-role", nil, "run up to N tasks at once on the nodes of a role: `ROLE=N`, separated by commas")
	console.ChoiceVar(c, flags, &r.onError, "on-error", "continue", "after an error, `WHAT` to do with tasks that do not depend on the failed one", "continue", "stop")
	flags.StringVar(&r.service.inventory, "inventory", "", "the inventory `FILE`, instead of the one in Lumi.yaml")
	flags.BoolVarP(&r.verbose, "verbose", "v", false, "also show debug messages")
	completes(c, "node", completeNodes)
	completes(c, "task", completeTasks)
	completes(c, "skip", completeTasks)
	completes(c, "resume", completeRuns)
	_ = c.MarkFlagFilename("inventory", "yaml", "yml", "json")
	c.PreRunE = func(c *cobra.Command, args []string) error { return r.misuse(c, args) }
	return c
}

// misuse returns an error if the flags are invalid or contradict each other.
func (r *tasksRun) misuse(c *cobra.Command, args []string) error {
	engine := &r.service.engine
	engine.StopOnError, r.request.Type = r.onError == "stop", r.graphType
	for _, names := range []*[]string{&r.request.Tasks, &r.request.Tags, &r.request.Skip} {
		*names = joinRegexes(*names)
	}
	for _, one := range []struct{ given, flags, why string }{
		{r.server, "parallel per-role on-error inventory", "cannot be combined with --server, which has its own settings"},
		{r.resume, "type node task tag skip only event all dry-run inventory", "cannot be combined with --resume: the run keeps its graph and nodes"},
	} {
		for name := range strings.FieldsSeq(one.flags) {
			if one.given != "" && c.Flags().Changed(name) {
				return console.Misused("--%s %s", name, one.why)
			}
		}
	}
	for role, n := range engine.PerRole {
		if n < 1 || role == "" {
			return console.Misused("--per-role=%s=%d: must be ROLE=N, where N is at least 1", role, n)
		}
	}
	switch {
	case r.request.Only && len(r.request.Tasks)+len(r.request.Tags) == 0:
		return console.Misused("--only requires --task or --tag")
	case r.answer != "" && r.resume == "":
		return console.Misused("--answer requires --resume")
	case len(args) > 0 && r.resume != latest:
		return console.Misused("unexpected argument %q; use --resume to continue a run", args[0])
	case len(args) > 0:
		r.resume = args[0]
	case engine.Parallelism < 1:
		return console.Misused("--parallel=%d: must be at least 1", engine.Parallelism)
	}
	return nil
}

// joinRegexes restores regular expressions that contain commas, at which flags are split.
func joinRegexes(parts []string) (names []string) {
	isOpen := false
	for _, part := range parts {
		if isOpen {
			names[len(names)-1] += "," + part
		} else {
			names = append(names, part)
		}
		last := names[len(names)-1]
		isOpen = last == "/" || strings.HasPrefix(last, "/") && !strings.HasSuffix(last, "/")
	}
	return names
}

func (r *tasksRun) run(t *tasker, ctx context.Context, _ []string) error {
	if r.resume != "" {
		return r.continueRun(ctx, t)
	}
	if err := t.enter(ctx, workspace.Fail); err != nil {
		return err
	}
	if err := r.checkRoles(ctx, t); err != nil {
		return err
	}
	if r.dry {
		plan, err := t.api.Plan(ctx, t.Environment.Name, r.request)
		if err != nil {
			return err
		}
		return t.showPlan(plan)
	}
	if err := t.unlock(ctx, t.Environment.Name); err != nil {
		return err
	}
	return t.follow(ctx, r.verbose, 0, func() (service.Run, error) { return t.api.Start(ctx, t.Environment.Name, r.request) })
}

// checkRoles returns an error if a limit applies to a role that no node has.
func (r *tasksRun) checkRoles(ctx context.Context, t *tasker) error {
	limits := r.service.engine.PerRole
	if len(limits) == 0 {
		return nil
	}
	nodes, _, err := t.local.Inventory(ctx, t.Environment.Name)
	if err != nil {
		return err
	}
	var roles []string
	for _, n := range nodes.Nodes {
		roles = append(roles, n.Roles...)
	}
	for _, role := range slices.Sorted(maps.Keys(limits)) {
		if !slices.Contains(roles, role) {
			return console.Misused("--per-role=%s=%d: no node has this role%s", role, limits[role], suggest.DidYouMean(role, roles))
		}
	}
	return nil
}

func (r *tasksRun) continueRun(ctx context.Context, t *tasker) error {
	chosen, err := t.chosen(ctx, strings.TrimPrefix(r.resume, latest))
	if err != nil {
		return err
	}
	answer, err := r.parseAnswer(chosen)
	switch {
	case err != nil:
		return err
	case answer == nil && chosen.State == store.Ask && len(asked(chosen)) > 0:
		return t.conclude(chosen)
	}
	if err := t.unlock(ctx, chosen.Environment); err != nil {
		return err
	}
	seen, err := t.events(ctx, chosen.ID, func(store.Event) {})
	if err != nil {
		return err
	}
	return t.follow(ctx, r.verbose, seen, func() (service.Run, error) { return t.api.Resume(ctx, chosen.ID, answer) })
}

// unlock opens the secrets of the nodes before the run starts, since it may ask for a passphrase.
func (t *tasker) unlock(ctx context.Context, environment string) error {
	x, ok := t.Hosts.(*tasktype.Executor)
	if !ok {
		return nil // the server opens them
	}
	nodes, _, err := t.local.Inventory(ctx, environment)
	if err != nil {
		return nil // reported when the run starts; a resumed run does not need the inventory
	}
	for _, n := range nodes.Nodes {
		if n.Secret != "" {
			if _, err := x.Secret(ctx, environment, n.Secret); err != nil {
				return err
			}
		}
	}
	return nil
}

// chosen returns the run identified by a number or a name such as upgrade[12]. If given is empty, it returns the
// environment's last run.
func (t *tasker) chosen(ctx context.Context, given string) (found service.Run, err error) {
	id := runs.Number(given)
	if given == "" {
		if err := t.enter(ctx, workspace.Fail); err != nil {
			return found, err
		}
		last, err := t.api.Runs(ctx, t.Environment.Name, 0, 1)
		if err != nil {
			return found, err
		}
		if len(last) == 0 {
			return found, refused("no runs in %s", t.Environment.Name)
		}
		id = last[0].ID
	} else if id == 0 {
		return found, console.Misused("%q: must be the number of a run, such as 7 or upgrade[7]", given)
	}
	found, err = t.api.Run(ctx, id)
	if err == nil && strings.Contains(given, "[") && given != nameOf(found) {
		err = refused("run %s not found; run %d is %s", given, id, nameOf(found))
	}
	return found, err
}

func nameOf(r service.Run) string { return fmt.Sprintf("%s[%d]", r.Type, r.ID) }

// itemOf returns the display name of a task run, as in "web-1/install".
func itemOf(t service.TaskRun) string { return strings.TrimPrefix(t.Node+"/"+t.Task, "/") }

// asked returns the task runs that are waiting for an answer.
func asked(r service.Run) []service.TaskRun {
	return slices.DeleteFunc(slices.Clone(r.Tasks), func(t service.TaskRun) bool { return t.State != store.Unknown })
}

func (r *tasksRun) parseAnswer(about service.Run) (*service.Answer, error) {
	item, what, _ := strings.Cut(r.answer, "=")
	if r.answer == "" {
		return nil, nil
	}
	if what != "done" && what != "again" {
		return nil, console.Misused("--answer=%s: must be NODE/TASK=done if the task took effect, or NODE/TASK=again", r.answer)
	}
	but := ""
	for _, t := range asked(about) {
		if itemOf(t) == item {
			return &service.Answer{Number: t.Number, Done: what == "done"}, nil
		}
		but += "; it is waiting for one about " + itemOf(t)
	}
	return nil, refused("%s is not waiting for an answer about %s%s", nameOf(about), item, but)
}

// follow starts a run with begin and shows its events, beginning with serial number after+1, until it ends.
func (t *tasker) follow(ctx context.Context, verbose bool, after int64, begin func() (service.Run, error)) error {
	console.NormalGC() // tasks may print any amount of output
	reporter := runs.NewReporter(t.Session, runs.Flags{Verbose: verbose})
	t.Reporter.Store(&reporter)
	hangup := make(chan os.Signal, 1) // runs continue when the terminal is closed
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	r, err := begin()
	if err == nil {
		t.OnInterrupts(t.stops(ctx, r)...)
		if t.local == nil {
			r, err = t.api.Follow(ctx, r.ID, after, each(reporter.Event))
		} else if _, err = t.local.Engine(r.Environment).Run(ctx, r.ID); err == nil {
			r, err = t.api.Run(ctx, r.ID)
		}
	}
	t.Reporter.Store(nil)
	reporter.Close()
	if err != nil {
		return err
	}
	return t.conclude(r)
}

// conclude prints the outcome of a run and what to do next. It returns the error that determines the exit code.
func (t *tasker) conclude(r service.Run) error {
	what, advice, code := t.next(r)
	if code != nil {
		t.Say("%s %s", nameOf(r), strings.TrimSuffix(what+". "+advice, ". "))
		return code
	}
	return t.Finish("%s is done: %s.", nameOf(r), counts(r.Tasks))
}

func (t *tasker) stops(ctx context.Context, r service.Run) []func() {
	warn := func(message string) {
		t.Report(store.Event{Time: time.Now().UTC(), Level: "warn", Message: message})
	}
	if t.local == nil {
		return []func(){func() {
			warn("interrupted: the server starts no more tasks; interrupt again to exit")
			if _, err := t.api.Stop(ctx, r.ID); err != nil {
				warn(err.Error())
			}
		}}
	}
	engine := t.local.Engine(r.Environment)
	return []func(){func() {
		warn("interrupted: waiting for running tasks; interrupt again to cancel them")
		engine.Stop()
	}, func() {
		warn("canceling tasks; interrupt again to exit immediately")
		engine.Stop()
	}}
}

// events shows the stored events of a run, and returns the last serial number.
func (t *tasker) events(ctx context.Context, id int64, show func(store.Event)) (last int64, err error) {
	for {
		events, err := t.api.Events(ctx, id, last)
		if err != nil || len(events) == 0 {
			return last, err
		}
		_ = each(show)(events)
		last = events[len(events)-1].Serial
	}
}

// each returns a function that shows several events.
func each(show func(store.Event)) func([]store.Event) error {
	return func(events []store.Event) error {
		for _, e := range events {
			show(e)
		}
		return nil
	}
}

// taskState returns the words shown for the state of a task run.
func taskState(t service.TaskRun) string {
	word := strings.ToLower(string(t.State))
	if t.Tolerated {
		word += " (tolerated)"
	}
	return word
}

// counts formats the number of task runs in each state.
func counts(all []service.TaskRun) string {
	number := map[string]int{}
	for _, t := range all {
		number[taskState(t)]++
	}
	var parts []string
	for _, state := range []string{"done", "failed", "failed (tolerated)", "unknown", "started", "skipped"} {
		if n := number[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "no tasks")
}

// next describes the outcome of a run, and returns advice and the error that determines the exit code.
func (t *tasker) next(r service.Run) (what, advice string, code error) {
	server := ""
	if t.local == nil {
		server = " --server=" + t.flags.server
	}
	resume := fmt.Sprintf("ontinue with 'lumi tasks run --resume=%d%s", r.ID, server)
	switch all := asked(r); {
	case r.State == store.Done:
		return "done", "", nil
	case r.State == store.Failed:
		return "failed: " + counts(r.Tasks), "Fix the cause, then c" + resume + "'", console.ErrWrong
	case r.State == store.Ask && len(all) > 0:
		return "is waiting for an answer", fmt.Sprintf("Did %s take effect? C%s --answer=%[1]s=done' if it did, or with --answer=%[1]s=again", itemOf(all[0]), resume), console.ErrAsks
	case r.Running:
		return "is running", fmt.Sprintf("'lumi tasks logs %d --follow%s' shows its events", r.ID, server), console.ErrResumable
	case r.State == store.Canceled:
		return "was stopped", "C" + resume + "'", console.ErrResumable
	}
	return "was interrupted", "C" + resume + "'", console.ErrResumable
}

// showPlan prints the plan of a run. A line combines all nodes on which a task has the same dependencies and the same
// reason to be skipped.
func (t *tasker) showPlan(p service.Plan) error {
	if t.JSON {
		return t.PrintJSON(p)
	}
	type row struct{ task, taskType, skip, condition, waits string }
	var rows []row
	heads := []string{"TASK", "TYPE", "ON", "SKIPPED", "WAITS FOR"}
	on, nodes, skipped := map[row][]string{}, map[string]bool{}, 0
	for _, item := range p.Items {
		r := row{item.Task, item.Type, item.Skip, conditionOf(item), waitsOf(item)}
		if r.condition != "" && len(heads) == 5 {
			heads = slices.Insert(heads, 4, "CONDITION")
		}
		if on[r] == nil {
			rows = append(rows, r)
			on[r] = []string{}
		}
		if item.Skip != "" {
			skipped++
		}
		if item.Node != "" {
			on[r], nodes[item.Node] = append(on[r], item.Node), true
		}
	}
	t.Printf("Type %s in %s: %s to run on %s, %d skipped\n\n", p.Type, t.Environment.Name, console.Count(len(p.Items)-skipped, "task"), console.Count(len(nodes), "node"), skipped)
	err := console.PrintList(t.Console, rows, "", heads, func(r row) []string {
		columns := []string{r.task, r.taskType, cmp.Or(several(on[r], 5), "once"), r.skip, r.condition, r.waits}
		if len(heads) == 5 {
			columns = slices.Delete(columns, 4, 5)
		}
		return columns
	})
	if len(p.Windows) == 0 || err != nil {
		return err
	}
	t.Printf("\n")
	return console.PrintList(t.Console, p.Windows, "", []string{"GROUP", "AT ONCE", "MAY FAIL", "NODES"}, func(w service.PlanWindow) []string {
		atOnce := "all"
		if w.Amount > 0 {
			atOnce = strconv.Itoa(w.Amount)
		}
		return []string{w.Group, atOnce, strconv.Itoa(w.MayFail), several(w.Nodes, 5)}
	})
}

// conditionOf formats the value of a condition, and its text if it is the reason to skip the task.
func conditionOf(item service.PlanItem) string {
	switch {
	case item.Holds == nil:
		return ""
	case *item.Holds:
		return "true"
	}
	return "false: " + strings.Join(strings.Fields(item.Condition), " ")
}

// waitsOf formats the dependencies of a task run, as in "install, migrate on db-1, db-2".
func waitsOf(item service.PlanItem) string {
	var tasks []string
	nodes := map[string][]string{}
	for i, group := range append([][]string{item.Waits}, item.Any...) {
		for _, name := range group {
			node, task, found := strings.Cut(name, "/")
			if !found {
				node, task = item.Node, name
			}
			if i > 0 {
				task = "any " + task
			}
			if nodes[task] == nil {
				tasks = append(tasks, task)
			}
			nodes[task] = append(nodes[task], node)
		}
	}
	for i, task := range tasks {
		if on := nodes[task]; len(on) > 1 || on[0] != item.Node {
			tasks[i] += " on " + several(on, 5)
		}
	}
	return strings.Join(tasks, ", ")
}
