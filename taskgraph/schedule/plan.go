package schedule

import (
	"fmt"
	"slices"
)

// maxNamed is the maximum number of items of one task that are listed individually.
const maxNamed = 3

// Waits returns the names of the dependencies of an item: it waits for everything in all, and for one element of each
// group in some. Large numbers of items of one task are summarized, as in "install on 100 nodes".
func (s *Schedule) Waits(item int) (all []string, some [][]string) {
	edges := slices.Clone(s.Graph.Out(int32(item)))
	slices.Sort(edges)
	for _, to := range slices.Compact(edges) {
		switch {
		case int(to) < len(s.Items):
			all = append(all, s.Items[to].Name())
		case s.Any[to]:
			some = append(some, s.names(s.Graph.Out(to)))
		default:
			all = append(all, s.names(s.Graph.Out(to))...)
		}
	}
	return all, some
}

// names returns the names of a join's dependencies. All of them are items of one task.
func (s *Schedule) names(items []int32) (names []string) {
	if len(items) > maxNamed {
		return []string{fmt.Sprintf("%s on %d nodes", s.Items[items[0]].Task.ID, len(items))}
	}
	for _, i := range items {
		names = append(names, s.Items[i].Name())
	}
	return names
}
