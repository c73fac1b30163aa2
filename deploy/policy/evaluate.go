package policy

import (
	"fmt"
	"sync"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/lumigl/query"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Levels of rules, and results of evaluating them.
const (
	mandatory = "mandatory"
	advisory  = "advisory"

	Violated  = "violated"
	Undecided = "undecided"
	Passed    = "passed"
)

// Finding is a rule that is violated or depends on unknown values.
type Finding struct {
	Rule  string `json:"rule"`
	Level string `json:"level"`
	// Result is Violated or Undecided.
	Result string `json:"result"`
	// URN and Source identify the resource of the step. They are empty if the rule covers all steps.
	URN    urn.URN `json:"urn,omitempty"`
	Source string  `json:"source,omitempty"`
	// Message is the rule's. Reason explains why the rule could not be evaluated.
	Message string `json:"message"`
	Reason  string `json:"reason,omitempty"`

	at place
}

// place is a rule and, unless the rule covers all steps, a step.
type place struct {
	rule *rule
	step *plan.Step
}

// IsAdvisory reports whether the finding does not refuse a plan.
func (f *Finding) IsAdvisory() bool { return f.Level == advisory }

// Name returns the name of the rule, marked if it is advisory.
func (f *Finding) Name() string {
	if f.IsAdvisory() {
		return f.Rule + " (advisory)"
	}
	return f.Rule
}

// Details returns the message and the reason.
func (f *Finding) Details() string {
	switch {
	case f.Reason != "":
		return fmt.Sprintf("%s (the rule cannot be evaluated: %s)", f.Message, f.Reason)
	case f.Result == Undecided:
		return f.Message + " (evaluated again once the values are known)"
	}
	return f.Message
}

// Violation describes a violated rule without the resource.
func (f *Finding) Violation() string { return "violates policy " + f.Name() + ": " + f.Details() }

// Refusal returns a *[plan.Error] if a mandatory rule is violated.
func Refusal(findings []Finding) error {
	var wrong plan.Error
	for _, f := range findings {
		if f.Result == Violated && !f.IsAdvisory() {
			wrong.Faults = append(wrong.Faults, plan.Fault{URN: f.URN, Source: f.Source, Message: f.Violation()})
		}
	}
	if len(wrong.Faults) == 0 {
		return nil
	}
	return &wrong
}

// Evaluate evaluates all rules on a plan, including the deletions of its cleanups. The findings are in the order of rules.
func (p *Policy) Evaluate(pl *plan.Plan) (all []Finding) {
	if p == nil {
		return nil
	}
	steps := effective(pl)
	changes := changesOf(steps)
	for _, r := range p.rules {
		for i, s := range steps {
			f := r.evaluate(pl.Environment, pl.Module, changes[i:]...)
			if r.when.OverAll {
				s = nil
			}
			if f.at.step = s; f.Result != Passed {
				f.locate(s)
				all = append(all, f)
			}
			if r.when.OverAll {
				break
			}
		}
	}
	return all
}

// evaluate evaluates a rule on the first of the given steps, or on all of them if it covers all.
func (r *rule) evaluate(environment, module string, steps ...query.Change) Finding {
	f := Finding{Rule: r.name, Level: mandatory, Result: Passed, Message: r.message, at: place{rule: r}}
	if r.advisory {
		f.Level = advisory
	}
	holds, known, err := r.when.Holds(environment, module, steps...)
	switch {
	case err != nil:
		f.Result, f.Reason = Violated, err.Error()
	case !known:
		f.Result = Undecided
	case holds:
		f.Result = Violated
	}
	return f
}

// locate sets the step of the finding unless s is nil.
func (f *Finding) locate(s *plan.Step) {
	if s == nil {
		return
	}
	f.URN = s.URN
	if s.New != nil {
		f.Source = s.New.Source
	}
}

// effective returns the steps that rules cover: all that change anything, and the deletions of cleanups.
func effective(pl *plan.Plan) (all []*plan.Step) {
	for _, s := range pl.Steps {
		if isEffective(s) {
			all = append(all, s)
		}
	}
	for _, c := range pl.Cleanups {
		all = append(all, c.Steps()...)
	}
	return all
}

// isEffective reports whether a step changes anything. Kinds that change nothing precede Create.
func isEffective(s *plan.Step) bool { return s.Kind >= plan.Create || s.ChangesOptions() }

// changesOf returns what rules know of steps. The new properties are those sent to the provider, since what the provider
// computes is not known before the call.
func changesOf(steps []*plan.Step) []query.Change {
	all := make([]query.Change, len(steps))
	for i, s := range steps {
		var old, after, options lumigl.Value
		op := s.Kind
		if s.ChangesOptions() {
			op = plan.Update
		}
		if s.Old != nil {
			old, options = s.Old.Properties(), s.Old.Options
		}
		if s.New != nil {
			after, options = propertiesOf(s.New), s.New.Options
		}
		parts, _ := s.URN.Parts()
		all[i] = query.NewChange(op.String(), string(s.URN.Type()), string(s.URN), parts.Package, parts.Environment, old, after, options)
	}
	return all
}

func propertiesOf(r *graph.Resource) lumigl.Value {
	if !r.Checked.Exists() {
		return r.Inputs
	}
	return r.Checked
}

// Watch evaluates a policy while a plan runs. A nil Watch allows everything. It is safe for concurrent use.
type Watch struct {
	policy *Policy
	plan   *plan.Plan
	mutex  sync.Mutex
	// open maps the findings that are not final to their results. unknown contains the steps with unknown inputs. final maps
	// steps to their final form.
	open    map[place]string
	unknown map[*plan.Step]bool
	final   map[*plan.Step]*plan.Step
}

// Watch returns a watch for a plan with the given findings.
func (p *Policy) Watch(pl *plan.Plan, findings []Finding) *Watch {
	if p == nil {
		return nil
	}
	w := &Watch{policy: p, plan: pl, open: map[place]string{}, unknown: map[*plan.Step]bool{}, final: map[*plan.Step]*plan.Step{}}
	for _, f := range findings {
		w.open[f.at] = f.Result
	}
	for _, s := range pl.Steps {
		if s.New != nil && isEffective(s) && s.IsProvisioned() && !expr.IsKnown(propertiesOf(s.New)) {
			w.unknown[s] = true
		}
	}
	return w
}

// Before evaluates the policy before a step of the plan takes place in its final form. Rules that cover all steps are decided
// at the latest when no step has unknown inputs anymore. It returns the advisory rules that turned out to be violated, and a
// *[plan.Error] if a mandatory one is.
func (w *Watch) Before(s, final *plan.Step) (advice []Finding, err error) {
	if w == nil {
		return nil, nil
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.final[s] = final
	delete(w.unknown, s)
	var refused []Finding
	for _, r := range w.policy.rules {
		var f Finding
		at := place{r, s}
		switch {
		case r.when.OverAll:
			if at.step = nil; w.open[at] == "" {
				continue
			}
			if f = r.evaluate(w.plan.Environment, w.plan.Module, changesOf(w.steps())...); f.Result == Undecided && len(w.unknown) > 0 {
				continue
			}
		case isEffective(final):
			f = r.evaluate(w.plan.Environment, w.plan.Module, changesOf([]*plan.Step{final})...)
		}
		f.locate(final)
		if f.Result == Undecided {
			f.Result, f.Reason = Violated, "it depends on a value that is still unknown"
		}
		if f.Result == Violated && !f.IsAdvisory() {
			refused = append(refused, f)
		} else if f.Result == Violated && w.open[at] == Undecided {
			advice = append(advice, f)
		}
		if f.IsAdvisory() || f.Result != Violated {
			delete(w.open, at)
		}
	}
	return advice, Refusal(refused)
}

// steps returns the steps of the plan, in their final form where that is known.
func (w *Watch) steps() (all []*plan.Step) {
	for _, s := range effective(w.plan) {
		if final := w.final[s]; final == nil {
			all = append(all, s)
		} else if isEffective(final) {
			all = append(all, final)
		}
	}
	return all
}
