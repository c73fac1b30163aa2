package taskgraph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/internal/suggest"
)

// Check decodes and checks effective tasks. Group members without roles inherit the roles of their groups. Regular
// expressions in dependencies are replaced with the names of the tasks that they match. Check returns an *[Error] with
// all problems: invalid attributes, references to unknown tasks, and cycles, including cycles across nodes. If types is
// not nil, unknown types (for which ok is false) and invalid parameters are errors as well.
func Check(e *Effective, types func(name string) (check func(parameters map[string]any) []string, ok bool)) ([]*Spec, error) {
	c := checker{groups: map[string][]*Spec{}, free: map[string]bool{}, known: map[string]bool{}, matches: map[string][]string{}}
	specs, invalid := make([]*Spec, len(e.Tasks)), make([][]Problem, len(e.Tasks))
	for i, t := range e.Tasks {
		s := t.spec(t.reader(&invalid[i]))
		a := t.Attributes
		specs[i], c.known[t.ID], c.free[t.ID] = s, true, a["roles"] == nil && a["groups"] == nil && a["tags"] == nil
		c.ids = append(c.ids, t.ID)
		for _, member := range s.Tasks {
			c.groups[member] = append(c.groups[member], s)
		}
	}
	for i, s := range specs {
		c.task, c.problems = s.ID, append(c.problems, invalid[i]...)
		if types != nil {
			c.checkType(s, types)
		}
		c.resolve(s)
		c.checkNames(s)
		c.inherit(s)
	}
	if c.matched > maxExpanded {
		return nil, &Error{Problems: []Problem{{Message: "too many tasks and regular expressions over their names; use names or fewer expressions"}}}
	}
	x := Expand(specs, syntheticNodes(specs))
	c.problems = append(c.problems, x.Cycles(func(v Vertex) string { return v.Task.ID })...)
	for i := range c.problems {
		p := &c.problems[i]
		p.Layer = cmp.Or(e.Origin(p.Task, p.Attribute), e.Origin(p.Task, "id"))
	}
	if c.problems != nil {
		return nil, &Error{Problems: c.problems}
	}
	return specs, nil
}

type checker struct {
	ids    []string
	known  map[string]bool    // IDs of all tasks
	groups map[string][]*Spec // groups of each task, by task ID
	free   map[string]bool    // tasks that may still inherit roles
	// matches lists the tasks that a regular expression matches. matched counts comparisons and matches.
	matches map[string][]string
	matched int
	// task is the ID of the task being checked.
	task     string
	problems []Problem
}

func (c *checker) fail(attribute, format string, args ...any) {
	c.problems = append(c.problems, Problem{Task: c.task, Attribute: attribute, Message: fmt.Sprintf(format, args...)})
}

// typeNames lists the types suggested for unknown types.
var typeNames = []string{
	"shell", "upload_file", "copy_files", "sync", "reboot", "puppet", StageType, GroupType, AnchorType, SkippedType,
}

func (c *checker) checkType(s *Spec, types func(string) (func(map[string]any) []string, bool)) {
	check, ok := types(s.Type)
	switch {
	case s.Type == "":
		c.fail("type", "missing type, such as shell")
	case !ok:
		c.fail("type", "unknown type %q%s", s.Type, suggest.DidYouMean(s.Type, typeNames))
	case s.Parameters == nil && s.Source.Attributes["parameters"] != nil: // reported as no object
	default:
		for _, message := range check(s.Parameters) {
			c.fail("parameters", "%s", message)
		}
	}
	if s.Type != GroupType && s.Type != SkippedType && len(s.Tasks) > 0 {
		c.fail("tasks", "only a task of type group can have tasks")
	}
	if s.Type != GroupType && s.FaultTolerance != nil {
		c.fail("fault_tolerance", "only a task of type group can have fault_tolerance; other tasks have fail_on_error")
	}
}

