package deployments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/plan/show"
	"github.com/lumi-idl/lumi/deploy/policy"
	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/runs"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
)

// deployCommand is an invocation of 'lumi plan', 'lumi deploy', or 'lumi destroy'.
type deployCommand struct {
	*workspace.Session
	flags    workspace.Flags
	runs     runs.Flags
	request  requestFlags
	consent  consent
	check    bool // exit with code 1 if there are changes
	simulate bool
	details  bool // ask provisioners for their plans
	detach   bool // leave the deployment to a worker
}

const moduleHelp = `MODULE is a module of Lumi.yaml, or a file: a graph written by lumi-program, or an object model.
Without modules, all modules of Lumi.yaml are used. Arguments after -- are passed to the program.

`

func newPlanCommand(con *console.Console) *cobra.Command {
	d := deployCommand{}
	c := &cobra.Command{
		Use:   "plan [MODULE...]",
		Short: "show what a deployment would do",
		Long: moduleHelp + `Modules are planned together, with the outputs that the modules they use will have. Nothing is
changed or stored.

With --json, it prints one plan per line. docs/plan.md explains the output.`,
		Annotations: map[string]string{
			"0": "the plan is shown", "1": "a module cannot be deployed, its program has errors, or, with --check, something would change",
			"2": console.ElseFailed, "3": "a key is needed",
		},
		Example: console.Examples(
			"What would change?", "lumi plan",
			"Plan one module for another environment.", "lumi plan site --environment=prod",
			"Does the environment differ from the programs?", "lumi plan --check",
			"Replace a resource although nothing differs.", "lumi plan --replace=password",
			"What would undo changes made outside Lumi?", "lumi plan --refresh",
		),
		ValidArgsFunction: workspace.CompleteModules,
		RunE: func(c *cobra.Command, args []string) error {
			return d.in(c.Context(), con, workspace.Pretend, func(ctx context.Context) error { return d.plan(ctx, args, c.ArgsLenAtDash()) })
		},
	}
	d.flags.Add(c)
	d.request.add(c)
	c.Flags().BoolVar(&d.check, "check", false, "exit with 1 if something would change")
	d.addDetails(c)
	return c
}

func newDeployCommand(con *console.Console) *cobra.Command {
	d := deployCommand{}
	c := &cobra.Command{
		Use:   "deploy [MODULE...]",
		Short: "deploy programs to an environment",
		Long: moduleHelp + `It shows the plan and asks for confirmation; without a terminal, --yes or --expect is required. The
first deployment to an environment of Lumi.yaml creates it. Press Ctrl-C once to stop starting
steps, twice to cancel running calls, three times to exit immediately; 'lumi retry' or another 'lumi
deploy' continues.

Transient errors are retried until the option "timeouts" of the resource, by default an hour,
expires. A plugin has 30 seconds to start, and a minute to be configured. With --json, it prints the
plans and all events, one per line. docs/deploy.md is a guide.`,
		Annotations: DeployExits,
		Example: console.Examples(
			"Show the plan, and deploy it without asking.", "lumi deploy --yes",
			"Deploy the plan that was reviewed, and no other.", "lumi deploy --expect=$(lumi plan --json | jq -r .digest)",
			"Try it without any effect.", "lumi deploy --simulate",
		),
		ValidArgsFunction: workspace.CompleteModules,
		RunE: func(c *cobra.Command, args []string) error {
			missing := workspace.Create
			if d.simulate && d.detach {
				return console.Misused("--detach cannot be combined with --simulate")
			}
			if d.simulate {
				missing, d.consent.yes = workspace.Pretend, true
			}
			if err := cmp.Or(d.runs.Misuse(), d.consent.misuse(con)); err != nil {
				return err
			}
			return d.in(c.Context(), con, missing, func(ctx context.Context) error { return d.deploy(ctx, args, c.ArgsLenAtDash()) })
		},
	}
	d.flags.Add(c)
	d.request.add(c)
	d.consent.add(c)
	d.runs.Add(c)
	d.addDetails(c)
	d.addDetach(c)
	c.Flags().BoolVar(&d.simulate, "simulate", false, "run the deployment in memory: providers only check, and provisioners are not called")
	return c
}

