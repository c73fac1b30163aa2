package deployments

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/display"
	"github.com/lumi-idl/lumi/internal/cli/runs"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/runtime/urn"
)

func newStatusCommand(con *console.Console) *cobra.Command {
	return workspace.RunInEnvironment(con, &cobra.Command{
		Use:   "status",
		Short: "show modules and unfinished deployments",
		Long: `Show the modules of the environment, with older versions that other modules still use; the queue
of unfinished deployments, with their owners, what they wait for, and what to do next; broken uses
of other modules; and resources that could not be deleted.

With --json, it prints one object.`,
		Annotations: map[string]string{
			"0": "nothing needs attention", "1": "a deployment has failed, or a use is broken", "2": console.ElseFailed,
			"3": "a deployment is waiting for an answer", "4": "a deployment is running or waiting",
		},
		Example: console.Examples(
			"Is anything running, or in need of attention?", "lumi status",
			"What does each deployment in the queue wait for?", `lumi status --json | jq '.queue[] | {name, waits}'`,
		),
	}, func(ctx context.Context, s *workspace.Session, _ []string) error { return status(ctx, s) })
}

// jsonStatus is the JSON form of the status of an environment.
type jsonStatus struct {
	Environment string              `json:"environment"`
	Modules     []jsonModule        `json:"modules"`
	Queue       []jsonQueued        `json:"queue"`
	Broken      []map[string]string `json:"broken"`
	Pending     []map[string]string `json:"pending"`
}

type jsonModule struct {
	Module     string    `json:"module"`
	Deployment string    `json:"deployment"`
	Ended      time.Time `json:"ended,omitzero"`
	Resources  int       `json:"resources"`
	Kept       []kept    `json:"kept,omitempty"`
}

// kept is an older version of a module that is still in use.
type kept struct {
	Version   string   `json:"version"`
	NeededBy  []string `json:"neededBy"`
	Resources int      `json:"resources"`
}

// jsonDeployment is the JSON form of a deployment.
type jsonDeployment struct {
	Name    string      `json:"name"`
	Number  int64       `json:"number,omitempty"`
	Module  string      `json:"module"`
	Purpose string      `json:"purpose"`
	State   store.State `json:"state"`
	Message string      `json:"message,omitempty"`
}

func newJSONDeployment(d store.Job) jsonDeployment {
	return jsonDeployment{job.Name(d), d.Number, d.Module, string(d.Kind), d.State, d.Message}
}

// jsonQueued is the JSON form of a queued deployment.
type jsonQueued struct {
	jsonDeployment
	Since       time.Time           `json:"since"`
	Owner       string              `json:"owner,omitempty"`
	Expires     time.Time           `json:"expires,omitzero"`
	Interrupted bool                `json:"interrupted"`
	Aborting    bool                `json:"aborting"`
	Waits       []map[string]string `json:"waits"`
	Asks        []urn.URN           `json:"asks"`
	Next        string              `json:"next,omitempty"`
}

func status(ctx context.Context, s *workspace.Session) error {
	engine, end := runs.NewEngine(s, nil, run.Options{}) // secrets are unknown values
	defer end()
	queued, err := engine.Status(ctx)
	if err != nil {
		return err
	}
	shown, err := describeGraph(ctx, s, engine)
	if err != nil {
		return err
	}
	if err := s.Copied(); err != nil {
		s.Say("%s", err)
	}
	var worst error
	if len(shown.Broken) > 0 {
		worst = console.ErrWrong
	}
	for _, d := range queued {
		_, advice, code := runs.Next(s, engine, d)
		if runs.Rank(code) > runs.Rank(worst) {
			worst = code
		}
		one := jsonQueued{
			jsonDeployment: newJSONDeployment(d.Job), Since: d.Created, Owner: d.Owner, Expires: d.Expires,
			Interrupted: runs.IsLeft(d), Aborting: d.Abort,
			Waits: []map[string]string{}, Asks: append([]urn.URN{}, d.Asks...), Next: advice,
		}
		for _, w := range d.Waits {
			one.Waits = append(one.Waits, map[string]string{"for": w.For.Name(), "reason": w.Reason})
		}
		events, err := engine.Log(ctx, d.ID)
		if err != nil {
			return err
		}
		for _, e := range events {
			if e.Task == 0 && e.URN == "" && e.State == d.State {
				one.Since = e.Time
			}
		}
		shown.Queue = append(shown.Queue, one)
	}
	if s.JSON {
		if err := s.PrintJSON(shown); err != nil {
			return err
		}
	} else {
		printStatus(s, shown)
	}
	return worst
}

