package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// state is the state accumulated from events and waits.
type state struct {
	Options
	// deployments is in order of first events.
	deployments []*deployment
	waits       map[string][]string
	// open maps the URN of each running step to the step.
	open map[string]*step
}

type deployment struct {
	id             int64
	name, message  string // message is the progress of a provisioner while running
	state          store.State
	started, ended time.Time
	printed        time.Time
	// steps is in start order. latest holds the last step by URN and by whether it is a deletion, since a replacement
	// has two steps.
	steps   []*step
	latest  map[[2]string]*step
	skipped int
}

type step struct {
	of             *deployment
	urn            urn.URN
	kind, was      string
	state          store.State
	started, ended time.Time
	message        string // progress while running
	source         string // only if it failed
	printed        time.Time
}

func newState(o Options) state { return state{Options: o, open: map[string]*step{}} }

// event updates the state for an event. It returns the deployment whose state, step, or progress changed, and the
// affected step. Either may be nil.
func (s *state) event(e store.Event) (*deployment, *step) {
	if e.State == "" {
		t := s.open[e.URN]
		if e.Level != "progress" {
			return nil, t
		}
		if t != nil {
			t.message = e.Message
			return nil, t
		}
		for _, d := range s.deployments { // Progress of a provisioner applies to the whole task.
			if d.isRunning() && (e.Deployment == d.id || e.Deployment == 0) {
				d.message = e.Message
				return d, nil
			}
		}
		return nil, nil
	}
	i := slices.IndexFunc(s.deployments, func(d *deployment) bool { return d.id == e.Deployment })
	if i < 0 {
		i = len(s.deployments)
		s.deployments = append(s.deployments, &deployment{id: e.Deployment, name: e.Name, latest: map[[2]string]*step{}})
	}
	d := s.deployments[i]
	switch {
	case e.URN != "":
		return d, s.step(d, e)
	case e.Task == 0:
		s.move(d, e)
	}
	return d, nil
}

// move changes the state of a deployment. If a deployment waits again, move keeps only its finished steps, since it
// will be planned again.
func (s *state) move(d *deployment, e store.Event) {
	d.state, d.message, d.ended = e.State, e.Message, e.Time
	if e.State == store.Wait {
		d.started, d.skipped = time.Time{}, 0
		d.steps = slices.DeleteFunc(d.steps, func(t *step) bool { return t.state != store.Done })
		clear(d.latest)
		maps.DeleteFunc(s.open, func(_ string, t *step) bool { return t.of == d })
	} else if d.isRunning() && d.started.IsZero() {
		d.started = e.Time
	}
}

// isIdle reports whether the deployment is a cleanup that has not deleted anything, which is common.
func (d *deployment) isIdle() bool {
	return strings.HasPrefix(d.name, "Cleanup[") && len(d.steps)+d.skipped == 0 && d.message == ""
}

// ownMessage returns the message of the deployment, or "" if a step already displays it.
func (d *deployment) ownMessage() string {
	for _, s := range d.steps {
		if s.message != "" && strings.Contains(d.message, s.message) {
			return ""
		}
	}
	return d.message
}

func (d *deployment) isRunning() bool { return d.state == store.Running || d.state == store.Aborting }

func (s *state) step(d *deployment, e store.Event) *step {
	key := [2]string{e.URN, fmt.Sprint(e.Kind == "delete")}
	t := d.latest[key]
	if t == nil || t.state == store.Done { // A cleanup may delete several resources with the same URN.
		t = &step{of: d, urn: urn.URN(e.URN)}
		if e.State == store.Skipped {
			d.skipped++
		} else {
			d.latest[key] = t
			d.steps = append(d.steps, t)
		}
	}
	if d.isRunning() {
		d.message = ""
	}
	t.kind, t.was, t.state, t.message, t.ended, t.source = e.Kind, e.Was, e.State, e.Message, e.Time, ""
	if e.State == store.Failed && e.Level == "warn" {
		t.state = tolerated
	}
	if e.State == store.Started {
		s.open[e.URN] = t
		t.started = cmp.Or(t.started, e.Time)
		return t
	}
	if s.open[e.URN] == t {
		delete(s.open, e.URN)
	}
	if t.state == store.Failed || t.state == store.Unknown || t.state == store.Pending {
		t.source = e.Source
	}
	return t
}

