package taskgraph

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lumi-idl/lumi/lang/yaql"
	"github.com/lumi-idl/lumi/taskgraph/condition"
)

const (
	// DefaultEvent is the default event of runs and of the attribute reexecute_on.
	DefaultEvent = "deploy_changes"
	defaultTest  = time.Minute
	maxSeconds   = 366 * 24 * 60 * 60
)

var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$`)

// CheckName returns an error if a name is invalid. kind describes the name in the message, such as "task name".
func CheckName(kind, name string) error {
	if !validName.MatchString(name) {
		return fmt.Errorf("invalid %s %q; use %s", kind, name, "a letter or digit, then up to 127 letters, digits, _, -, and .")
	}
	return nil
}

func checkTaskName(name string) error { return CheckName("task name", name) }

// checkReference returns an error unless text is the name of a task or a regular expression over names, in slashes.
func checkReference(text string) error {
	if strings.HasPrefix(text, "/") {
		return new(Selector).add(text)
	}
	return checkTaskName(text)
}

// Spec decodes the attributes of the task. A null attribute is treated as missing. It returns an *[Error] with all
// problems.
func (t Task) Spec() (*Spec, error) {
	var problems []Problem
	s := t.spec(t.reader(&problems))
	if problems != nil {
		return nil, &Error{Problems: problems}
	}
	return s, nil
}

func (t Task) spec(r reader) *Spec {
	a := t.Attributes
	if err := checkTaskName(t.ID); err != nil {
		r("id", err.Error())
	}
	r.expressions(a)
	roles, name := a["roles"], "roles"
	if groups := a["groups"]; groups != nil {
		if roles != nil {
			r("groups", "roles and groups are synonyms; use only one of them")
		}
		roles, name = groups, "groups"
	}
	s := &Spec{
		Source: t, ID: t.ID, Version: r.version(a["version"]), Type: r.optional(a["type"], "type", nil), Roles: r.nodes(roles, name, a["tags"]),
		Tasks: r.texts(a["tasks"], "tasks", checkTaskName), Requires: r.texts(a["requires"], "requires", checkReference),
		RequiredFor:  r.texts(a["required_for"], "required_for", checkReference),
		CrossDepends: r.cross(a["cross_depends"], "cross_depends"), CrossDependedBy: r.cross(a["cross_depended_by"], "cross_depended_by"),
		Condition:   r.condition(a["condition"]),
		ReexecuteOn: r.texts(a["reexecute_on"], "reexecute_on", nil), RefreshOn: r.texts(a["refresh_on"], "refresh_on", nil),
		Once: r.isFalse(a["idempotent"], "idempotent"), Tolerant: r.isFalse(a["fail_on_error"], "fail_on_error"),
		TestPre: r.test(a["test_pre"], "test_pre"), TestPost: r.test(a["test_post"], "test_post"),
		Parameters: as[object](r, a["parameters"], "parameters", "an object"),
	}
	if s.ReexecuteOn == nil {
		s.ReexecuteOn = []string{DefaultEvent}
	}
	s.Timeout = r.seconds(s.Parameters["timeout"], "parameters.timeout", 0)
	s.Retries = r.whole(s.Parameters["retries"], "parameters.retries", 0)
	s.Interval = r.seconds(s.Parameters["interval"], "parameters.interval", 0)
	strategy := as[object](r, s.Parameters["strategy"], "parameters.strategy", "an object with type and amount")
	s.Strategy = r.share(strategy["amount"], "parameters.strategy.amount", 1)
	if r.oneOf(strategy["type"], "parameters.strategy.type", "parallel", "one_by_one") == "one_by_one" {
		s.Strategy, s.Rolling = Share{Number: 1}, true
	}
	if tolerance := a["fault_tolerance"]; tolerance != nil {
		share := r.share(tolerance, "fault_tolerance", 0)
		s.FaultTolerance = &share
	}
	return s
}

// reader reads attributes. The function reports a problem with the value at a path, such as "cross_depends[0].policy".
type reader func(path, message string)

func (t Task) reader(problems *[]Problem) reader {
	return func(path, message string) {
		*problems = append(*problems, Problem{Task: t.ID, Attribute: steps(path)[0], Message: message})
	}
}

func steps(path string) []string {
	return strings.FieldsFunc(path, func(c rune) bool { return strings.ContainsRune(".[]", c) })
}

// fail reports that the value at a path must be something else, as described by the arguments.
func (r reader) fail(path, format string, args ...any) {
	r(path, path+" must be "+fmt.Sprintf(format, args...))
}

// as returns v as a T, or the zero T if v is null. If v has another type, it reports that kind was expected and returns
// the zero T.
func as[T any](r reader, v any, path, kind string) T {
	x, ok := v.(T)
	if v != nil && !ok {
		r.fail(path, "%s", kind)
	}
	return x
}

func (r reader) isFalse(v any, path string) bool {
	return !as[bool](r, v, path, "true or false") && v != nil
}

func (r reader) text(v any, path string, check func(string) error) string {
	text, _ := v.(string)
	switch {
	case IsExpression(v):
	case text == "":
		r.fail(path, "a non-empty string")
	case check != nil:
		if err := check(text); err != nil {
			r(path, path+": "+err.Error())
		}
	}
	return text
}

func (r reader) optional(v any, path string, check func(string) error) string {
	if v == nil {
		return ""
	}
	return r.text(v, path, check)
}

// texts returns a list of strings. A single string becomes a list; null becomes nil.
func (r reader) texts(v any, path string, check func(string) error) []string {
	all := []string{}
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		all = append(all, r.text(v, path, check))
	case []any:
		for i, item := range v {
			if text := r.text(item, fmt.Sprintf("%s[%d]", path, i), check); !IsExpression(item) {
				all = append(all, text)
			}
		}
	default:
		if !IsExpression(v) {
			r.fail(path, "a string or a list of strings")
		}
	}
	return all
}

func (r reader) selector(v any, path string) Selector {
	if v == nil {
		return everywhere
	}
	var s Selector
	r.texts(v, path, s.add)
	return s
}

// nodes returns a selector for the nodes that have one of the roles or one of the tags.
func (r reader) nodes(roles any, name string, tags any) Selector {
	if tags == nil {
		return r.selector(roles, name)
	}
	tagged := r.selector(tags, "tags")
	for i := range tagged.patterns {
		tagged.patterns[i].isTag = true
	}
	if roles != nil {
		tagged.patterns = append(r.selector(roles, name).patterns, tagged.patterns...)
	}
	return tagged
}

func (r reader) cross(v any, path string) []Cross {
	var all []Cross
	if IsExpression(v) {
		return nil
	}
	for i, item := range as[[]any](r, v, path, "a list of objects with name, role, and policy") {
		at := fmt.Sprintf("%s[%d]", path, i)
		o, ok := item.(object)
		if IsExpression(item) {
			continue
		} else if !ok {
			r.fail(at, "an object with name, role, and policy")
			continue
		}
		c := Cross{
			Name: r.text(o["name"], at+".name", checkReference), Role: r.selector(o["role"], at+".role"), Self: o["role"] == self,
			Any: r.oneOf(o["policy"], at+".policy", "all", "any") == "any",
		}
		if !c.Self && slices.Contains(c.Role.Strings(), self) {
			r.fail(at+".role", "either self alone or roles")
		}
		if !HasExpression(o) {
			all = append(all, c)
		}
	}
	return all
}

func (r reader) test(v any, path string) *Test {
	if v == nil || IsExpression(v) {
		return nil
	}
	o := as[object](r, v, path, "an object with cmd, timeout, and retries")
	return &Test{
		Cmd: r.text(o["cmd"], path+".cmd", nil), Timeout: r.seconds(o["timeout"], path+".timeout", defaultTest),
		Retries: r.whole(o["retries"], path+".retries", 0),
	}
}

func (r reader) oneOf(v any, path, a, b string) string {
	text, _ := v.(string)
	if v != nil && text != a && text != b && !IsExpression(v) {
		r.fail(path, "%s or %s", a, b)
	}
	return text
}

func (r reader) version(v any) string {
	if number, ok := v.(json.Number); ok {
		return number.String()
	}
	return as[string](r, v, "version", "a string or a number")
}

func (r reader) whole(v any, path string, least float64) int {
	number, _ := v.(json.Number)
	n, err := number.Float64() // 1.0 counts as a whole number
	if v != nil && !IsExpression(v) && (err != nil || n < least || n > 10_000 || n != math.Trunc(n)) {
		r.fail(path, "a whole number from %v to 10000", least)
	}
	return int(n)
}

func (r reader) seconds(v any, path string, missing time.Duration) time.Duration {
	if v == nil || IsExpression(v) {
		return missing
	}
	number, _ := v.(json.Number)
	n, err := number.Float64()
	if err != nil || n < 0 || n > maxSeconds {
		r.fail(path, "a number of seconds from 0 to %d", maxSeconds)
	}
	return time.Duration(n * float64(time.Second))
}

func (r reader) condition(v any) string {
	if is, ok := v.(bool); ok {
		return fmt.Sprint(is)
	}
	if o, _ := v.(object); IsExpression(v) {
		text, _ := o[expressionKey].(string)
		return text
	}
	return r.optional(v, "condition", func(text string) (err error) {
		if condition.Is(text) {
			_, err = condition.Parse(text)
		} else {
			_, err = yaql.Compile(text)
		}
		return err
	})
}

// expressions reports invalid expressions in the attributes of a task.
func (r reader) expressions(attributes object) {
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		_, _ = replace(attributes[name], name, func(path string, v any) (any, error) {
			text, ok := v.(string)
			if path == "type" {
				r(path, "type must not be an expression")
			} else if !ok {
				r(path, path+" must have yaql_exp, a string, as its only key")
			} else if _, err := yaql.Compile(text); err != nil {
				r(path, path+": "+err.Error())
			}
			return nil, nil
		})
	}
}
