package repair

import (
	"fmt"

	"github.com/lumi-idl/lumi/lumigl"
)

// dropPending removes the pending entries that are to go. Those which it leaves although they are dead it returns.
func (w *work) dropPending() (dead []Step) {
	if w.snapshot == nil {
		return nil
	}
	p := &w.snapshot.Pending
	operationReasons, deleteReasons := deadPending(w.snapshot)
	// judge reports whether an entry goes.
	judge := func(pointer, what, reason string) bool {
		step := Step{Kind: PendingStep, Offset: -1, Pointer: pointer, Message: "drop " + what}
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
	var operations []lumigl.Operation
	for i, o := range p.Operations {
		what := fmt.Sprintf("the pending %s of %q", o.Kind, o.Resource.Key())
		if !judge(w.places[o.Resource], what, operationReasons[i]) {
			operations = append(operations, o)
		}
	}
	p.Operations = operations
	var deletes []*lumigl.Vertex
	for i, r := range p.Deletes {
		what := fmt.Sprintf("the pending deletion of %q", r.Key())
		if !judge(w.places[r], what, deleteReasons[i]) {
			deletes = append(deletes, r)
		}
	}
	p.Deletes = deletes
	return dead
}

// maxRounds bounds how often dead entries are looked for, since a file may have a long chain of them. An honest one has
// none.
const maxRounds = 100

// deadPending says why entries are dead, "" of those that are not. What dies may take others with it.
func deadPending(s *lumigl.Snapshot) (operations, deletes []string) {
	p := &s.Pending
	operations, deletes = make([]string, len(p.Operations)), make([]string, len(p.Deletes))
	more := true
	for round := 0; more && round < maxRounds; round++ {
		more = false
		live := newLiving(s, deletes)
		for i, o := range p.Operations {
			if operations[i] == "" {
				operations[i] = live.operation(o)
				more = more || operations[i] != ""
			}
		}
		needed := neededDeletes(s, operations, deletes)
		for i, r := range p.Deletes {
			if deletes[i] != "" {
				continue
			}
			if reason := live.deletion(r); !needed[r] { // Else another entry, which stays, refers to it.
				deletes[i] = reason
				more = more || reason != ""
			}
		}
	}
	return operations, deletes
}

// neededDeletes are what pending entries refer to that are not dead: resources, and others to be deleted.
func neededDeletes(s *lumigl.Snapshot, operations, deletes []string) map[*lumigl.Vertex]bool {
	needed := map[*lumigl.Vertex]bool{}
	note := func(r *lumigl.Vertex, reason string) {
		if reason != "" {
			return
		}
		for to := range r.Properties.References() {
			needed[to] = true
		}
	}
	for i, r := range s.Pending.Deletes {
		note(r, deletes[i])
	}
	for i, o := range s.Pending.Operations {
		note(o.Resource, operations[i])
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
func newLiving(s *lumigl.Snapshot, dead []string) *living {
	l := &living{
		snapshot: s, deleted: map[string]bool{}, deletes: map[[2]string]bool{}, begun: map[string][]lumigl.Operation{},
	}
	for i, r := range s.Pending.Deletes {
		if dead[i] == "" {
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
			before.Resource.Properties.Equal(o.Resource.Properties) && before.Resource.Extensions.Equal(o.Resource.Extensions) {
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
