package taskgraph

import (
	"fmt"
	"slices"
	"strings"
)

// checkReference returns an error unless text is the name of a task or a regular expression over names, in slashes.
func checkReference(text string) error {
	if strings.HasPrefix(text, "/") {
		return new(Selector).add(text)
	}
	return checkTaskName(text)
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
