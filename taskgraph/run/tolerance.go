package run

import (
	"slices"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/taskgraph/schedule"
)

// forgives reports whether the failure that made v end does not affect its dependent d, because it is tolerated and d
// is on another node.
func (x *execution) forgives(v, d int32) bool {
	blame, items := x.vertices[v].blame-1, x.schedule.Items
	if blame < 0 || !x.windows.forgiven[blame] || int(v) >= len(items) || items[v].Node != items[blame].Node {
		return false
	}
	return int(d) >= len(items) || items[d].Node != items[v].Node
}

// own returns the blame of a dependency of d that is on the same node and has failed, which is tolerated, or 0. Joins
// pass on failures only if they are not tolerated.
func (x *execution) own(d int32) int32 {
	items := x.schedule.Items
	if int(d) >= len(items) || len(x.windows.forgiven) == 0 {
		return 0
	}
	for _, join := range x.schedule.Graph.Out(d) {
		if int(join) < len(items) || x.schedule.Any[join] {
			continue
		}
		for _, i := range x.schedule.Graph.Out(join) {
			if v := &x.vertices[i]; items[i].Node == items[d].Node && v.status != good && v.blame != 0 {
				return v.blame
			}
		}
	}
	return 0
}

// follow handles the failure of a member, or its unknown outcome. If it is tolerated, the groups skip their other
// members on the node, or else, on all nodes on which they have not started.
func (x *execution) follow(i int32) {
	isForgiven := x.windows.forgiven[i]
	for _, r := range x.windows.rooms[i] {
		if isForgiven {
			x.skipMembers(r.Place, i)
			x.markFailed(r.Group, i)
			continue
		}
		places := x.windows.all[r.window].Places
		for at := range places {
			if !x.hasEntered(&places[at]) {
				x.skipMembers(&places[at], i)
			}
		}
	}
}

// hasEntered reports whether a member has started on a node, and, if there is a limit, the node is in its window.
func (x *execution) hasEntered(p *schedule.Place) bool {
	return slices.ContainsFunc(p.Members, func(i int32) bool {
		u := x.windows.unit(i)
		return !x.vertices[i].started.IsZero() && (u == nil || u.inside)
	})
}

// skipMembers skips the members on a node that have not started, because of the item blame.
func (x *execution) skipMembers(p *schedule.Place, blame int32) {
	for _, i := range p.Members {
		if v := &x.vertices[i]; v.status == waiting && !v.resumed {
			v.blame = blame + 1
			x.skip(i, blame)
			x.ended = append(x.ended, i)
		}
	}
}

// markFailed records that the failure of an item is tolerated: the item of the group on the node has failed.
func (x *execution) markFailed(group, i int32) {
	if v := &x.vertices[group]; v.status == waiting {
		v.blame = i + 1
		x.settle(group, failed, store.Failed, x.names[i]+" failed")
		x.ended = append(x.ended, group)
	} else if v.status != failed { // skipped because of another dependency, or done because an inner group is not on the node
		r := x.row(group)
		r.State, r.Ended, r.Message, r.Tolerated = store.Failed, x.now, x.names[i]+" failed", true
		x.rows = append(x.rows, r)
	}
}

// reenter lets units enter their windows that were there when the previous process ended: some of their members had
// started, and others had not ended.
func (x *execution) reenter(rows []store.TaskRun) {
	hasStarted, hasEnded := map[int32]bool{}, map[int32]bool{}
	for _, r := range rows {
		hasStarted[int32(r.Number)], hasEnded[int32(r.Number)] = !r.Started.IsZero(), r.State != store.Started
	}
	w := x.windows
	for i := range w.all {
		for _, p := range w.all[i].Places {
			u := w.unit(p.Members[0])
			if w.all[i].Amount == 0 || u.inside || !slices.ContainsFunc(p.Members, func(i int32) bool { return hasStarted[i] }) ||
				!slices.ContainsFunc(p.Members, func(i int32) bool { return !hasEnded[i] }) {
				continue
			}
			late := map[int32]bool{}
			for v, own := range w.of {
				if x.vertices[v].status == waiting && own == w.of[p.Members[0]] && x.isLate(int32(v), late) {
					u.late += w.weight(int32(v))
				}
			}
			if u.left -= u.late; u.left == 0 {
				u.left, u.late = u.late, 0
				continue
			}
			w.enter(u)
			x.queue, u.parked = append(x.queue, u.parked...), nil
		}
	}
}

// isLate reports whether a vertex depends on an unfinished vertex outside of its unit.
func (x *execution) isLate(v int32, known map[int32]bool) bool {
	late, isKnown := known[v]
	if isKnown {
		return late
	}
	for _, to := range x.schedule.Graph.Out(v) {
		if x.vertices[to].status == waiting && (x.windows.of[to] != x.windows.of[v] || x.isLate(to, known)) {
			late = true
		}
	}
	known[v] = late
	return late
}