func newDestroyCommand(con *console.Console) *cobra.Command {
	d := deployCommand{}
	c := &cobra.Command{
		Use:   "destroy [MODULE...]",
		Short: "delete the resources of modules",
		Long: `Show the plan and ask for confirmation; without a terminal, --yes or --expect is required.
Without modules, it destroys all modules of the environment. Modules that others use can be
destroyed only together with these. Protected resources cannot be destroyed.`,
		Annotations:       DeployExits,
		Example:           console.Examples("Delete everything in the environment dev.", "lumi destroy --environment=dev --yes"),
		ValidArgsFunction: workspace.CompleteModules,
		RunE: func(c *cobra.Command, args []string) error {
			if err := cmp.Or(d.runs.Misuse(), d.consent.misuse(con)); err != nil {
				return err
			}
			return d.in(c.Context(), con, workspace.Fail, func(ctx context.Context) error { return d.destroy(ctx, args) })
		},
	}
	d.flags.Add(c)
	d.consent.add(c)
	d.runs.Add(c)
	d.addDetails(c)
	d.addDetach(c)
	return c
}

func (d *deployCommand) addDetach(c *cobra.Command) {
	c.Flags().BoolVar(&d.detach, "detach", false, "only queue the deployment, which a worker ('lumi worker') then runs")
}

func (d *deployCommand) addDetails(c *cobra.Command) {
	c.Flags().BoolVar(&d.details, "details", false, "also show the plans of provisioners")
}

// DeployExits lists the exit codes of commands that run deployments.
var DeployExits = map[string]string{
	"0": "done", "1": "failed or refused, or the program has errors", "2": console.ElseFailed,
	"3": "input needed: an answer, an approval, or a key", "4": "interrupted or waiting; it can be resumed",
}

// in calls f with the environment selected by the flags.
func (d *deployCommand) in(ctx context.Context, con *console.Console, missing workspace.IfMissing, f func(context.Context) error) error {
	return workspace.WithEnvironment(ctx, con, d.flags.Environment, missing, func(s *workspace.Session) error {
		d.Session, s.Simulates = s, d.simulate
		var err error
		if s.Policy, err = workspace.ReadPolicy(s.Workspace); err != nil {
			return err
		}
		return f(ctx)
	})
}

func (d *deployCommand) plan(ctx context.Context, args []string, dash int) error {
	key, err := d.planningKey(ctx)
	if err != nil {
		return err
	}
	engine, end := runs.NewEngine(d.Session, key, run.Options{})
	defer end()
	all, err := d.plans(ctx, engine, args, dash)
	if err != nil {
		return err
	}
	if err := d.show(ctx, engine, all); err != nil {
		return err
	}
	if d.check && slices.ContainsFunc(all, run.Planned.HasChanges) {
		return console.ErrWrong
	}
	return nil
}

// planningKey returns the key for a plan. Only providers that read resources need the secrets in the state.
func (d *deployCommand) planningKey(ctx context.Context) (*secret.Key, error) {
	if d.request.refresh {
		return d.Key(ctx)
	}
	return d.KeyIfAny(ctx, "planning")
}

// plans evaluates programs and returns their plans in deployment order.
func (d *deployCommand) plans(ctx context.Context, engine *environment.Environment, args []string, dash int) ([]run.Planned, error) {
	requests, err := allRequests(ctx, d.Session, engine, d.request, args, dash)
	if err != nil {
		return nil, err
	}
	if requests, err = engine.Sort(ctx, requests); err != nil {
		return nil, err
	}
	d.Doing("planning")
	return engine.Plan(ctx, requests...)
}

// maxPlan is the maximum size of a plan printed on a terminal, in bytes. It exceeds the usual scrollback.
const maxPlan = 1 << 20

