package taskgraph

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Selector selects nodes by role and tag. The zero Selector selects no nodes.
type Selector struct {
	patterns []pattern
}

type pattern struct {
	text string
	re   *regexp.Regexp // nil for names and *
	// isTag means that the pattern matches tags as well as roles.
	isTag bool
}

var everywhere = Selector{[]pattern{{text: "*"}}}

// self is the role of cross dependencies on the same node.
const self = "self"

// Tag returns the label of a node with a tag, for [Selector.Match]. The label of a role is its name.
func Tag(name string) string { return "#" + name }

// NewSelector returns a selector for a list of patterns: role names, "*", and "/regex/". A regular expression must
// match the entire role. NewSelector returns an error if a pattern is invalid.
func NewSelector(patterns ...string) (s Selector, err error) {
	for _, text := range patterns {
		if err := s.add(text); err != nil {
			return Selector{}, err
		}
	}
	return s, nil
}

func (s *Selector) add(text string) error {
	p := pattern{text: text}
	if regex, isRegex := strings.CutPrefix(text, "/"); isRegex {
		regex, closed := strings.CutSuffix(regex, "/")
		if !closed {
			return fmt.Errorf("missing / at the end of the regular expression %s", text)
		}
		var err error
		if p.re, err = regexp.Compile(regex); err != nil {
			return fmt.Errorf("invalid regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
		p.re.Longest() // otherwise, an earlier alternative could match only a part of the role
	}
	s.patterns = append(s.patterns, p)
	return nil
}

// Match reports whether the selector selects a node with the given labels: its roles, and [Tag] of its tags. "*" selects
// nodes without labels as well. A regular expression also matches its own text, which is the role of a synthetic node.
func (s Selector) Match(labels []string) bool {
	return slices.ContainsFunc(s.patterns, func(p pattern) bool {
		return p.text == "*" || slices.ContainsFunc(labels, func(label string) bool {
			name, isTag := strings.CutPrefix(label, Tag(""))
			return (p.isTag || !isTag) && (name == p.text || p.re != nil && p.re.FindString(name) == name)
		})
	})
}

// Tags returns the patterns of tags.
func (s Selector) Tags() []string {
	var all []string
	for _, p := range s.patterns {
		if p.isTag {
			all = append(all, p.text)
		}
	}
	return all
}

// Strings returns the patterns of the selector.
func (s Selector) Strings() []string {
	var all []string
	for _, p := range s.patterns {
		all = append(all, p.text)
	}
	return all
}
