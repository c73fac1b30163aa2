package graph

import (
	"fmt"
	"slices"
	"strings"
)

// Bind binds each use of v to the newest reachable version that satisfies it. It returns a *[RefusedError] if a use has
// no such version, or if the bindings would create a dependency cycle between modules. Versions pending cleanup count
// toward cycles.
func (g *Graph) Bind(v *Version) ([]Binding, error) {
	var bound []Binding
	var problems []string
	for i, e := range v.Uses {
		b, problem := g.bind(Binding{From: v.VersionID, Edge: e, place: i})
		if problem != "" {
			problems = append(problems, problem)
		}
		bound = append(bound, b)
	}
	if circle := g.Circle(v.Module, map[string][]string{v.Module: v.uses()}); circle != "" {
		problems = append(problems, circle)
	}
	if problems != nil {
		return nil, &RefusedError{Problems: problems}
	}
	return bound, nil
}

func (g *Graph) bind(b Binding) (bound Binding, problem string) {
	use := fmt.Sprintf("%s uses %s.%s", b.From.Module, b.Edge.Module, b.Edge.Name)
	for _, to := range g.Kept(b.Edge.Module) {
		answer := to.Fulfills(b.Edge.Constraint)
		if answer.Reason == "" {
			b.Edge.To, b.Edge.Broken, b.Unchecked = to.VersionID, "", answer.Unknown
			return b, ""
		}
		if problem == "" {
			problem = fmt.Sprintf("%s, but %s is incompatible: %s", use, to, answer.Reason)
		}
	}
	if problem == "" {
		problem = fmt.Sprintf("%s, but module %s does not exist: deploy %[2]s first", use, b.Edge.Module)
	}
	return b, problem
}

// Uses returns the names of the modules used directly by any version of a module, sorted.
func (g *Graph) Uses(module string) []string {
	var used []string
	for _, v := range g.versions[module] {
		used = append(used, v.uses()...)
	}
	slices.Sort(used)
	return slices.Compact(used)
}

func (v *Version) uses() []string {
	used := make([]string, len(v.Uses))
	for i, e := range v.Uses {
		used[i] = e.Module
	}
	return used
}

// Circle returns a description of a shortest dependency cycle through a module, such as "dependency cycle between
// modules: a uses b, b uses a", or "" if there is none. The map further holds additional uses by module.
func (g *Graph) Circle(module string, further map[string][]string) string {
	user := map[string]string{}
	for next := []string{module}; len(next) > 0; next = next[1:] {
		for _, used := range slices.Concat(further[next[0]], g.Uses(next[0])) {
			if _, seen := user[used]; !seen {
				user[used] = next[0]
				next = append(next, used)
			}
		}
	}
	if user[module] == "" {
		return ""
	}
	var uses []string
	for at := module; len(uses) == 0 || at != module; at = user[at] {
		uses = append(uses, user[at]+" uses "+at)
	}
	slices.Reverse(uses)
	return "dependency cycle between modules: " + strings.Join(uses, ", ")
}
