package taskgraph

import (
	"maps"
	"slices"
)

// nodeAttributes lists the attributes whose expressions are evaluated for each node.
var nodeAttributes = []string{"parameters", "test_pre", "test_post"}

// Evaluate replaces expressions that are evaluated once for a run by the results of f. It returns an *[Error] with all
// problems, and keeps attributes with problems as they are.
func (e *Effective) Evaluate(f func(text string) (any, error)) error {
	var wrong Error
	for i, t := range e.Tasks {
		t.Attributes = maps.Clone(t.Attributes)
		evaluate := func(path string, old any) any {
			known, at := len(wrong.Problems), path
			fail := func(err error) {
				p := Problem{Task: t.ID, Attribute: steps(at)[0], Message: at + ": " + err.Error()}
				p.Layer = e.Origin(t.ID, p.Attribute)
				wrong.Problems = append(wrong.Problems, p)
			}
			v, err := replace(old, path, func(path string, text any) (any, error) {
				at = path
				v, err := f(text.(string))
				if err != nil {
					fail(err)
				}
				return v, nil
			})
			if err != nil {
				fail(err)
			}
			if len(wrong.Problems) > known {
				return old
			}
			return v
		}
		for _, name := range t.Names() {
			if name != "condition" && !slices.Contains(nodeAttributes, name) {
				t.Attributes[name] = evaluate(name, t.Attributes[name])
			}
		}
		if p, _ := t.Attributes["parameters"].(object); HasExpression(p["strategy"]) {
			p = maps.Clone(p)
			p["strategy"], t.Attributes["parameters"] = evaluate("parameters.strategy", p["strategy"]), p
			if HasExpression(p["strategy"]) { // it failed, and would fail again for each node
				delete(p, "strategy")
			}
		}
		e.Tasks[i] = t
	}
	if wrong.Problems != nil {
		return &wrong
	}
	return nil
}

// Values returns the attributes with expressions that are evaluated for each node, in which the results of f replace
// these expressions. f gets the path and the text of an expression. Values stops at the first error of f.
func (s *Spec) Values(f func(path, text string) (any, error)) (map[string]any, error) {
	var values map[string]any
	for _, name := range nodeAttributes {
		v := s.Source.Attributes[name]
		if !HasExpression(v) {
			continue
		}
		v, err := replace(v, name, func(path string, text any) (any, error) { return f(path, text.(string)) })
		if err != nil {
			return nil, err
		}
		if values == nil {
			values = map[string]any{}
		}
		values[name] = v
	}
	return values, nil
}

// With returns a spec with other values of attributes, which [Spec.Values] has returned.
func (s *Spec) With(values map[string]any) (*Spec, error) {
	t := Task{s.ID, maps.Clone(s.Source.Attributes)}
	maps.Copy(t.Attributes, values)
	other, err := t.Spec()
	if err == nil {
		other.Roles = s.Roles // may be inherited
	}
	return other, err
}
