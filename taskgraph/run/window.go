package run

import (
	"slices"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
	"github.com/lumi-idl/lumi/taskgraph/schedule"
)

// windows contains the state of the windows of groups.
type windows struct {
	all   []schedule.Window
	free  []int   // free slots of each window
	units []unit  // see [schedule.Unit]
	of    []int32 // unit of each vertex, or -1; may be nil
	// rooms lists the places of each member and of the items of groups.
	rooms map[int32][]room
	// failed contains the nodes of each window on which failures are tolerated. forgiven contains the items that have
	// failed there, including the items of groups.
	failed   []map[*inventory.Node]bool
	forgiven map[int32]bool
	changed  bool // whether units may enter their windows
}

type room struct {
	window int
	*schedule.Place
}

// unit enters its windows when all dependencies outside of it have ended, and leaves them when its members have ended.
type unit struct {
	slots    []int
	external int32 // number of unfinished dependencies outside
	left     int   // number of places of members that have not ended
	late     int   // number of further such places, after a restart: the members depend on unfinished dependencies outside
	inside   bool
	parked   []int32 // ready members
}

func newWindows(s *schedule.Schedule) *windows {
	w := &windows{
		all: s.Windows, units: make([]unit, len(s.Units)), of: s.Unit, rooms: map[int32][]room{}, forgiven: map[int32]bool{},
		free: make([]int, len(s.Windows)), failed: make([]map[*inventory.Node]bool, len(s.Windows)), changed: true,
	}
	for i := range s.Units {
		w.units[i].slots = s.Units[i].Slots
	}
	for i := range s.Windows {
		w.free[i], w.failed[i] = s.Windows[i].Amount, map[*inventory.Node]bool{}
		for at := range s.Windows[i].Places {
			p := &s.Windows[i].Places[at]
			w.rooms[p.Group] = append(w.rooms[p.Group], room{i, p})
			for _, member := range p.Members {
				w.rooms[member] = append(w.rooms[member], room{i, p})
			}
		}
	}
	for v, own := range w.of {
		if own < 0 {
			continue
		}
		w.units[own].left += w.weight(int32(v))
		for _, to := range s.Graph.Out(int32(v)) {
			if w.of[to] != own {
				w.units[own].external++
			}
		}
	}
	return w
}

// unit returns the unit of a vertex, or nil.
func (w *windows) unit(v int32) *unit {
	if len(w.of) == 0 || w.of[v] < 0 {
		return nil
	}
	return &w.units[w.of[v]]
}

// weight returns the number of places of a member in windows with a limit.
func (w *windows) weight(i int32) (n int) {
	for _, r := range w.rooms[i] {
		if r.Group != i && w.all[r.window].Amount > 0 {
			n++
		}
	}
	return n
}

// park reports whether a ready item must wait for its unit to enter its windows.
func (w *windows) park(i int32) bool {
	u := w.unit(i)
	if u == nil || u.inside || w.weight(i) == 0 {
		return false
	}
	u.parked = append(u.parked, i)
	return true
}

// ended notes the end of a dependency of d.
func (w *windows) ended(dependency, d int32) {
	u := w.unit(d)
	if u == nil || w.of[dependency] == w.of[d] {
		return
	}
	if u.external--; u.external == 0 {
		u.left, u.late, w.changed = u.left+u.late, 0, true
	}
}

// end notes the end of an item. The unit leaves its windows after its last member.
func (w *windows) end(i int32) {
	u := w.unit(i)
	if u == nil {
		return
	}
	if u.left -= w.weight(i); u.left > 0 || !u.inside {
		return
	}
	u.inside, u.left, u.late, w.changed = false, u.late, 0, true
	for _, slot := range u.slots {
		w.free[slot]++
	}
}

// admit lets units enter their windows, in order, and adds their ready members to the queue.
func (w *windows) admit(queue *[]int32) {
	for i := 0; i < len(w.units) && w.changed; i++ {
		u := &w.units[i]
		if u.inside || u.external > 0 || u.left == 0 {
			continue
		}
		if w.enter(u); slices.ContainsFunc(u.slots, func(slot int) bool { return w.free[slot] < 0 }) {
			u.inside = false
			for _, slot := range u.slots {
				w.free[slot]++
			}
			continue
		}
		*queue, u.parked = append(*queue, u.parked...), nil
	}
	w.changed = false
}

func (w *windows) enter(u *unit) {
	u.inside = true
	for _, slot := range u.slots {
		w.free[slot]--
	}
}

// forgive reports whether the failure of an item is tolerated, because each of its groups tolerates one on this node.
func (w *windows) forgive(i int32, node *inventory.Node) bool {
	rooms := w.rooms[i]
	for _, r := range rooms {
		if failed := w.failed[r.window]; !failed[node] && len(failed) >= w.all[r.window].Tolerance {
			return false
		}
	}
	for _, r := range rooms {
		w.failed[r.window][node] = true
	}
	if len(rooms) > 0 {
		w.forgiven[i] = true
	}
	return len(rooms) > 0
}

// recall restores the nodes on which failures are tolerated.
func (w *windows) recall(items []schedule.Item, rows []store.TaskRun) {
	for _, r := range rows {
		if i := int32(r.Number); r.Tolerated && !items[i].Task.Tolerant {
			for _, room := range w.rooms[i] {
				w.failed[room.window][items[i].Node] = true
			}
		}
	}
}
