package deployments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/run/execute"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/runs"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/query"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// controlCommand is an invocation of 'lumi retry', 'lumi abort', 'lumi rollback', or 'lumi resolve'.
type controlCommand struct {
	deployCommand
	engine *environment.Environment
	// id and absent are the answer passed to 'lumi resolve'.
	id     string
	absent bool
	// callAgain is the flag of 'lumi retry'.
	callAgain bool
}

// command configures c to call do with an engine for the environment.
func (x *controlCommand) command(con *console.Console, c *cobra.Command, do func(context.Context, []string) error) *cobra.Command {
	c.Annotations, c.ValidArgsFunction = DeployExits, workspace.CompleteDeployments
	if c.Name() == "resolve" {
		c.ValidArgsFunction = workspace.CompleteResources
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		return x.in(c.Context(), con, workspace.Fail, func(ctx context.Context) error {
			key, err := x.Key(ctx)
			if err != nil {
				return err
			}
			engine, end := runs.NewEngine(x.Session, key, x.runs.Options())
			defer end()
			x.engine = engine
			return do(ctx, args)
		})
	}
	x.flags.Add(c)
	x.runs.Add(c)
	return c
}

const deploymentHelp = `DEPLOYMENT is a module, or a number, such as 7 or shop[7]. `

func newRetryCommand(con *console.Console) *cobra.Command {
	x := &controlCommand{}
	c := x.command(con, &cobra.Command{
		Use:   "retry [DEPLOYMENT]",
		Short: "continue a failed, paused, or interrupted deployment",
		Long: deploymentHelp + `The default is the only one that can
continue. Finished steps are kept; the rest is planned again and must stay within the approved plan.
Look-ups and calls of functions keep their results, unless --call-again is given.
If there is none, failed deletions are retried.`,
		Example: console.Examples(
			"Continue after fixing the cause of a failure.", "lumi retry",
			"Continue deployment 3, with fewer calls at once.", "lumi retry 3 --parallel=4",
		),
	}, x.retry)
	c.Flags().BoolVar(&x.callAgain, "call-again", false, "make look-ups and calls again instead of using their results")
	return c
}

func newAbortCommand(con *console.Console) *cobra.Command {
	x := &controlCommand{}
	c := x.command(con, &cobra.Command{
		Use:   "abort [DEPLOYMENT]",
		Short: "give up a deployment and delete what it created",
		Long: deploymentHelp + `The default is the only one in the queue.
If another process runs it, that process is asked to stop first. A cleanup then deletes what the
deployment created; updates and deletions are not undone. Without a terminal, --yes is required.`,
		Example: console.Examples("Give up the only deployment in the queue.", "lumi abort --yes", "Give up deployment 3.", "lumi abort 3 --yes"),
	}, x.abort)
	c.Flags().BoolVarP(&x.consent.yes, "yes", "y", false, "skip the confirmation")
	return c
}

func newRollbackCommand(con *console.Console) *cobra.Command {
	x := &controlCommand{}
	c := x.command(con, &cobra.Command{
		Use:   "rollback [DEPLOYMENT]",
		Short: "redeploy the desired state of an earlier deployment",
		Long: deploymentHelp + `For a module, it is the deployment before
the newest successful one; the default is the only module of the environment.

A rollback is a new deployment: it shows its plan and asks for confirmation. It lists resources that
it must create again, without their data.`,
		Example: console.Examples(
			"Return to the deployment before the newest.", "lumi rollback --yes",
			"Return to what deployment 1 deployed.", "lumi rollback 1 --yes",
		),
	}, x.rollback)
	x.consent.add(c)
	return c
}

func newResolveCommand(con *console.Console) *cobra.Command {
	x := &controlCommand{}
	c := x.command(con, &cobra.Command{
		Use:   "resolve URN",
		Short: "tell a paused deployment whether a resource was created",
		Long: `A deployment pauses if a create call was interrupted and the provider cannot find the resource. Look
for the resource, and pass --id or --absent. The deployment then continues.

URN is a URN, the end of one, or a name that is unique among these resources.`,
		Example: console.Examples(
			"The resource exists.", "lumi resolve index --id=42",
			"It does not, and must be created.", "lumi resolve index --absent",
		),
	}, x.resolve)
	c.Flags().StringVar(&x.id, "id", "", "the resource exists, and its provider calls it `ID`")
	c.Flags().BoolVar(&x.absent, "absent", false, "the resource does not exist")
	return c
}

