package deployments

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/deploy/run/journal"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/runs"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/diff"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// historyCommand is an invocation of 'lumi history'.
type historyCommand struct {
	*workspace.Session
	engine *environment.Environment
	module string
	limit  int
	diff   bool
	prune  string
	yes    bool
}

func newHistoryCommand(con *console.Console) *cobra.Command {
	var h historyCommand
	var c *cobra.Command
	c = workspace.RunInEnvironment(con, &cobra.Command{
		Use:   "history [DEPLOYMENT]",
		Short: "list deployments, or show one",
		Long: `Without arguments, it lists deployments, newest first, except cleanups that had nothing to do. With
DEPLOYMENT, a number such as 7 or shop[7], it shows the steps of that deployment and, with --diff,
how its desired state differs from the previous one. Secrets are masked.

--prune deletes old entries, including runs of task graphs, and gives their space back to the file
system. It keeps the latest deployment of each module.

With --json, it prints one object per deployment, one per line.`,
		Annotations: console.ExitCodes("the history is shown", "", console.ElseFailed),
		Example: console.Examples(
			"What was deployed lately?", "lumi history",
			"What has happened to one module?", "lumi history --module=site --limit=5",
			"What did deployment 2 do, and what had changed in the program?", "lumi history 2 --diff",
			"Keep only the deployments of the last 90 days.", "lumi history --prune=90d",
			"Which deployments have failed?", `lumi history --json | jq -r 'select(.state == "FAILED") | .name'`,
		),
	}, func(ctx context.Context, s *workspace.Session, args []string) error {
		switch {
		case h.limit < 1:
			return console.Misused("--limit=%d: must be at least 1", h.limit)
		case h.diff && len(args) == 0:
			return console.Misused("--diff requires the number of a deployment")
		case h.prune != "" && (len(args) > 0 || h.module != "" || h.diff || c.Flags().Changed("limit")):
			return console.Misused("--prune cannot be combined with a deployment, --module, --limit, or --diff")
		case h.yes && h.prune == "":
			return console.Misused("--yes requires --prune")
		case len(args) > 0 && (h.module != "" || c.Flags().Changed("limit")):
			return console.Misused("--module and --limit cannot be combined with the number of a deployment")
		}
		h.Session = s
		if h.prune != "" {
			return h.pruneHistory(ctx)
		}
		return h.run(ctx, args)
	})
	flags := c.Flags()
	flags.BoolVar(&h.diff, "diff", false, "show how the desired state differs from the previous deployment")
	flags.StringVar(&h.module, "module", "", "list only deployments of `MODULE`")
	flags.IntVar(&h.limit, "limit", 20, "list up to `N` deployments")
	flags.StringVar(&h.prune, "prune", "", "delete all but the latest deployments: `LIMIT` is their number, such as 500, or their age, such as 90d")
	flags.Lookup("prune").NoOptDefVal = configured
	flags.BoolVarP(&h.yes, "yes", "y", false, "skip the confirmation of --prune")
	_ = c.RegisterFlagCompletionFunc("module", workspace.CompleteModules)
	return c
}

func (h *historyCommand) run(ctx context.Context, args []string) error {
	var key *secret.Key
	var err error
	if h.diff {
		key, err = h.KeyIfAny(ctx, "comparing")
	}
	if err != nil {
		return err
	}
	engine, end := runs.NewEngine(h.Session, key, run.Options{}) // without a key, secrets are unknown values
	defer end()
	if h.engine = engine; len(args) > 0 {
		return h.one(ctx, args[0])
	}
	return h.list(ctx)
}

// jsonPast is the JSON form of a past deployment.
type jsonPast struct {
	jsonDeployment
	Created time.Time `json:"created"`
	Ended   time.Time `json:"ended,omitzero"`
	// Interrupted is set if the state is RUNNING but no process runs the deployment.
	Interrupted bool `json:"interrupted,omitempty"`
	// Seconds is the total running time. If a process ended without notice, its time counts up to its last event.
	Seconds float64 `json:"seconds"`
	// Counts is the number of steps, by kind for successful steps and by state for all others.
	Counts  map[string]int  `json:"counts"`
	Steps   []store.Event   `json:"steps,omitempty"`
	Against string          `json:"against,omitempty"`
	Diff    json.RawMessage `json:"diff,omitempty"`
}

