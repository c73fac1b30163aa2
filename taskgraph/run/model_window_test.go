package run_test

import (
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/taskgraph"
)

// isLost reports whether an item failed, or was skipped because of a failure on its node, and the failure is tolerated.
func (m *model) isLost(i int32, rows map[int32]store.TaskRun) bool {
	blame := i
	if r := rows[i]; r.State == store.Skipped {
		var known bool
		if blame, known = m.items[strings.TrimSuffix(r.Message, " failed")]; !known {
			return false
		}
	}
	return m.Items[blame].Node == m.Items[i].Node && m.isTolerated(blame, rows)
}

// isTolerated reports whether all windows of an item record its failure.
func (m *model) isTolerated(i int32, rows map[int32]store.TaskRun) bool {
	of, isTolerated := 0, rows[i].State == store.Failed
	for _, w := range m.windows {
		for group, members := range w.members {
			if group == i || slices.Contains(members, i) {
				of++
				isTolerated = isTolerated && rows[group].State == store.Failed
			}
		}
	}
	return isTolerated && of > 0
}

// modelWindow contains the members with something to do of a group with a strategy or a fault tolerance, by the items
// of the group. amount may be 0.
type modelWindow struct {
	amount, tolerance int
	members           map[int32][]int32
}

// findWindows sets the windows.
func (m *model) findWindows(specs []*taskgraph.Spec) {
	var isMember func(id, group string) bool
	isMember = func(id, group string) bool {
		at := slices.IndexFunc(specs, func(s *taskgraph.Spec) bool { return s.ID == group })
		return slices.ContainsFunc(specs[at].Tasks, func(member string) bool { return member == id || isMember(id, member) })
	}
	for t, s := range specs {
		task := m.Tasks[t]
		if s.Type != "group" || task.Strategy+task.MayFail == 0 {
			continue
		}
		w := modelWindow{amount: task.Strategy, members: map[int32][]int32{}}
		total := 0
		for i, group := range m.Items {
			if group.Task != s {
				continue
			}
			total++
			for at, item := range m.Items {
				if group.Skip == "" && item.Node == group.Node && item.Skip == "" && item.Task.Type == "shell" && isMember(item.Task.ID, s.ID) {
					w.members[int32(i)] = append(w.members[int32(i)], int32(at))
				}
			}
		}
		w.tolerance = []int{0, 1, total / 2}[task.MayFail]
		m.windows = append(m.windows, w)
	}
}

// checkWindows checks the windows when the item i starts.
func (p *modelProcess) checkWindows(i int32, rows map[int32]store.TaskRun) {
	p.mutex.Lock()
	isAgain := p.begun[i]
	p.begun[i] = true
	p.mutex.Unlock()
	hasStarted := func(member int32) bool { return !rows[member].Started.IsZero() }
	for _, w := range p.windows {
		inside := 0
		for _, members := range w.members {
			isOpen := slices.ContainsFunc(members, func(member int32) bool {
				return rows[member].State == "" || rows[member].State == store.Started
			})
			if isOpen && slices.ContainsFunc(members, hasStarted) {
				inside++
			}
			isFirst := !isAgain && slices.Contains(members, i) && !slices.ContainsFunc(members, func(member int32) bool { return member != i && hasStarted(member) })
			for _, others := range w.members {
				for _, other := range others {
					r := rows[other]
					if isFirst && r.Owner == p.name && r.Ended.Before(rows[i].Started) && (r.State == store.Failed || r.State == store.Unknown) &&
						!p.Items[other].Task.Tolerant && !p.isTolerated(other, rows) {
						p.fail("a node enters a window after a failure", "%s after %s", p.Items[i].Name(), p.Items[other].Name())
					}
				}
			}
		}
		if w.amount > 0 && inside > w.amount {
			p.fail("too many nodes are in a window", "%d when %s starts", inside, p.Items[i].Name())
		}
	}
}