// show prints plans. It returns an error that lists the provisioners that failed to return a plan, or the mandatory rules
// that the plans violate.
func (d *deployCommand) show(ctx context.Context, engine *environment.Environment, all []run.Planned) error {
	details, failed := d.detailsOf(ctx, engine, all)
	if errors.Is(failed, errInterrupted) {
		return failed
	}
	for i, one := range all {
		o := show.Options{Color: d.Out.Color, Waits: one.Waits, Idle: one.Idle, Details: details[i], Findings: one.Findings}
		if d.JSON {
			if err := show.WriteJSON(d.Stdout, one.Plan, o); err != nil {
				return err
			}
			continue
		}
		if i > 0 {
			d.Printf("\n")
		}
		if d.Out.Terminal {
			o.Limit = maxPlan
		}
		if err := show.WriteText(d.Stdout, one.Plan, o); err != nil {
			return err
		}
	}
	var findings []policy.Finding
	for _, one := range all {
		findings = append(findings, one.Findings...)
	}
	return cmp.Or(d.Stdout.Flush(), failed, policy.Refusal(findings))
}

// detailsOf returns the plans of provisioners if --details is set. An interrupt stops the provisioners.
func (d *deployCommand) detailsOf(ctx context.Context, engine *environment.Environment, all []run.Planned) ([][]plan.TaskDetails, error) {
	details := make([][]plan.TaskDetails, len(all))
	if !d.details {
		return details, nil
	}
	ctx, release := d.Interruptible(ctx)
	defer release()
	var wrong plan.Error
	for i, one := range all {
		d.Doing("asking provisioners about %s", one.Module)
		var err error
		details[i], err = engine.Details(ctx, one)
		if failed, ok := errors.AsType[*plan.Error](err); ok {
			wrong.Faults = append(wrong.Faults, failed.Faults...)
		} else if err != nil {
			return nil, errInterrupted
		}
	}
	if len(wrong.Faults) > 0 {
		return details, &wrong
	}
	return details, nil
}

func (d *deployCommand) deploy(ctx context.Context, args []string, dash int) error {
	key, err := d.Key(ctx)
	if err != nil {
		return err
	}
	if d.simulate {
		if err := d.Detach(ctx); err != nil {
			return err
		}
	}
	o := d.runs.Options()
	engine, end := runs.NewEngine(d.Session, key, o)
	defer end()
	all, err := d.plans(ctx, engine, args, dash)
	if err != nil {
		return err
	}
	if err := d.show(ctx, engine, all); err != nil {
		return err
	}
	return d.carryOut(ctx, engine, all, "Deploy")
}

// carryOut asks for confirmation and runs the plans that contain changes.
func (d *deployCommand) carryOut(ctx context.Context, engine *environment.Environment, all []run.Planned, verb string) error {
	if all = slices.DeleteFunc(all, func(p run.Planned) bool { return p.Idle }); len(all) == 0 {
		return nil
	}
	if err := agree(d.Session, d.consent, all, verb); err != nil {
		return err
	}
	if err := d.provideKey(ctx, engine, all); err != nil {
		return err
	}
	return d.queue(ctx, engine, all)
}

// provideKey creates a key if a plan contains secrets and the environment has no key yet.
func (d *deployCommand) provideKey(ctx context.Context, engine *environment.Environment, all []run.Planned) (err error) {
	if engine.Journal.Key != nil || !slices.ContainsFunc(all, run.Planned.HasSecrets) {
		return nil
	}
	if d.simulate {
		engine.Journal.Key = secret.NewKey()
		return nil
	}
	engine.Journal.Key, err = d.NewKey(ctx)
	return err
}

// queue queues approved plans and runs them.
func (d *deployCommand) queue(ctx context.Context, engine *environment.Environment, all []run.Planned) error {
	if !d.JSON {
		d.Printf("\n")
	}
	if err := d.Stdout.Flush(); err != nil {
		return err
	}
	if d.detach {
		return d.leave(ctx, engine, all)
	}
	return runs.Follow(ctx, d.Session, engine, d.runs, func() ([]int64, error) {
		queued, err := engine.Queue(ctx, all...)
		var ids []int64
		for _, q := range queued {
			ids = append(ids, q.ID)
		}
		return ids, err
	})
}

