package schedule

import "github.com/lumi-idl/lumi/taskgraph"

// isWindow reports whether a task is a group that limits its members.
func isWindow(t *taskgraph.Spec) bool {
	return t.Type == taskgraph.GroupType && (t.Strategy != taskgraph.Share{} || t.FaultTolerance != nil)
}

// members returns the members of a group, including the members of groups in it.
func members(group *taskgraph.Spec, specs map[string]*taskgraph.Spec) (all []*taskgraph.Spec) {
	seen := map[string]bool{group.ID: true}
	for at, open := -1, group; ; open = all[at] {
		for _, id := range open.Tasks {
			if t := specs[id]; t != nil && !seen[id] {
				seen[id], all = true, append(all, t)
			}
		}
		if at++; at == len(all) {
			return all
		}
	}
}