// resolve replaces the regular expressions in the references of a task with the names of the tasks that they match.
func (c *checker) resolve(s *Spec) {
	name := func(text *string) *string { return text }
	cross := func(x *Cross) *string { return &x.Name }
	s.Requires, s.RequiredFor = resolved(c, "requires", s.Requires, name), resolved(c, "required_for", s.RequiredFor, name)
	s.CrossDepends = resolved(c, "cross_depends", s.CrossDepends, cross)
	s.CrossDependedBy = resolved(c, "cross_depended_by", s.CrossDependedBy, cross)
}

func resolved[T any](c *checker, attribute string, references []T, name func(*T) *string) []T {
	if !slices.ContainsFunc(references, func(x T) bool { return strings.HasPrefix(*name(&x), "/") }) {
		return references
	}
	all := []T{}
	for _, x := range references {
		text := *name(&x)
		if !strings.HasPrefix(text, "/") {
			all = append(all, x)
			continue
		}
		ids, valid := c.match(text)
		before := len(all)
		for _, id := range ids {
			if id != c.task { // a task cannot depend on itself
				*name(&x) = id
				all = append(all, x)
			}
		}
		if valid && len(all) == before && c.matched <= maxExpanded {
			near := ""
			if longer := strings.TrimSuffix(text, "/") + ".*/"; c.matchesOther(longer) {
				near = fmt.Sprintf("; did you mean %s?", longer)
			}
			c.fail(attribute, "%s: the name of no other task matches %s as a whole%s", attribute, text, near)
		}
	}
	return all
}

func (c *checker) matchesOther(text string) bool {
	ids, _ := c.match(text)
	return len(ids) > 1 || len(ids) == 1 && ids[0] != c.task
}

// match returns the IDs of the tasks that a regular expression matches. valid is false for an invalid expression, which
// is reported elsewhere.
func (c *checker) match(text string) (ids []string, valid bool) {
	ids, known := c.matches[text]
	if !known {
		s, err := NewSelector(text)
		if err != nil {
			return nil, false
		}
		if c.matched += len(c.ids); c.matched > maxExpanded {
			return nil, true
		}
		for _, id := range c.ids {
			if s.Match([]string{id}) {
				ids = append(ids, id)
			}
		}
		c.matches[text] = ids
	}
	if c.matched += len(ids); c.matched > maxExpanded {
		return nil, true
	}
	return ids, true
}

// checkNames reports references to unknown tasks, with suggestions.
func (c *checker) checkNames(s *Spec) {
	for _, l := range s.links() {
		if c.known[l.Name] || !validName.MatchString(l.Name) {
			continue
		}
		near := ""
		if len(c.problems) < maxSuggestions {
			near = suggest.DidYouMean(l.Name, c.ids)
		}
		c.fail(l.attribute, "%s: unknown task %s%s", l.attribute, l.Name, near)
	}
}

// inherit sets the roles of a task without roles to the roles of its groups. It returns the roles of the task.
func (c *checker) inherit(s *Spec) Selector {
	if groups := c.groups[s.ID]; c.free[s.ID] && len(groups) > 0 {
		c.free[s.ID] = false // groups may contain each other
		var roles Selector
		for _, g := range groups {
			roles.patterns = append(roles.patterns, c.inherit(g).patterns...)
		}
		s.Roles = roles
	}
	return s.Roles
}

const (
	// maxExpanded limits the number of vertices and edges on synthetic nodes. For larger graphs, only cycles on real
	// nodes are found. It also limits the work for regular expressions over task names.
	maxExpanded = 1_000_000
	// maxSuggestions limits the number of searches for similar names.
	maxSuggestions = 100
)

// syntheticNodes returns the roles of artificial nodes on which every possible cycle shows: one node per role or
// regular expression, and one node without roles.
func syntheticNodes(specs []*Spec) [][]string {
	var patterns []pattern
	size := len(specs)
	for _, s := range specs {
		patterns = append(patterns, s.Roles.patterns...)
		for _, l := range s.links() {
			size++
			patterns = append(patterns, l.Role.patterns...)
		}
	}
	nodes, seen := [][]string{nil}, map[string]bool{"*": true}
	for _, p := range patterns {
		if !seen[p.text] && len(nodes)*size < maxExpanded {
			nodes = append(nodes, []string{p.text})
		}
		seen[p.text] = true
	}
	return nodes
}
