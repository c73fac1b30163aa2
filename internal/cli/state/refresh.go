package state

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/refresh"
	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/runs"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/diff"
	"github.com/lumi-idl/lumi/lumigl/query"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// refreshCommand is an invocation of 'lumi refresh'.
type refreshCommand struct {
	*workspace.Session
	targets       []string
	check, accept bool
}

func newRefreshCommand(con *console.Console) *cobra.Command {
	r := refreshCommand{}
	c := workspace.RunInEnvironment(con, &cobra.Command{
		Use:   "refresh [MODULE...]",
		Short: "compare the state with the real resources",
		Long: `Read the real resources of the modules, by default of all modules, and show what was changed outside
Lumi. Nothing is changed or stored; providers are only asked to read and compare.

With --accept, the state records what was read: the next plan then compares it with the program,
and creates resources that no longer exist again. It is refused while a deployment of a module, or
of a module that uses it, is queued. To undo drift, use 'lumi deploy --refresh'.

With --json, it prints one object. docs/drift.md explains the output.`,
		Annotations: map[string]string{
			"0": "the resources were compared", "1": "with --check, something has drifted; with --accept, refused",
			"2": "a resource cannot be read, or a usage or system error", "3": "a passphrase or an identity is needed",
		},
		Example: console.Examples(
			"What was changed outside Lumi?", "lumi refresh",
			"Fail if anything was, for a nightly job.", "lumi refresh --check",
			"Record what a colleague changed on purpose.", "lumi refresh site --accept",
		),
	}, func(ctx context.Context, s *workspace.Session, modules []string) error {
		r.Session = s
		return r.run(ctx, modules)
	})
	c.ValidArgsFunction = workspace.CompleteModules
	c.Flags().StringSliceVarP(&r.targets, "target", "t", nil, "read only the resource `KEY`: a URN, the end of one, or a name; may be repeated")
	_ = c.RegisterFlagCompletionFunc("target", workspace.CompleteResources)
	c.Flags().BoolVar(&r.check, "check", false, "exit with 1 if something has drifted")
	c.Flags().BoolVar(&r.accept, "accept", false, "record what was read in the state")
	return c
}

func (r *refreshCommand) run(ctx context.Context, modules []string) error {
	if r.check && r.accept {
		return console.Misused("--check cannot be combined with --accept")
	}
	key, err := r.Key(ctx)
	if err != nil {
		return err
	}
	engine, end := runs.NewEngine(r.Session, key, run.Options{})
	defer end()
	g, err := engine.Graph(ctx)
	if err != nil {
		return err
	}
	for _, module := range modules {
		if !slices.Contains(g.Modules(), module) {
			return console.Misused("%s has no module %s; %s", r.Environment.Name, module, suggest.Instead(module, g.Modules()))
		}
	}
	if len(modules) == 0 {
		modules = g.Modules()
	}
	chosen, err := r.chosen(g)
	if err != nil {
		return err
	}
	r.Doing("reading resources")
	reading, release := r.Interruptible(ctx)
	results, err := engine.Compare(reading, modules, chosen)
	release()
	if err != nil {
		return err
	}
	if err := r.show(results); err != nil {
		return err
	}
	return r.conclude(ctx, engine, results)
}

// chosen returns a function that reports whether a resource is a target, or true if there are no targets.
func (r *refreshCommand) chosen(g *graph.Graph) (func(*graph.Resource) bool, error) {
	var urns []urn.URN
	index := query.New(g.Snapshot().Base())
	for _, target := range r.targets {
		v, err := index.Find(target)
		if err != nil {
			return nil, err
		}
		urns = append(urns, v.URN())
	}
	return func(one *graph.Resource) bool { return len(urns) == 0 || slices.Contains(urns, one.URN) }, nil
}

// conclude accepts drift if requested, and returns the error for the exit code.
func (r *refreshCommand) conclude(ctx context.Context, engine *environment.Environment, results []refresh.Result) error {
	has := func(states ...driftState) bool {
		return slices.ContainsFunc(results, func(one refresh.Result) bool { return slices.Contains(states, stateOf(one)) })
	}
	if r.accept {
		stale, err := engine.Accept(ctx, results)
		if err != nil {
			return err
		}
		for _, one := range stale {
			r.Say("%s has changed since it was read: refresh again", one.Stored.URN)
		}
		if slices.ContainsFunc(results, func(one refresh.Result) bool { return one.Actual != nil }) {
			_ = r.Finish("the state of %s now records this", r.Environment.Name)
		}
	} else if has(drifted, gone) && !r.JSON {
		r.Printf("To record this, use 'lumi refresh --accept%s'; to undo it, 'lumi deploy --refresh%[1]s'.\n", r.Flag())
	}
	switch {
	case has(unreadable):
		return console.ErrFailed
	case r.check && has(drifted, gone):
		return console.ErrWrong
	}
	return nil
}