func describeGraph(ctx context.Context, s *workspace.Session, engine *environment.Environment) (jsonStatus, error) {
	none := []map[string]string{}
	shown := jsonStatus{s.Environment.Name, []jsonModule{}, []jsonQueued{}, none, none}
	g, err := engine.Outline(ctx)
	if err != nil {
		return shown, err
	}
	nameOf := func(v graph.VersionID) string { return fmt.Sprintf("%s[%d]", v.Module, v.Deployment) }
	for _, module := range g.Modules() {
		for _, v := range g.Versions(module) {
			for _, use := range v.Uses {
				if use.Broken != "" {
					shown.Broken = append(shown.Broken, map[string]string{
						"deployment": nameOf(v.VersionID), "use": use.Name, "of": nameOf(use.To), "reason": use.Broken,
					})
				}
			}
		}
		for _, p := range g.Pending(module) {
			shown.Pending = append(shown.Pending, map[string]string{"urn": string(p.Resource.URN), "id": p.Resource.ID})
		}
		if v := g.Newest(module); v != nil {
			made, err := engine.Deployment(ctx, int64(v.Deployment))
			if err != nil {
				return shown, err
			}
			m := jsonModule{module, nameOf(v.VersionID), made.Ended, v.Len(), nil}
			for _, b := range g.Beside(module) {
				m.Kept = append(m.Kept, kept{b.String(), append([]string{}, b.Users...), len(b.Resources)})
			}
			shown.Modules = append(shown.Modules, m)
		}
	}
	return shown, nil
}

func printStatus(s *workspace.Session, shown jsonStatus) {
	s.Printf("Environment %s: %s\n", shown.Environment, console.Count(len(shown.Modules), "module"))
	for _, m := range shown.Modules {
		s.Printf("  %s  %s, deployed %s", term.Visible(m.Deployment), console.Count(m.Resources, "resource"), runs.Stamp(m.Ended))
		for _, k := range m.Kept {
			s.Printf(", and %s: %s", display.Older{Version: k.Version, Users: k.NeededBy}, console.Count(k.Resources, "resource"))
		}
		s.Printf("\n")
	}
	s.Printf("\n")
	if len(shown.Queue) == 0 {
		s.Printf("Nothing is running or waiting.\n")
	}
	for _, d := range shown.Queue {
		printQueued(s, d)
	}
	if len(shown.Broken) > 0 {
		s.Printf("\nBroken uses:\n")
	}
	for _, b := range shown.Broken {
		s.Printf("  %s\n", term.Paragraph(fmt.Sprintf("%s uses %s of %s: %s", b["deployment"], b["use"], b["of"], b["reason"])))
	}
	if len(shown.Pending) > 0 {
		s.Printf("\nCould not be deleted; the next cleanup or deployment will try again:\n")
	}
	for _, p := range shown.Pending {
		s.Printf("  %s %s\n", term.Visible(graph.ShortName(urn.URN(p["urn"]))), term.Visible(p["id"]))
	}
}

// leadingURN matches a URN at the start of a line, of which only the name is shown.
var leadingURN = regexp.MustCompile(`(?m)^urn:lumi:\S*::([^:\s]+): `)

func printQueued(s *workspace.Session, d jsonQueued) {
	s.Printf("%s %s since %s\n", s.Out.Paint(term.Bold, term.Visible(d.Name)), runs.StateWord(s.Console, d.State), runs.Stamp(d.Since))
	var lines []string
	switch {
	case d.Interrupted && d.Owner != "":
		lines = append(lines, "the process that ran it has ended")
	case d.Owner == "" && d.State == store.Wait && len(d.Waits) == 0:
		lines = append(lines, "waiting for a worker")
	case d.Owner != "":
		verb := map[bool]string{true: "queued", false: "run"}[d.State == store.Wait]
		lines = append(lines, fmt.Sprintf("%s by %s, lease expires in %s", verb, process(d.Owner), time.Until(d.Expires).Round(time.Second)))
	}
	if d.Aborting && d.State == store.Running {
		lines = append(lines, "abort requested")
	}
	for _, w := range d.Waits {
		lines = append(lines, "waiting for "+w["for"]+": "+w["reason"])
	}
	for _, text := range append(lines, leadingURN.ReplaceAllString(d.Message, "$1: "), d.Next) {
		if text != "" {
			s.Printf("  %s\n", strings.ReplaceAll(term.Paragraph(text), "\n", "\n  "))
		}
	}
}

// process formats the owner of a lease, as in "123 on host".
func process(owner string) string {
	if parts := strings.Split(owner, "/"); len(parts) == 3 {
		return parts[1] + " on " + parts[0]
	}
	return owner
}