// choose returns the queued deployment selected by the argument. If there is no argument, or if several deployments
// match it, choose returns the only one accepted by fits.
func (x *controlCommand) choose(ctx context.Context, args []string, done string, fits func(environment.Status) bool) (environment.Status, error) {
	queued, err := x.engine.Status(ctx)
	if err != nil {
		return environment.Status{}, err
	}
	if len(args) > 0 {
		queued = slices.DeleteFunc(queued, func(d environment.Status) bool {
			return args[0] != d.Name && args[0] != d.Module && args[0] != strconv.FormatInt(d.Number, 10)
		})
		switch {
		case len(queued) == 0:
			return environment.Status{}, &job.RefusedError{Message: fmt.Sprintf("no queued deployment %s in %s: 'lumi status%s' shows the queue", args[0], x.Environment.Name, x.Flag())}
		case len(queued) == 1:
			return queued[0], nil // if fits would reject it, the engine returns the reason
		}
	}
	queued = slices.DeleteFunc(queued, func(d environment.Status) bool { return !fits(d) })
	// Ignore cleanups, which run after other deployments anyway.
	isCleanup := func(d environment.Status) bool { return d.Kind == "cleanup" }
	if others := slices.DeleteFunc(slices.Clone(queued), isCleanup); len(others) > 0 {
		queued = others
	}
	switch len(queued) {
	case 0:
		return environment.Status{}, &job.RefusedError{Message: fmt.Sprintf("no deployment in %s can be %s", x.Environment.Name, done)}
	case 1:
		return queued[0], nil
	}
	var names []string
	for _, d := range queued {
		names = append(names, d.Name)
	}
	return environment.Status{}, console.Misused("several deployments can be %s; name one: %s", done, strings.Join(names, ", "))
}

// retry continues a failed or paused deployment. An interrupted deployment is simply resumed.
func (x *controlCommand) retry(ctx context.Context, args []string) error {
	d, err := x.choose(ctx, args, "retried", func(d environment.Status) bool {
		return d.State == store.Failed || d.State == store.Ask || runs.IsLeft(d) && len(d.Waits) == 0
	})
	if _, ok := errors.AsType[*job.RefusedError](err); ok {
		return x.cleanUp(ctx, args, err)
	} else if err != nil {
		return err
	}
	return runs.Follow(ctx, x.Session, x.engine, x.runs, func() ([]int64, error) {
		if x.callAgain {
			if err := x.engine.CallAgain(ctx, d.ID); err != nil {
				return nil, err
			}
		}
		if runs.IsLeft(d) {
			return []int64{d.ID}, nil
		}
		return []int64{d.ID}, x.engine.Retry(ctx, d.ID)
	})
}

// cleanUp retries failed deletions. If there are none, it returns the error none.
func (x *controlCommand) cleanUp(ctx context.Context, args []string, none error) error {
	g, err := x.engine.Graph(ctx)
	if err != nil {
		return err
	}
	modules := slices.DeleteFunc(g.Modules(), func(module string) bool {
		return len(g.Pending(module)) == 0 || len(args) > 0 && args[0] != module
	})
	if len(modules) == 0 {
		return none
	}
	return runs.Follow(ctx, x.Session, x.engine, x.runs, func() (ids []int64, err error) {
		for _, module := range modules {
			id, err := x.engine.CleanUp(ctx, module)
			if err != nil {
				return nil, err
			}
			ids = append(ids, id)
		}
		return ids, nil
	})
}

// abort aborts a deployment and waits for it to end.
func (x *controlCommand) abort(ctx context.Context, args []string) error {
	d, err := x.choose(ctx, args, "aborted", func(d environment.Status) bool { return d.Kind != "cleanup" })
	if err != nil {
		return err
	}
	deletes, err := x.leftovers(ctx, d)
	if err != nil {
		return err
	}
	if x.JSON {
		err = x.PrintJSON(map[string]any{"abort": d.Name, "deletes": deletes})
	} else if printURNs(x.Session, deletes, "deletes: "); len(deletes) == 0 {
		x.Printf("deletes: nothing\n")
	}
	if err != nil {
		return err
	}
	if err := cmp.Or(x.Agreed(x.consent.yes, "Abort "+d.Name), x.Stdout.Flush()); err != nil {
		return err
	}
	if (d.State == store.Running || d.State == store.Aborting) && !runs.IsLeft(d) {
		x.Say("%s is run by process %s: waiting for it to stop", d.Name, process(d.Owner))
	}
	err = runs.Follow(ctx, x.Session, x.engine, x.runs, func() ([]int64, error) { return []int64{d.ID}, x.engine.Abort(ctx, d.ID) })
	if err != nil {
		return err
	}
	if ended, err := x.engine.Deployment(ctx, d.Number); err == nil && ended.State == store.Done {
		x.Say("%s finished before it could be aborted", d.Name)
	}
	return nil
}

