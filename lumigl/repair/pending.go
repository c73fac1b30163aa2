package repair

import (
	"fmt"
	"slices"

	"github.com/lumi-idl/lumi/lumigl"
)

// dropPending removes the pending entries that are to go. Those which it leaves although they are dead it returns.
func (w *work) dropPending() (dead []Step) {
	if w.snapshot == nil {
		return nil
	}
	p := &w.snapshot.Pending
	reasons := deadPending(w.snapshot)
	// goes reports whether an entry goes.
	goes := func(r *lumigl.Vertex, what string) bool {
		reason := reasons[r]
		step := Step{Kind: PendingStep, Offset: -1, Pointer: w.places[r], Message: fmt.Sprintf("drop the pending %s of %q", what, r.Key())}
		if reason != "" {
			step.Message += ": " + reason
		}
		switch {
		case w.options.Pending == DropAll, w.options.Pending == DropDead && reason != "":
			w.steps = append(w.steps, step)
			return true
		case reason != "":
			dead = append(dead, step)
		}
		return false
	}
	p.Operations = slices.DeleteFunc(p.Operations, func(o lumigl.Operation) bool { return goes(o.Resource, string(o.Kind)) })
	p.Deletes = slices.DeleteFunc(p.Deletes, func(r *lumigl.Vertex) bool { return goes(r, "deletion") })
	return dead
}

// maxRounds bounds how often dead entries are looked for, since a file may have a long chain of them. An honest one has
// none.
const maxRounds = 100

// deadPending says why entries are dead, by their resources. What dies may take others with it.
func deadPending(s *lumigl.Snapshot) map[*lumigl.Vertex]string {
	dead := map[*lumigl.Vertex]string{}
	for range maxRounds {
		before := len(dead)
		judge := func(r *lumigl.Vertex, reason string) {
			if reason != "" {
				dead[r] = reason
			}
		}
		live := newLiving(s, dead)
		for _, o := range s.Pending.Operations {
			if dead[o.Resource] == "" {
				judge(o.Resource, live.operation(o))
			}
		}
		needed := neededDeletes(s, dead)
		for _, r := range s.Pending.Deletes {
			if dead[r] != "" {
				continue
			}
			if reason := live.deletion(r); !needed[r] { // Else another entry, which stays, refers to it.
				judge(r, reason)
			}
		}
		if len(dead) == before {
			break
		}
	}
	return dead
}

// neededDeletes are what pending entries refer to that are not dead: resources, and others to be deleted.
func neededDeletes(s *lumigl.Snapshot, dead map[*lumigl.Vertex]string) map[*lumigl.Vertex]bool {
	pending := slices.Clone(s.Pending.Deletes)
	for _, o := range s.Pending.Operations {
		pending = append(pending, o.Resource)
	}
	needed := map[*lumigl.Vertex]bool{}
	for _, r := range pending {
		if dead[r] != "" {
			continue
		}
		for to := range r.References() {
			needed[to] = true
		}
	}
	return needed
}

// living knows what there is, to tell which pending entries have no meaning any more.
type living struct {
	snapshot *lumigl.Snapshot
	deleted  map[string]bool    // the URNs of what is to be deleted
	deletes  map[[2]string]bool // by URN and id, those that were seen
	begun    map[string][]lumigl.Operation
}

// newLiving knows of the deletions that are not dead.
func newLiving(s *lumigl.Snapshot, dead map[*lumigl.Vertex]string) *living {
	l := &living{
		snapshot: s, deleted: map[string]bool{}, deletes: map[[2]string]bool{}, begun: map[string][]lumigl.Operation{},
	}
	for _, r := range s.Pending.Deletes {
		if dead[r] == "" {
			l.deleted[r.Key()] = true
		}
	}
	return l
}

// operation says why an operation is dead, "" if it is not.
func (l *living) operation(o lumigl.Operation) string {
	urn := o.Resource.Key()
	for _, before := range l.begun[urn] {
		if before.Kind == o.Kind && before.Resource.ID == o.Resource.ID &&
			before.Resource.Options.Equal(o.Resource.Options) && before.Resource.Properties.Equal(o.Resource.Properties) && before.Resource.Extensions.Equal(o.Resource.Extensions) {
			return "it is there twice"
		}
	}
	const few = 16 // which keeps the search for repetitions short
	if len(l.begun[urn]) < few {
		l.begun[urn] = append(l.begun[urn], o)
	}
	r := l.snapshot.Vertex(urn)
	switch {
	case o.Kind != lumigl.CreateOperation && r == nil && !l.deleted[urn]:
		return "there is no such resource any more"
	case o.Kind == lumigl.CreateOperation && r != nil && o.Resource.ID != "" && r.ID == o.Resource.ID:
		return "the resource is there"
	}
	return ""
}

// deletion says why a deletion is dead, "" if it is not.
func (l *living) deletion(r *lumigl.Vertex) string {
	if r.ID == "" {
		return "no provider has made it, since it has no id"
	}
	if l.deletes[[2]string{r.Key(), r.ID}] {
		return "it is there twice"
	}
	l.deletes[[2]string{r.Key(), r.ID}] = true
	if now := l.snapshot.Vertex(r.Key()); now != nil && now.ID == r.ID {
		return "the resource has that id still, so it was not replaced"
	}
	return ""
}
