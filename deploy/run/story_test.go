package run_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/test/kit/golden"
)

// TestStories runs the stories in testdata. A story is a transcript. Commands start with ">" and may be followed by an
// indented program. The output of a command consists of its events: state changes, and calls of the simulated cloud,
// which start with "·". A line "at" contains the time since the start. A story ends with the existing resources. See
// [world.command] for the commands.
//
// Together, the stories cover every allowed state transition.
func TestStories(t *testing.T) {
	var seen transitions
	told, all := 0, 0
	golden.Archives(t, "testdata/*.txtar", func(t *testing.T, archive *txtar.Archive) {
		all += len(archive.Files)
		for i, f := range archive.Files {
			t.Run(f.Name, func(t *testing.T) {
				told++
				var got string
				synctest.Test(t, func(t *testing.T) { got = newWorld(t, &seen).tell(string(f.Data)) })
				golden.Part(t, &archive.Files[i], got)
			})
		}
	})
	if told == all && !t.Failed() {
		seen.compare(t)
	}
}

// tell runs a story and returns it with its actual events.
func (w *world) tell(src string) string {
	var out strings.Builder
	lines := strings.Split(strings.TrimSuffix(src, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if line == "" && !strings.HasSuffix(out.String(), "\n\n") || strings.HasPrefix(line, "#") {
			out.WriteString(line + "\n")
		}
		command, ok := strings.CutPrefix(line, "> ")
		if !ok {
			continue
		}
		out.WriteString(line + "\n")
		var program strings.Builder
		for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "  ") {
			i++
			program.WriteString(lines[i] + "\n")
		}
		out.WriteString(program.String())
		w.command(strings.Fields(command), program.String())
		synctest.Wait()
		out.WriteString(w.log.flush(w))
	}
	w.background.Wait()
	out.WriteString(w.log.flush(w))
	if !strings.HasSuffix(out.String(), "\n\n") {
		out.WriteString("\n")
	}
	return out.String() + w.ending() + "\n"
}

// log collects events in chronological order.
type log struct {
	mutex   sync.Mutex
	entries []entry
	start   time.Time
	now     time.Duration // time of the last entry
	calls   int           // number of cloud calls in the entries
}

// entry is a line of the log. Entries with the same time, which are concurrent, are sorted.
type entry struct {
	time     time.Time
	resource string
	text     string
}

func (l *log) add(w *world, resource, format string, args ...any) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.addCalls(w)
	l.entries = append(l.entries, entry{time.Now(), resource, fmt.Sprintf(format, args...)})
}

// addCalls adds the calls of the cloud since the last call of addCalls.
func (l *log) addCalls(w *world) {
	if w.cloud == nil {
		return
	}
	calls := w.cloud.Calls()
	for _, c := range calls[l.calls:] {
		resource := cmp.Or(c.Resource, w.names[c.ID], string(c.ID))
		text := fmt.Sprintf("· %s %s", c.Op, resource)
		switch {
		case c.Fault.How != 0:
			text += ": " + c.Fault.String()
		case c.Err != nil:
			text += ": " + c.Err.Error()
		}
		l.entries = append(l.entries, entry{c.Began, resource, text})
	}
	l.calls = len(calls)
}

func (l *log) flush(w *world) string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.addCalls(w)
	slices.SortStableFunc(l.entries, func(a, b entry) int { return a.time.Compare(b.time) })
	var out strings.Builder
	for from := 0; from < len(l.entries); {
		first, to := l.entries[from], from+1
		for to < len(l.entries) && first.resource != "" && l.entries[to].resource != "" && l.entries[to].time.Equal(first.time) {
			to++
		}
		if w.engine.Parallelism != 1 {
			slices.SortStableFunc(l.entries[from:to], func(a, b entry) int { return cmp.Compare(a.resource, b.resource) })
		}
		if now := first.time.Sub(l.start); now != l.now {
			fmt.Fprintf(&out, "at %s\n", now.Round(time.Millisecond))
			l.now = now
		}
		for _, e := range l.entries[from:to] {
			out.WriteString(w.short(e.text) + "\n")
		}
		from = to
	}
	l.entries = nil
	return out.String()
}

// event adds an event to the log. It omits the events of tasks except for polling, since the events of steps cover the
// rest in more detail.
func (w *world) event(e store.Event) {
	if e.State == store.Started && e.Message == "" || e.Serial > 0 {
		return // The call or the other process logs the same information.
	}
	w.seen.event(w, e)
	text, resource := e.Name, ""
	switch {
	case e.URN != "":
		resource = e.URN[strings.LastIndex(e.URN, ":")+1:]
		text += fmt.Sprintf(" %s %s", e.Kind, e.URN)
		if e.Was != "" {
			text += " was " + e.Was
		}
		if e.Kind == "import" && e.ID != "" {
			text += " as " + e.ID
		}
	case e.Task > 0 && e.State != store.Polling:
		return
	case e.Task > 0:
		text += fmt.Sprintf(" task %d", e.Task)
	}
	text += " " + string(cmp.Or(e.State, store.State(e.Level)))
	if e.Message != "" {
		text += ": " + e.Message
	}
	w.log.add(w, resource, "%s", text)
}

// transitions records the state transitions that occur in stories.
type transitions struct {
	mutex                     sync.Mutex
	deployments, tasks, steps map[[2]store.State]bool
	last                      map[string]store.State // last states of tasks
}

func (s *transitions) note(all *map[[2]store.State]bool, from, to store.State) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if *all == nil {
		*all = map[[2]store.State]bool{}
	}
	(*all)[[2]store.State{from, to}] = true
}

// event records transitions that stored rows do not show: transitions of tasks, whose rows are reset in each run, and
// of steps without a call.
func (s *transitions) event(w *world, e store.Event) {
	key := fmt.Sprint(e.Deployment, e.Task)
	switch {
	case e.Level != "" || e.Task == 0:
	case e.URN == "":
		if s.last == nil || e.State == store.Running {
			s.last = map[string]store.State{key: store.Wait}
		}
		s.note(&s.tasks, s.last[key], e.State)
		s.last[key] = e.State
	case !w.hasRow(e):
		s.note(&s.steps, store.Planned, e.State)
	case e.State == store.Pending:
		s.note(&s.steps, store.Started, e.State)
	}
}

func (s *transitions) compare(t *testing.T) {
	for _, all := range []struct {
		name  string
		table job.Transitions
		seen  map[[2]store.State]bool
	}{{"deployment", job.Deployments, s.deployments}, {"task", job.Tasks, s.tasks}, {"step", job.Steps, s.steps}} {
		for _, x := range all.table {
			pair := [2]store.State{x.From, x.To}
			if !all.seen[pair] {
				t.Errorf("no story covers the transition of a %s from %s to %s", all.name, x.From, x.To)
			}
			delete(all.seen, pair)
		}
		for pair := range all.seen {
			t.Errorf("a story has the transition of a %s from %s to %s, which is not in the table", all.name, pair[0], pair[1])
		}
	}
}