// driftState is the result of comparing a resource. Ignored drift is shown, but does not count.
type driftState int

const (
	drifted driftState = iota
	gone
	unreadable
	ignored
	unchanged
)

var driftStates = [...]struct {
	name, sign string
	style      term.Style
}{
	drifted: {"drifted", "~", term.Yellow}, gone: {"gone", "-", term.Red}, unreadable: {"unreadable", "!", term.Red},
	ignored: {"ignored", "=", term.Dim}, unchanged: {"unchanged", "", term.Dim},
}

func stateOf(r refresh.Result) driftState {
	switch {
	case r.Err != nil:
		return unreadable
	case r.Actual != nil && r.Actual.Gone():
		return gone
	case len(r.Drifted) > 0:
		return drifted
	case len(r.Ignored) > 0:
		return ignored
	}
	return unchanged
}

// show prints the resources that are not as stored, and the totals.
func (r *refreshCommand) show(results []refresh.Result) error {
	totals := map[string]int{}
	for _, one := range results {
		totals[driftStates[stateOf(one)].name]++
	}
	if r.JSON {
		return r.showJSON(results, totals)
	}
	for _, one := range results {
		r.Printf("%s", r.text(one))
	}
	var parts []string
	for _, state := range driftStates {
		if n := totals[state.name]; n > 0 {
			parts = append(parts, r.Out.Paint(state.style, fmt.Sprintf("%d %s", n, state.name)))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "No resources to read")
	}
	r.Printf("%s\n", strings.Join(parts, ", "))
	return r.Stdout.Flush()
}

// text formats a resource unless it is unchanged.
func (r *refreshCommand) text(one refresh.Result) string {
	state := driftStates[stateOf(one)]
	if stateOf(one) == unchanged {
		return ""
	}
	u := one.Stored.URN
	all := r.Out.Paint(state.style, state.sign+" "+state.name) + " " + r.Out.Paint(term.Bold, term.Visible(u.Name())) + " " +
		r.Out.Paint(term.Dim, term.Visible(string(u.Type()))) + " " + term.Visible(one.Stored.ID) + "\n"
	if one.Err != nil {
		return all + "  " + term.Visible(one.Err.Error()) + "\n"
	}
	var b strings.Builder
	_ = changesOf(one).WriteText(&b, 1, diff.TextOptions{Color: r.Out.Color, Context: 1}) // Writing to a Builder cannot fail.
	if all += b.String(); len(one.Ignored) > 0 {
		all += "  ignored: " + term.Visible(strings.Join(one.Ignored, ", ")) + "\n"
	}
	return all
}

// changesOf compares the drifted properties, which are none for a resource that is gone or cannot be read.
func changesOf(r refresh.Result) *diff.Resource {
	stored := r.Stored
	actual := stored
	if stateOf(r) == drifted {
		actual = r.Actual
	}
	of := func(all lumigl.Value) *lumigl.Vertex {
		v, err := lumigl.NewResource(stored.URN)
		if err != nil {
			v = &lumigl.Vertex{} // the key is used only to shorten references
		}
		for _, path := range r.Drifted {
			name := wire.PathParts(path)[0]
			v.Properties = v.Properties.With(name, all.Get(name))
		}
		return v
	}
	return diff.CompareResource(of(stored.Properties()), of(actual.Properties()), nil, stored.Checked, stored.Outputs)
}

// driftJSON is the JSON form of a resource. Changes has the form of the changes in a plan.
type driftJSON struct {
	URN     urn.URN         `json:"urn"`
	ID      string          `json:"id"`
	State   string          `json:"state"`
	Drifted []string        `json:"drifted,omitempty"`
	Ignored []string        `json:"ignored,omitempty"`
	Changes json.RawMessage `json:"changes,omitempty"`
	Error   string          `json:"error,omitempty"`
}

func (r *refreshCommand) showJSON(results []refresh.Result, totals map[string]int) error {
	all, data := []driftJSON{}, &lumigl.Snapshot{} // data is used to choose a reference tag that is not a key in the data
	var compared []*diff.Resource
	for _, one := range results {
		if stateOf(one) == unchanged {
			continue
		}
		c := changesOf(one)
		compared, data.Pending.Deletes = append(compared, c), append(data.Pending.Deletes, c.Old, c.New)
		row := driftJSON{URN: one.Stored.URN, ID: one.Stored.ID, State: driftStates[stateOf(one)].name, Drifted: one.Drifted, Ignored: one.Ignored}
		if one.Err != nil {
			row.Error = one.Err.Error()
		}
		all = append(all, row)
	}
	ref := lumigl.TagOf(data)
	for i, c := range compared {
		if all[i].State == driftStates[drifted].name {
			all[i].Changes = c.JSON(ref)
		}
	}
	return r.PrintJSON(map[string]any{
		"version": 1, "environment": r.Environment.Name, "ref": ref, "accepted": r.accept, "resources": all, "totals": totals,
	})
}
