package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/query"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Result is the result of a test case.
type Result struct {
	Case   string `json:"case"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Passed bool   `json:"passed"`
	// Failures explains which rules have other results than expected.
	Failures []string `json:"failures,omitempty"`
}

// testCase is a plan with the expected results of rules.
type testCase struct {
	name, environment, module string
	steps                     []query.Change
	expect                    []expectation
}

type expectation struct {
	rule *rule
	want string
}

// failed is the expected result of a rule that cannot be evaluated, which a plan shows as violated.
const failed = "error"

// Test runs the test cases in src, the content of the named file. It returns a *workspace.Error with all problems of the
// file in source order.
func (p *Policy) Test(src []byte, file string) (results []Result, err error) {
	r := &reader{src: src}
	for _, n := range r.items("cases") {
		if c := r.testCase(p, n); c != nil {
			result := Result{Case: c.name, Line: n.Line, Column: n.Column, Failures: c.failures()}
			result.Passed = len(result.Failures) == 0
			results = append(results, result)
		}
	}
	return results, r.err(file)
}

// failures evaluates the rules of a test case. The result of a rule about single steps is the worst one.
func (c *testCase) failures() (all []string) {
	for _, e := range c.expect {
		got := Finding{Result: Passed}
		for i := range c.steps {
			if f := e.rule.evaluate(c.environment, c.module, c.steps[i:]...); got.Result == Passed || f.Result == Violated {
				got = f
			}
			if e.rule.when.OverAll {
				break
			}
		}
		switch {
		case got.Reason != "" && e.want != failed:
			all = append(all, fmt.Sprintf("%s: got error, want %s: the rule cannot be evaluated: %s", e.rule.name, e.want, got.Reason))
		case got.Reason == "" && got.Result != e.want:
			all = append(all, fmt.Sprintf("%s: got %s, want %s", e.rule.name, got.Result, e.want))
		}
	}
	return all
}

// testCase reads a test case, which has either a list of steps or the keys of a single one.
func (r *reader) testCase(p *Policy, n *yaml.Node) *testCase {
	found := r.object(n, "a case", append([]string{"name", "environment", "module", "steps", "expect"}, stepKeys...)...)
	if found == nil {
		return nil
	}
	c := &testCase{name: r.text(n, found, "name"), environment: r.optional(n, found, "environment"), module: r.optional(n, found, "module")}
	if found["steps"] == nil {
		c.steps = append(c.steps, r.step(c, n, found))
	} else {
		for _, key := range stepKeys {
			if found[key] != nil {
				r.add(found[key], "%s cannot be combined with steps", key)
			}
		}
		for _, item := range r.list(found["steps"], "steps") {
			if step := r.object(item, "a step", stepKeys...); step != nil {
				c.steps = append(c.steps, r.step(c, item, step))
			}
		}
	}
	if found["expect"] == nil {
		r.add(n, "expect is required")
		return c
	}
	r.expect(p, c, found["expect"])
	return c
}

// expect reads the expected results by rule.
func (r *reader) expect(p *Policy, c *testCase, n *yaml.Node) {
	var names []string
	for _, one := range p.rules {
		names = append(names, one.name)
	}
	for key, value := range r.object(n, "expect", names...) {
		want := value.Value
		if !slices.Contains([]string{Violated, Undecided, Passed, failed}, want) {
			r.add(value, "the result of %s must be violated, undecided, passed, or error", key)
		}
		c.expect = append(c.expect, expectation{p.rules[slices.Index(names, key)], want})
	}
	slices.SortFunc(c.expect, func(a, b expectation) int {
		return cmp.Compare(slices.Index(names, a.rule.name), slices.Index(names, b.rule.name))
	})
}

var stepKeys = []string{"op", "type", "urn", "old", "new", "options"}

func (r *reader) step(c *testCase, n *yaml.Node, found map[string]*yaml.Node) query.Change {
	var ops []string
	for kind := plan.Create; kind <= plan.Forget; kind++ {
		ops = append(ops, kind.String())
	}
	op := r.text(n, found, "op")
	if op != "" && !slices.Contains(ops, op) {
		r.add(found["op"], "unknown op %q; %s", op, suggest.Instead(op, ops))
	}
	values := map[string]lumigl.Value{}
	for _, key := range []string{"old", "new", "options"} {
		if v := found[key]; v != nil && v.Kind != yaml.MappingNode {
			r.add(v, "%s must be an object", key)
		} else if v != nil {
			values[key] = r.value(v)
		}
	}
	return query.NewChange(op, r.text(n, found, "type"), r.optional(n, found, "urn"), c.module, c.environment, values["old"], values["new"], values["options"])
}

// optional returns the text of a key, or "" if it is missing.
func (r *reader) optional(object *yaml.Node, found map[string]*yaml.Node, key string) string {
	if found[key] == nil {
		return ""
	}
	return r.text(object, found, key)
}

// value converts a node. The tag !secret marks a secret, and !unknown an unknown value.
func (r *reader) value(n *yaml.Node) lumigl.Value {
	switch tag := n.ShortTag(); tag {
	case "!unknown":
		return lumigl.TextOf(wire.Unknown)
	case "!secret":
		content := *n
		content.Tag, content.Style = "", n.Style&^yaml.TaggedStyle
		return lumigl.SecretOf(r.value(&content))
	case "!!map":
		var object lumigl.ObjectBuilder
		for pair := range slices.Chunk(n.Content, 2) {
			object.Set(pair[0].Value, r.value(pair[1]))
		}
		return object.Object()
	case "!!seq":
		var all []lumigl.Value
		for _, item := range n.Content {
			all = append(all, r.value(item))
		}
		return lumigl.ListOf(all...)
	case "!!null":
		return lumigl.NullValue()
	case "!!bool":
		return lumigl.BoolOf(strings.EqualFold(n.Value, "true"))
	case "!!int", "!!float":
		var f float64
		if err := n.Decode(&f); err == nil {
			if number, ok := lumigl.FloatOf(f); ok {
				return number
			}
		}
		r.add(n, "unsupported number %s", n.Value)
	case "!!str", "!!timestamp":
		return lumigl.TextOf(n.Value)
	default:
		r.add(n, "unknown tag %s; the tags are !secret and !unknown", tag)
	}
	return lumigl.NullValue()
}