// leave queues approved plans for a worker.
func (d *deployCommand) leave(ctx context.Context, engine *environment.Environment, all []run.Planned) error {
	queued, err := engine.Queue(ctx, all...)
	if err != nil {
		return err
	}
	var ids []int64
	for _, q := range queued {
		ids = append(ids, q.ID)
	}
	if err := engine.Release(ctx, ids); err != nil {
		return err
	}
	for _, q := range queued {
		d.Say("%s is queued for a worker: 'lumi status%s' shows what becomes of it", job.Name(q), d.Flag())
	}
	return nil
}

func (d *deployCommand) destroy(ctx context.Context, modules []string) error {
	key, err := d.Key(ctx)
	if err != nil {
		return err
	}
	engine, end := runs.NewEngine(d.Session, key, d.runs.Options())
	defer end()
	g, err := engine.Graph(ctx)
	if err != nil {
		return err
	}
	if len(modules) == 0 {
		if modules = g.Modules(); len(modules) == 0 {
			if queued, err := engine.Status(ctx); err != nil {
				return err
			} else if len(queued) > 0 { // the deployment may have created resources
				return &job.RefusedError{Message: queued[0].Name + " is in the queue: wait until it has ended, or abort it"}
			}
			d.Printf("Nothing to destroy in %s.\n", d.Environment.Name)
			return nil
		}
	}
	var requests []run.Request
	for _, module := range modules {
		requests = append(requests, run.Request{Destroy: module})
	}
	if requests, err = engine.Sort(ctx, requests); err != nil {
		return err
	}
	all, err := engine.Plan(ctx, requests...)
	if err != nil {
		return err
	}
	if err := d.show(ctx, engine, all); err != nil {
		return err
	}
	return d.carryOut(ctx, engine, all, "Destroy")
}

// errInterrupted means that an interrupt stopped the command.
var errInterrupted = errors.New("interrupted")

// consent holds the flags that approve a plan.
type consent struct {
	yes    bool
	expect []string
}

func (f *consent) add(c *cobra.Command) {
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "skip the confirmation")
	c.Flags().StringSliceVar(&f.expect, "expect", nil, "skip the confirmation and accept only the plan with this `DIGEST`; for several modules, one each, separated by commas")
}

// misuse returns an error if confirmation is required but the user cannot be asked.
func (f consent) misuse(con *console.Console) error {
	if !f.yes && len(f.expect) == 0 && !con.CanAsk() {
		if _, err := workspace.Find(); err != nil { // the first problem to solve
			return err
		}
		return console.Misused("cannot ask for confirmation without a terminal: use --expect=DIGEST or --yes")
	}
	return nil
}

// agree returns nil if the user approves the plans through flags or at a prompt.
func agree(s *workspace.Session, f consent, all []run.Planned, verb string) error {
	if err := s.Copied(); err != nil {
		return err
	}
	if len(f.expect) > 0 {
		for _, p := range all {
			switch {
			case p.Digest == "":
				return &job.RefusedError{Message: fmt.Sprintf("the plan for %s has no digest for --expect: it contains secrets that cannot be compared", p.Module)}
			case !slices.ContainsFunc(f.expect, p.Matches):
				return &job.RefusedError{Message: fmt.Sprintf("the plan for %s does not match --expect%s: review it, and use --expect=%s",
					p.Module, f.differing(p, all), p.Digest)}
			}
		}
		return nil
	}
	if f.yes {
		return nil
	}
	var modules []string
	for _, p := range all {
		modules = append(modules, p.Module)
	}
	return confirm(s, verb+" "+strings.Join(modules, ", "))
}

// differing returns the functions whose results differ from those in the plan that --expect refers to, as an addition to a
// message. It returns "" if there are none, or if that plan is not known.
func (f consent) differing(p run.Planned, all []run.Planned) string {
	for _, digest := range f.expect {
		isOther := slices.ContainsFunc(all, func(other run.Planned) bool { return other.Matches(digest) })
		if functions := p.Differing(digest); !isOther && len(functions) > 0 {
			return ", perhaps because of other results of " + strings.Join(functions, ", ")
		}
	}
	return ""
}

// confirm asks for confirmation of an action in the environment. It returns [console.ErrUnchanged] unless the answer is
// yes.
func confirm(s *workspace.Session, what string) error {
	return s.Confirmed(what + " in " + s.Environment.Name)
}
