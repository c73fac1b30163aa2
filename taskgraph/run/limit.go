package run

import (
	"slices"

	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
	"github.com/lumi-idl/lumi/taskgraph/schedule"
)

// limit queues items while too many of them are running.
type limit struct {
	free    int
	waiting []int32
}

// limits contains the limits on tasks, as set by their strategies, and the limits on nodes, as set for their roles.
type limits struct {
	tasks map[*taskgraph.Spec]*limit
	nodes map[*inventory.Node][]*limit
}

func newLimits(s *schedule.Schedule, perRole map[string]int) limits {
	l := limits{map[*taskgraph.Spec]*limit{}, map[*inventory.Node][]*limit{}}
	roles := map[string]*limit{}
	for role, n := range perRole {
		if n > 0 {
			roles[role] = &limit{free: n}
		}
	}
	for t, n := range s.Limits {
		l.tasks[t] = &limit{free: n}
	}
	for _, item := range s.Items {
		if len(roles) == 0 || item.Node == nil || l.nodes[item.Node] != nil {
			continue
		}
		for i, role := range item.Node.Roles {
			if roles[role] != nil && !slices.Contains(item.Node.Roles[:i], role) {
				l.nodes[item.Node] = append(l.nodes[item.Node], roles[role])
			}
		}
	}
	return l
}

func (l limits) of(item *schedule.Item) []*limit {
	if len(l.tasks)+len(l.nodes) == 0 {
		return nil
	}
	all := l.nodes[item.Node]
	if t := l.tasks[item.Task]; t != nil {
		all = append(slices.Clip(all), t)
	}
	return all
}

// take acquires a slot of each limit of an item. If a limit has no free slot, take queues the item there and returns
// false.
func (l limits) take(i int32, item *schedule.Item, queue *[]int32) bool {
	all := l.of(item)
	full := slices.IndexFunc(all, func(one *limit) bool { return one.free == 0 })
	for at, one := range all {
		switch {
		case full < 0:
			one.free--
		case at == full:
			one.waiting = append(one.waiting, i)
		default: // passes the slot on to another item
			one.wake(queue)
		}
	}
	return full < 0
}

// give releases the slots of an item.
func (l limits) give(item *schedule.Item, queue *[]int32) {
	for _, one := range l.of(item) {
		one.free++
		one.wake(queue)
	}
}

// pass requeues waiting items in place of an item that does not need its slots.
func (l limits) pass(item *schedule.Item, queue *[]int32) {
	for _, one := range l.of(item) {
		one.wake(queue)
	}
}

// wake requeues a waiting item if a slot is free.
func (l *limit) wake(queue *[]int32) {
	if l.free > 0 && len(l.waiting) > 0 {
		*queue = append(*queue, l.waiting[0])
		l.waiting = l.waiting[1:]
	}
}
