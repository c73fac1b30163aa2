package run_test

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/run"
	"github.com/lumi-idl/lumi/taskgraph/schedule"
)

// rows returns the run and its stored task runs. It adds the rows that items that are not chosen would have.
func (m *model) rows() (d store.Job, rows map[int32]store.TaskRun) {
	rows = map[int32]store.TaskRun{}
	err := m.store.Read(m, func(tx store.Tx) (err error) {
		if d, err = tx.Job(m.id.Load()); err != nil {
			return err
		}
		all, err := tx.TaskRuns(m.id.Load())
		for _, r := range all {
			rows[int32(r.Number)] = r
		}
		return err
	})
	if err != nil {
		m.fail("an error", "%v", err)
	}
	for i := range int32(len(m.Items)) {
		if m.Items[i].Skip != schedule.ByChoice {
			continue
		}
		if r, has := rows[i]; has {
			m.fail("a task that is not chosen is recorded", "%+v", r)
		}
		if blame, hasEnded := m.blame(i, i, rows); hasEnded {
			rows[i] = store.TaskRun{State: store.Skipped, Message: cmp.Or(blame, m.Items[i].Skip)}
		}
	}
	return d, rows
}

// blame returns the reason why the dependencies of a vertex, which have ended, cause an item to be skipped, or "". Failures that
// are not tolerated take precedence.
func (m *model) blame(v, item int32, rows map[int32]store.TaskRun) (why string, hasEnded bool) {
	for _, to := range m.Graph.Out(v) {
		if int(to) >= len(m.Items) && m.isMet(to, item, rows) {
			continue
		}
		reason, r := "", rows[to]
		switch {
		case int(to) >= len(m.Items):
			if reason, hasEnded = m.blame(to, item, rows); !hasEnded {
				return "", false
			}
		case r.State == "" || r.State == store.Started:
			return "", false
		case m.isMet(to, item, rows):
		case r.State == store.Skipped:
			reason = r.Message
		case r.State == store.Unknown:
			reason = "the outcome of " + m.Items[to].Name() + " is unknown"
		default:
			reason = m.Items[to].Name() + " failed"
		}
		cause, known := m.items[strings.TrimSuffix(why, " failed")]
		if why == "" || known && m.isTolerated(cause, rows) && reason != "" {
			why = reason
		}
	}
	return why, true
}

// isMet reports whether a vertex no longer blocks the item d.
func (m *model) isMet(v, d int32, rows map[int32]store.TaskRun) bool {
	if int(v) < len(m.Items) {
		return m.isGood(v, rows) || m.Items[v].Node != nil && m.Items[v].Node != m.Items[d].Node && m.isLost(v, rows)
	}
	out := m.Graph.Out(v)
	if m.Any[v] {
		return len(out) == 0 || slices.ContainsFunc(out, func(to int32) bool { return m.isGood(to, rows) || m.isLost(to, rows) })
	}
	return !slices.ContainsFunc(out, func(to int32) bool { return !m.isMet(to, d, rows) })
}

func (m *model) isGood(i int32, rows map[int32]store.TaskRun) bool {
	r, item := rows[i], m.Items[i]
	return r.State == store.Done || r.State == store.Skipped && r.Message == item.Skip || r.Tolerated && item.Task.Tolerant
}

// checkStart checks the invariants that hold when a task starts.
func (p *modelProcess) checkStart(name string, w run.Work) {
	d, rows := p.rows()
	i := p.items[name]
	if r := rows[i]; r.State != store.Started || r.Owner != p.name || d.Owner != p.name || d.State != store.Running {
		p.fail("a task starts without intent", "%s by %s: %+v of %+v", name, p.name, r, d)
	}
	for _, to := range p.Graph.Out(i) {
		if !p.isMet(to, i, rows) {
			p.fail("a task starts too early", "%s, which waits for vertex %d", name, to)
		}
	}
	if item := p.Items[i]; item.Skip != "" || item.Task.Type != "shell" {
		p.fail("a task without work starts", "%s", name)
	}
	all, task, role := 0, 0, 0
	for i, r := range rows {
		if r.State != store.Started {
			continue
		}
		all++
		if p.Items[i].Task.ID == w.Task.ID {
			task++
		}
		if slices.Contains(p.Items[i].Node.Roles, "a") {
			role++
		}
	}
	if all > p.Parallelism || w.Task.Strategy.Number > 0 && task > w.Task.Strategy.Number || p.PerRole > 0 && role > p.PerRole {
		p.fail("too many run at once", "%d, %d of %s, %d of role a", all, task, w.Task.ID, role)
	}
	p.checkWindows(i, rows)
}

// checkEnd checks the states of all items after a run that was not interrupted.
func (m *model) checkEnd() {
	d, rows := m.rows()
	var isFailed, isUnknown bool
	isHalted := map[int32]bool{} // members of windows in which a member has failed
	for _, w := range m.windows {
		failures, marked := 0, 0
		for group, members := range w.members {
			isLost := false
			for _, i := range members {
				if !m.isGood(i, rows) && (rows[i].State == store.Failed || rows[i].State == store.Unknown) {
					failures++
					isLost = true
				}
			}
			if rows[group].State == store.Failed {
				if marked++; !isLost {
					m.fail("a group fails without a failure", "%s", m.Items[group].Name())
				}
			}
		}
		if marked > w.tolerance {
			m.fail("too many failures are tolerated", "%d nodes, not %d", marked, w.tolerance)
		}
		for _, members := range w.members {
			for _, i := range members {
				isHalted[i] = isHalted[i] || failures > 0
			}
		}
	}
	for i, item := range m.Items {
		r, has := rows[int32(i)]
		isFailed = isFailed || r.State == store.Failed && !item.Task.Tolerant && !m.isTolerated(int32(i), rows)
		isUnknown = isUnknown || r.State == store.Unknown
		if item.Skip == schedule.ByChoice || d.State == store.Canceled && !has || r.State == store.Started && (d.State == store.Canceled || m.StopOnError) {
			continue
		}
		met := !slices.ContainsFunc(m.Graph.Out(int32(i)), func(to int32) bool { return !m.isMet(to, int32(i), rows) })
		states := []store.State{store.Done, store.Failed, store.Unknown}
		switch {
		case item.Task.Type == taskgraph.GroupType && r.State == store.Failed && m.isTolerated(int32(i), rows):
			continue
		case item.Skip != "" && met, !met:
			states = []store.State{store.Skipped}
		case item.Task.Type != "shell":
			states = []store.State{store.Done}
		}
		if m.StopOnError || d.State == store.Canceled || isHalted[int32(i)] { // an earlier process may have skipped the item
			states = append(states, store.Skipped)
		}
		isAnswered := strings.HasPrefix(r.Message, "answered: ") // and not run again yet
		if r.Tolerated != (r.State == store.Failed && !isAnswered && (item.Task.Tolerant || m.isTolerated(int32(i), rows))) {
			m.fail("a tolerated failure", "%s is %+v", item.Name(), r)
		}
		if !slices.Contains(states, r.State) || r.State == store.Skipped && r.Message != item.Skip && !strings.HasSuffix(r.Message, " failed") &&
			!strings.HasSuffix(r.Message, " is unknown") {
			m.fail("the final state of an item", "%s is %s %s, not one of %v", item.Name(), r.State, r.Message, states)
		}
	}
	want := store.Done
	switch {
	case d.State == store.Canceled:
		return
	case isUnknown:
		want = store.Ask
	case isFailed:
		want = store.Failed
	}
	if d.State != want {
		m.fail("the state of the run", "%s, not %s", d.State, want)
	}
}