// describe returns the JSON form of a deployment, including the last event of each step.
func (h *historyCommand) describe(ctx context.Context, d store.Job) (jsonPast, error) {
	events, err := h.engine.Log(ctx, d.ID)
	past := newPast(d, events)
	if err == nil && (d.State == store.Running || d.State == store.Aborting) {
		err = h.engine.Journal.Read(ctx, func(t *journal.Tx) error {
			past.Interrupted = !h.engine.IsHeld(t.Now(), d)
			return nil
		})
	}
	return past, err
}

// state returns the word shown for the state of a deployment.
func (h *historyCommand) state(past jsonPast) string {
	if past.Interrupted {
		return "interrupted"
	}
	return runs.StateWord(h.Console, past.State)
}

// newPast returns the JSON form of a deployment. It takes time linear in the number of events.
func newPast(d store.Job, events []store.Event) jsonPast {
	past := jsonPast{jsonDeployment: newJSONDeployment(d), Created: d.Created, Ended: d.Ended, Counts: map[string]int{}}
	var ran time.Duration
	var started, last time.Time // last is the time of the previous event
	open := map[[2]string]int{}
	for _, e := range events {
		switch running := e.State == store.Running || e.State == store.Aborting; {
		case e.URN != "":
			past.add(e, open)
		case e.Task != 0:
		case running && started.IsZero():
			started = e.Time
		case running && e.State == store.Running: // another process took over from one that ended without an event
			ran, started = ran+last.Sub(started), e.Time
		case !running && !started.IsZero():
			ran, started = ran+e.Time.Sub(started), time.Time{}
		}
		last = e.Time
	}
	if !started.IsZero() {
		ran += last.Sub(started)
	}
	past.Seconds = ran.Round(time.Millisecond).Seconds()
	replaced := map[string]bool{}
	for _, s := range past.Steps {
		replaced[s.URN] = replaced[s.URN] || s.Kind == "replace"
	}
	for _, s := range past.Steps {
		switch {
		case s.State != store.Done:
			past.Counts[string(s.State)]++
		case s.Kind != "delete" || !replaced[s.URN]: // otherwise, the deletion is part of a replacement
			past.Counts[s.Kind]++
		}
	}
	return past
}

// add adds the event of a step. Open maps the kind and URN of each unfinished step to its index. Finished steps are
// removed, since two resources with the same URN may be deleted.
func (p *jsonPast) add(e store.Event, open map[[2]string]int) {
	key := [2]string{e.Kind, e.URN}
	i, found := open[key]
	if !found {
		i = len(p.Steps)
		p.Steps = append(p.Steps, e)
	}
	p.Steps[i] = e
	if open[key] = i; e.State == store.Done {
		delete(open, key)
	}
}

func (h *historyCommand) list(ctx context.Context) error {
	rows := [][]string{{"NAME", "WHAT", "STATE", "QUEUED", "TOOK", "DONE"}}
	before := int64(0)
	for left := h.limit; left > 0; {
		all, err := h.engine.History(ctx, h.module, before, left)
		if err != nil {
			return err
		}
		if len(all) == 0 {
			break
		}
		for _, d := range all {
			past, err := h.describe(ctx, d)
			if err != nil {
				return err
			}
			if before = d.ID; d.Kind == "cleanup" && d.State == store.Done && len(past.Steps) == 0 {
				continue
			}
			left--
			past.Steps = nil
			if !h.JSON {
				rows = append(rows, []string{term.Visible(past.Name), string(d.Kind), h.state(past), runs.Stamp(d.Created), past.took(), past.summary()})
			} else if err := h.PrintJSON(past); err != nil {
				return err
			}
		}
	}
	if len(rows) > 1 {
		h.Table(rows)
	} else if !h.JSON {
		h.Printf("No deployments.\n")
	}
	return nil
}

func (p *jsonPast) took() string {
	return time.Duration(p.Seconds * float64(time.Second)).Round(100 * time.Millisecond).String()
}

// summary summarizes the results of a deployment, as in "2 created, 1 updated".
func (p *jsonPast) summary() string {
	var all []string
	for _, word := range [...][2]string{
		{"create", "created"}, {"import", "imported"}, {"move", "moved"}, {"update", "updated"}, {"replace", "replaced"},
		{"delete", "deleted"}, {"forget", "forgotten"}, {"FAILED", "failed"}, {"UNKNOWN", "uncertain"}, {"STARTED", "started"},
		{"PENDING", "could not be deleted"}, {"SKIPPED", "skipped"},
	} {
		if n := p.Counts[word[0]]; n > 0 {
			all = append(all, fmt.Sprintf("%d %s", n, word[1]))
		}
	}
	return strings.Join(all, ", ")
}