// isRunning reports whether the display changes even without events.
func (s *state) isRunning() bool {
	return len(s.open) > 0 || slices.ContainsFunc(s.deployments, (*deployment).isRunning)
}

// tolerated is the state displayed for a tolerated failure.
const tolerated store.State = "tolerated"

// states maps each state to its word, style, and step glyph.
var states = map[store.State]struct {
	word  string
	style term.Style
	glyph string
}{
	store.Wait: {word: "waiting"}, store.Running: {word: "running"}, store.Started: {"started", term.Plain, "…"},
	store.Done: {"done", term.Green, "✓"}, store.Failed: {"failed", term.Red, "✗"}, store.Skipped: {word: "skipped"},
	store.Unknown: {"unknown", term.Yellow, "?"}, store.Pending: {"pending", term.Yellow, "!"}, store.Ask: {word: "asks", style: term.Yellow},
	tolerated:      {"failed (tolerated)", term.Yellow, "!"},
	store.Aborting: {word: "aborting", style: term.Yellow}, store.Aborted: {word: "aborted", style: term.Yellow},
	store.Canceled: {word: "canceled", style: term.Yellow}, store.Superseded: {word: "superseded", style: term.Yellow},
}

func (s *state) word(of store.State) string { return s.paint(states[of].style, states[of].word) }

// kinds maps each kind of step to its sign and style, which are the same as in plans.
var kinds = map[string]struct {
	sign  string
	style term.Style
}{
	"read": {"<", term.Blue}, "create": {"+", term.Green}, "import": {"=", term.Green}, "move": {"→", term.Blue}, "update": {"~", term.Yellow},
	"replace": {"±", term.Magenta}, "delete": {"-", term.Red}, "forget": {"x", term.Red},
}

// what describes a step, such as "+ create db aws:rds:Database".
func (s *state) what(t *step, verb string) string {
	text := s.paint(term.Bold, shortName(t.urn))
	if verb != "execute" { // The name alone describes a task run.
		text = term.Visible(verb) + " " + text
	}
	if of := string(t.urn.Type()); of != "" {
		text += " " + s.paint(term.Dim, term.Visible(of))
	}
	if k := kinds[t.kind]; k.sign != "" {
		text = s.paint(k.style, k.sign) + " " + text
	}
	if t.was != "" {
		text += ", was " + term.Visible(graph.ShortName(urn.URN(t.was)))
	}
	return text
}

func shortName(u urn.URN) string { return term.Visible(cmp.Or(u.Name(), string(u))) }

func (s *state) nameOf(d *deployment) string { return s.paint(term.Bold, term.Visible(d.name)) }

func (s *state) paint(style term.Style, text string) string {
	return term.Stream{Color: s.Color}.Paint(style, text)
}

// levels maps the levels of labeled messages to their label and style.
var levels = map[string]struct {
	word  string
	style term.Style
}{"debug": {"debug", term.Dim}, "warn": {"warning", term.Yellow}, "error": {"error", term.Red}}

// message formats a provider's message as one line. It returns "" if the message is not displayed.
func (s *state) message(e store.Event, t *step) string {
	if e.Level == "debug" && !s.Verbose {
		return ""
	}
	text := oneLine(e.Message)
	if level := levels[e.Level]; level.word != "" {
		text = s.paint(level.style, level.word) + ": " + text
	}
	d := &deployment{name: e.Name}
	if t != nil {
		d = t.of
	}
	if about := strings.TrimSpace(s.nameOf(d) + " " + shortName(urn.URN(e.URN))); about != "" {
		text = about + ": " + text
	}
	return text
}

// lines returns the non-empty lines of a message, with control characters escaped.
func lines(message string) []string {
	all := strings.Split(term.Paragraph(message), "\n")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return slices.DeleteFunc(all, func(line string) bool { return line == "" })
}

func oneLine(message string) string {
	return strings.ReplaceAll(strings.Join(lines(message), "; "), ":; ", ": ")
}

// since formats the time from start to end, such as "1.2s" or "3m5s". It returns "" if start is zero or the duration is
// less than 0.1s.
func since(start, end time.Time) string {
	d := end.Sub(start)
	if start.IsZero() || d < time.Second/10 {
		return ""
	}
	if d < 10*time.Second {
		return d.Truncate(time.Second / 10).String()
	}
	return d.Truncate(time.Second).String()
}