// leftovers returns the resources that the cleanup after an abort would delete: leftovers of failed deployments
// of the module, and those created by d.
func (x *controlCommand) leftovers(ctx context.Context, d environment.Status) ([]urn.URN, error) {
	all := []urn.URN{}
	g, err := x.engine.Graph(ctx)
	if err != nil {
		return nil, err
	}
	if newest := g.Newest(d.Module); newest != nil && int64(newest.Deployment) == d.Number {
		return all, nil // only deletions remain, which can only be skipped
	}
	for _, s := range plan.MakeCleanup(g.Abandon(d.Module), d.Module, func(tokens.Type) string { return execute.Providers }).Steps {
		if s.Kind == plan.Delete {
			all = append(all, s.URN)
		}
	}
	if d.State != store.Running && d.State != store.Aborting {
		return all, nil
	}
	events, err := x.engine.Log(ctx, d.ID) // the state does not contain the results of d yet
	for _, e := range events {
		created := e.State == store.Done && (e.Kind == plan.Create.String() || e.Kind == plan.Replace.String())
		if u := urn.URN(e.URN); created && !slices.Contains(all, u) {
			all = append(all, u)
		}
	}
	return all, err
}

// printURNs prints the short names of resources, one per line.
func printURNs(s *workspace.Session, all []urn.URN, prefix string) {
	for _, u := range all {
		s.Printf("%s%s\n", prefix, term.Visible(graph.ShortName(u)))
	}
}

// rollback deploys the desired state of an earlier deployment again.
func (x *controlCommand) rollback(ctx context.Context, args []string) error {
	if err := x.consent.misuse(x.Console); err != nil {
		return err
	}
	to, err := x.target(ctx, args)
	if err != nil {
		return err
	}
	request, err := x.engine.Rollback(ctx, to.ID)
	if err != nil {
		return err
	}
	x.Doing("planning")
	all, err := x.engine.Plan(ctx, request)
	if err != nil {
		return err
	}
	if !x.JSON {
		x.Printf("Rollback to %s of %s\n\n", job.Name(to), runs.Stamp(to.Created))
	}
	if err := x.show(ctx, x.engine, all); err != nil {
		return err
	}
	empty := []urn.URN{}
	for _, step := range all[0].Steps {
		if step.Kind == plan.Create {
			empty = append(empty, step.URN)
		}
	}
	if x.JSON {
		err = x.PrintJSON(map[string]any{"to": job.Name(to), "empty": empty})
	} else {
		printURNs(x.Session, empty, "created again without data: ")
	}
	if err != nil {
		return err
	}
	return x.carryOut(ctx, x.engine, all, "Roll back")
}

// target returns the deployment to roll back to. It is the deployment given by its number, or else the last successful
// deployment of the module before the newest one.
func (x *controlCommand) target(ctx context.Context, args []string) (store.Job, error) {
	if len(args) > 0 && runs.Number(args[0]) > 0 {
		d, _, err := findDeployment(ctx, x.Session, x.engine, args[0])
		return d, err
	}
	g, err := x.engine.Graph(ctx)
	if err != nil {
		return store.Job{}, err
	}
	modules := slices.Concat(args, g.Modules())
	if len(args) == 0 && len(modules) != 1 {
		return store.Job{}, console.Misused("a module or deployment is required: %s has %s", x.Environment.Name, console.Count(len(modules), "module"))
	}
	newest, err := last(ctx, x.Session, x.engine, modules[0], 0, func(d store.Job) bool { return d.Kind != "cleanup" })
	var to store.Job
	if err == nil && newest.ID != 0 {
		to, err = formerDone(ctx, x.Session, x.engine, newest)
	}
	if err == nil && to.ID == 0 {
		err = &job.RefusedError{Message: fmt.Sprintf("%s has no deployment of %s to roll back to: 'lumi history%s' lists deployments", x.Environment.Name, modules[0], x.Flag())}
	}
	return to, err
}

// resolve tells a paused deployment whether a resource was created.
func (x *controlCommand) resolve(ctx context.Context, args []string) error {
	if (x.id == "") == !x.absent {
		return console.Misused("use either --id=ID or --absent")
	}
	queued, err := x.engine.Status(ctx)
	if err != nil {
		return err
	}
	asked, by, names := &lumigl.Graph{}, map[string]int64{}, []string(nil)
	for _, d := range queued {
		for _, u := range d.Asks {
			if _, err := asked.Add(string(u)); err == nil { // if two deployments ask about a resource, the answer goes to the first
				by[string(u)], names = d.ID, append(names, u.Name())
			}
		}
	}
	if len(by) == 0 {
		return &job.RefusedError{Message: fmt.Sprintf("no deployment in %s is waiting for an answer about a resource", x.Environment.Name)}
	}
	v, err := query.New(asked).Find(args[0])
	if unknown, ok := errors.AsType[*query.FindError](err); ok && len(unknown.Candidates) == 0 {
		return fmt.Errorf("no deployment in %s is waiting for an answer about %q, only about %s", x.Environment.Name, args[0], strings.Join(names, ", "))
	} else if err != nil {
		return err
	}
	id := by[v.Key()]
	return runs.Follow(ctx, x.Session, x.engine, x.runs, func() ([]int64, error) {
		return []int64{id}, x.engine.Resolve(ctx, id, urn.URN(v.Key()), x.id)
	})
}
