// Package policy evaluates the rules of a Lumi.policy.yaml on plans.
//
//	p, err := policy.Parse(src, file)
//	findings := p.Evaluate(plan)          // violated rules, and rules that depend on unknown values
//	if err := policy.Refusal(findings); err != nil {
//		return err // a mandatory rule is violated
//	}
//	w := p.Watch(plan)
//	advice, err := w.Before(step, again) // before each call, with final inputs
//
// A rule is evaluated either for each step of a plan that changes something, or once for all of them. A rule that cannot
// be evaluated is violated. See docs/policy.md.
package policy

import (
	"errors"
	"regexp"

	"go.yaml.in/yaml/v4"

	"github.com/lumi-idl/lumi/internal/yamltree"
	"github.com/lumi-idl/lumi/lumigl/query"
)

// FileName is the name of the policy, which is next to Lumi.yaml. TestFileName is the name of its test cases.
const (
	FileName     = "Lumi.policy.yaml"
	TestFileName = "Lumi.policy.test.yaml"
)

// Policy is a list of rules. A nil Policy has none.
type Policy struct {
	rules []*rule
	text  string
}

type rule struct {
	name, message string
	advisory      bool
	when          *query.Rule
}

// Text returns the source of the policy, or "".
func (p *Policy) Text() string {
	if p == nil {
		return ""
	}
	return p.text
}

var ruleName = regexp.MustCompile(`^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$`)

// Parse parses src, the content of the named file. It returns a *workspace.Error with all problems in source order.
func Parse(src []byte, file string) (*Policy, error) {
	r := &reader{src: src}
	p := &Policy{text: string(src)}
	lines := map[string]int{}
	for _, item := range r.items("rules") {
		if one := r.rule(item, lines); one != nil {
			p.rules = append(p.rules, one)
		}
	}
	if err := r.err(file); err != nil {
		return nil, err
	}
	return p, nil
}

// rule reads a rule. lines maps the names of earlier rules to their lines.
func (r *reader) rule(n *yaml.Node, lines map[string]int) *rule {
	found := r.object(n, "a rule", "name", "when", "level", "message")
	if found == nil {
		return nil
	}
	one := &rule{name: r.text(n, found, "name"), message: r.text(n, found, "message")}
	switch line := lines[one.name]; {
	case one.name == "":
	case !ruleName.MatchString(one.name):
		r.add(found["name"], "name must be lowercase words joined by -, such as no-public-buckets")
	case line > 0:
		r.add(found["name"], "rule %s is already defined on line %d", one.name, line)
	default:
		lines[one.name] = found["name"].Line
	}
	if found["level"] != nil {
		level := r.text(n, found, "level")
		if one.advisory = level == advisory; level != "" && level != advisory && level != mandatory {
			r.add(found["level"], "level must be mandatory or advisory")
		}
	}
	if source := r.text(n, found, "when"); source != "" {
		var err error
		if one.when, err = query.CompileRule(source); err != nil {
			r.addExpression(found["when"], err)
		}
	}
	return one
}

// addExpression adds the errors in the expression of a node, which may be joined.
func (r *reader) addExpression(n *yaml.Node, err error) {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range all.Unwrap() {
			r.addExpression(n, one)
		}
		return
	}
	at, message := *n, err.Error()
	if wrong, ok := errors.AsType[*query.ExpressionError](err); ok {
		at.Line, at.Column = yamltree.Within(r.src, n, wrong.Line, wrong.Column)
		message = wrong.Message
	}
	r.add(&at, "%s", message)
}
