package policy

import (
	"fmt"
	"slices"
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
	steps := pl.EffectiveSteps()
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

// changeOf returns what rules know of a step. The new properties are those sent to the provider, since what the provider
// computes is not known before the call.
func changeOf(s *plan.Step) query.Change {
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
	return query.NewChange(op.String(), string(s.URN.Type()), string(s.URN), parts.Package, parts.Environment, old, after, options)
}

func changesOf(steps []*plan.Step) (all []query.Change) {
	for _, s := range steps {
		all = append(all, changeOf(s))
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
	// open contains the findings that are not final, and unknown the steps with unknown inputs.
	open    map[place]Finding
	unknown map[*plan.Step]bool
	// changes contains the steps that rules cover, in their final form where that is known, or nil if that changes nothing.
	// numbers maps steps to their indices.
	changes []query.Change
	numbers map[*plan.Step]int
}

// Watch returns a watch for a plan with the given findings.
func (p *Policy) Watch(pl *plan.Plan, findings []Finding) *Watch {
	if p == nil {
		return nil
	}
	w := &Watch{policy: p, plan: pl, open: map[place]Finding{}, unknown: map[*plan.Step]bool{}, numbers: map[*plan.Step]int{}}
	for _, f := range findings {
		w.open[f.at] = f
	}
	for i, s := range pl.EffectiveSteps() {
		w.changes, w.numbers[s] = append(w.changes, changeOf(s)), i
		if s.New != nil && s.IsProvisioned() && !expr.IsKnown(propertiesOf(s.New)) {
			w.unknown[s] = true
		}
	}
	return w
}

// Before evaluates the policy before a step of the plan takes place in its final form. Rules that cover all steps are
// evaluated again when an unknown step becomes known, and decided at the latest when no step has unknown inputs anymore. It
// returns the advisory rules that turned out to be violated, and a *[plan.Error] if a mandatory one is.
func (w *Watch) Before(s, final *plan.Step) (advice []Finding, err error) {
	if w == nil {
		return nil, nil
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	var change query.Change
	if final.IsEffective() {
		change = changeOf(final)
	}
	if i, ok := w.numbers[s]; ok {
		w.changes[i] = change
	}
	wasUnknown := w.unknown[s]
	delete(w.unknown, s)
	var refused []Finding
	for _, r := range w.policy.rules {
		var f Finding
		at := place{r, s}
		switch {
		case r.when.OverAll:
			at.step = nil
			if f = w.open[at]; f.Result == Undecided && wasUnknown {
				all := slices.DeleteFunc(slices.Clone(w.changes), func(c query.Change) bool { return c == nil })
				f = r.evaluate(w.plan.Environment, w.plan.Module, all...)
			}
			if f.Result == Undecided && len(w.unknown) > 0 {
				continue
			}
		case change != nil:
			f = r.evaluate(w.plan.Environment, w.plan.Module, change)
		}
		if f.Result == Undecided {
			f.Result, f.Reason = Violated, "it depends on a value that is still unknown"
		}
		wasUndecided := w.open[at].Result == Undecided
		w.open[at] = f
		f.locate(final)
		switch {
		case f.Result != Violated:
		case !f.IsAdvisory():
			refused = append(refused, f)
		case wasUndecided:
			advice = append(advice, f)
		}
	}
	return advice, Refusal(refused)
}