func (h *historyCommand) one(ctx context.Context, arg string) error {
	d, request, err := findDeployment(ctx, h.Session, h.engine, arg)
	if err != nil {
		return err
	}
	past, err := h.describe(ctx, d)
	if err != nil {
		return err
	}
	if !h.diff {
		return h.print(past)
	}
	former, err := formerDone(ctx, h.Session, h.engine, d)
	if err != nil {
		return err
	}
	old, desired := &lumigl.Snapshot{}, cmp.Or(request.Desired, &lumigl.Snapshot{}) // a destroy has no desired state
	if past.Against = "nothing"; former.ID != 0 {
		before, err := h.engine.Request(ctx, former.ID)
		if err != nil {
			return err
		}
		old, past.Against = before.Desired, job.Name(former)
	}
	delta, err := diff.Compare(old, desired, diff.Options{})
	if err != nil {
		return err
	}
	if h.JSON {
		var text bytes.Buffer
		_ = delta.WriteJSON(&text) // writes to a buffer never fail
		past.Diff = text.Bytes()
	}
	if err := h.print(past); err != nil || h.JSON {
		return err
	}
	h.Printf("\nDesired state, compared with %s:\n", past.Against)
	return delta.WriteText(h.Stdout, diff.TextOptions{Color: h.Out.Color, Context: 1})
}

func (h *historyCommand) print(past jsonPast) error {
	if h.JSON {
		return h.PrintJSON(past)
	}
	h.Printf("%s %s %s\nqueued %s", h.Out.Paint(term.Bold, term.Visible(past.Name)), past.Purpose, h.state(past), runs.Stamp(past.Created))
	if !past.Ended.IsZero() {
		h.Printf(", ended %s", runs.Stamp(past.Ended))
	}
	h.Printf(", ran for %s\n", past.took())
	if past.Message != "" {
		h.Printf("%s\n", term.Paragraph(leadingURN.ReplaceAllString(past.Message, "$1: ")))
	}
	for _, s := range past.Steps {
		u := urn.URN(s.URN)
		line := fmt.Sprintf("%s %s %s: %s", s.Kind, u.Name(), u.Type(), strings.ToLower(string(s.State)))
		if s.Was != "" {
			line += ", was " + graph.ShortName(urn.URN(s.Was))
		}
		if s.Message != "" {
			line += ": " + s.Message
		}
		h.Printf("  %s\n", strings.ReplaceAll(term.Paragraph(line), "\n", "\n    "))
	}
	return nil
}

// formerDone returns the module's last successful deployment before d, or the zero Job if there is none.
func formerDone(ctx context.Context, s *workspace.Session, engine *environment.Environment, d store.Job) (store.Job, error) {
	return last(ctx, s, engine, d.Module, d.ID, func(o store.Job) bool { return o.Kind == "deploy" && o.State == store.Done })
}

// last returns the latest deployment of a module that fits accepts, or the zero Job if there is none. If before is not
// 0, only deployments with a lower ID are considered.
func last(ctx context.Context, s *workspace.Session, engine *environment.Environment, module string, before int64, fits func(store.Job) bool) (store.Job, error) {
	for {
		all, err := engine.History(ctx, module, before, 100)
		if err != nil || len(all) == 0 {
			return store.Job{}, err
		}
		if i := slices.IndexFunc(all, fits); i >= 0 {
			return all[i], nil
		}
		before = all[len(all)-1].ID
	}
}

// findDeployment returns the deployment identified by an argument such as "7" or "shop[7]", and its request.
func findDeployment(ctx context.Context, s *workspace.Session, engine *environment.Environment, arg string) (store.Job, run.Request, error) {
	number := runs.Number(arg)
	if number == 0 {
		return store.Job{}, run.Request{}, console.Misused("%q: must be the number of a deployment, such as 7 or shop[7]", arg)
	}
	found, err := engine.Find(ctx, number)
	if errors.Is(err, store.ErrNotFound) || err == nil && strings.Contains(arg, "[") && arg != job.Name(found.Job) {
		err = fmt.Errorf("%s has no deployment %s: 'lumi history%s' lists them", s.Environment.Name, arg, s.Flag())
	}
	return found.Job, found.Request, err
}
