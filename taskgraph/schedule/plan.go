package schedule

import (
	"fmt"
	"slices"
)

// maxNamed is the maximum number of items of one task that are listed individually.
const maxNamed = 3

// Waits returns the names of the dependencies of an item: it waits for everything in all, and for one element of each
// group in some. Large numbers of items of one task are summarized, as in "install on 100 nodes". Items that are not
// chosen are replaced by their own dependencies.
func (s *Schedule) Waits(item int) (all []string, some [][]string) {
	edges := slices.Clone(s.Graph.Out(int32(item)))
	slices.Sort(edges)
	known := map[string]bool{}
	for _, to := range slices.Compact(edges) {
		switch names := s.names(s.chosen(to)); {
		case len(names) == 0:
		case s.Any[to]:
			some = append(some, names)
		default:
			for _, name := range names { // several edges may lead to one chosen item
				if !known[name] {
					known[name], all = true, append(all, name)
				}
			}
		}
	}
	return all, some
}

// chosen returns the chosen items nearest to a vertex: itself, or those that it depends on.
func (s *Schedule) chosen(v int32) (all []int32) {
	if int(v) < len(s.Items) && s.Items[v].Skip != ByChoice {
		return []int32{v}
	}
	all, known := s.nearest[v]
	if known {
		return all
	}
	var parts [][]int32
	for _, to := range s.Graph.Out(v) {
		part := s.chosen(to)
		if n := len(parts); len(part) > 0 && (n == 0 || &part[0] != &parts[n-1][0]) {
			parts = append(parts, part)
		}
	}
	all = slices.Concat(parts...)
	slices.Sort(all)
	all = slices.Compact(all)
	for _, part := range parts {
		if len(part) == len(all) {
			all = part // Long chains share one slice.
		}
	}
	if s.nearest == nil {
		s.nearest = map[int32][]int32{}
	}
	s.nearest[v] = all
	return all
}

// names returns the names of items, which are ordered by task.
func (s *Schedule) names(items []int32) (names []string) {
	for len(items) > 0 {
		task, n := s.Items[items[0]].Task, 1
		for n < len(items) && s.Items[items[n]].Task == task {
			n++
		}
		if n > maxNamed {
			names = append(names, fmt.Sprintf("%s on %d nodes", task.ID, n))
		} else {
			for _, i := range items[:n] {
				names = append(names, s.Items[i].Name())
			}
		}
		items = items[n:]
	}
	return names
}
