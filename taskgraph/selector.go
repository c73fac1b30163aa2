package taskgraph

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Selector picks nodes by their roles. The zero Selector picks none.
type Selector struct {
	patterns []pattern
}

type pattern struct {
	text string
	re   *regexp.Regexp // nil for a name and *
}

// NewSelector returns a selector of patterns: names of roles, "/regex/" for those that it matches as a whole, and "*".
func NewSelector(patterns ...string) (Selector, error) {
	var s Selector
	for _, text := range patterns {
		p := pattern{text: text}
		if len(text) > 1 && strings.HasPrefix(text, "/") && strings.HasSuffix(text, "/") {
			re, err := regexp.Compile("^(?:" + text[1:len(text)-1] + ")$")
			if err != nil {
				return Selector{}, fmt.Errorf("invalid regular expression %s", text)
			}
			p.re = re
		}
		s.patterns = append(s.patterns, p)
	}
	return s, nil
}

// Match reports whether the selector picks a node with some roles. "*" picks nodes without roles, too.
func (s Selector) Match(roles []string) bool {
	return slices.ContainsFunc(s.patterns, func(p pattern) bool {
		return p.text == "*" || slices.ContainsFunc(roles, func(role string) bool {
			return role == p.text || p.re != nil && p.re.MatchString(role)
		})
	})
}

// Strings returns the patterns.
func (s Selector) Strings() []string {
	var all []string
	for _, p := range s.patterns {
		all = append(all, p.text)
	}
	return all
}
