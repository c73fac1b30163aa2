package repair

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/internal/jsonpointer"
	"github.com/lumi-idl/lumi/lumigl"
)

// drop removes what refers to nothing, and tells what it removes.
func (w *work) drop() {
	switch {
	case len(w.dangling) == 0:
	case w.options.Drop == DropResources:
		w.dropVertices()
	default:
		w.rewrite(w.lost, func(v lumigl.Value, f *lumigl.Fault) lumigl.Value {
			what := "this reference"
			if v.IsExpression() {
				what = "the expression with this reference"
			}
			w.step(ReferenceStep, f, parent(f.Pointer), "drop %s: %s", what, f.Message)
			return lumigl.Value{}
		})
	}
}

// retarget points references to nothing at what was probably meant.
func (w *work) retarget() {
	if len(w.astray) == 0 {
		return
	}
	w.dangling, w.astray = w.astray, w.dangling
	w.rewrite(w.fault, func(v lumigl.Value, f *lumigl.Fault) lumigl.Value {
		_, property, _ := v.Target()
		message, _, _ := strings.Cut(f.Message, "; did you mean")
		w.step(RetargetStep, f, parent(f.Pointer), "point this reference at %q: %s", f.Nearest, message)
		return lumigl.PropertyOf(w.doc.Base().Vertex(f.Nearest), property)
	})
	w.dangling = w.astray
}

// rewrite replaces the values in all options and properties that have a fault by what mend returns, or removes them if that
// is absent.
func (w *work) rewrite(fault func(lumigl.Value) *lumigl.Fault, mend func(lumigl.Value, *lumigl.Fault) lumigl.Value) {
	for _, h := range w.holders() {
		replace := func(v lumigl.Value) (lumigl.Value, bool) {
			f := fault(v)
			if f == nil {
				return v, false
			}
			return mend(v, f), true
		}
		h.Options, h.Properties = h.Options.Replace(replace), h.Properties.Replace(replace)
	}
}

// places are the JSON pointers to what is pending.
func places(p *lumigl.Pending) map[*lumigl.Vertex]string {
	all := make(map[*lumigl.Vertex]string, len(p.Deletes)+len(p.Operations))
	for i, r := range p.Deletes {
		all[r] = "/pending/deletes/" + strconv.Itoa(i)
	}
	for i, o := range p.Operations {
		all[o.Resource] = "/pending/operations/" + strconv.Itoa(i)
	}
	return all
}

// parent is the JSON pointer to what holds the value at another.
func parent(pointer string) string { return pointer[:strings.LastIndexByte(pointer, '/')] }

// fault returns the fault of a reference that leads to nothing, nil for other values.
func (w *work) fault(v lumigl.Value) *lumigl.Fault {
	if v.Kind() != lumigl.Reference {
		return nil
	}
	return w.dangling[v.Offset()]
}

// lost returns the fault of a reference that leads to nothing, or of the first such in an expression, which has no meaning
// without it.
func (w *work) lost(v lumigl.Value) *lumigl.Fault {
	if v.IsExpression() {
		return w.find(v)
	}
	return w.fault(v)
}

// find returns the first reference to nothing within a value.
func (w *work) find(v lumigl.Value) (found *lumigl.Fault) {
	v.Replace(func(part lumigl.Value) (lumigl.Value, bool) {
		if found == nil {
			found = w.fault(part)
		}
		return part, false
	})
	return found
}

// holder is something that may refer to nothing, and may then be dropped as a whole.
type holder struct {
	*lumigl.Vertex
	kind    Kind
	what    string // such as "the resource"
	pointer string
}

// holders are all vertices and pending entries.
func (w *work) holders() []holder {
	section, what := "/vertices", "the vertex"
	if w.snapshot != nil {
		section, what = "/resources", "the resource"
	}
	var all []holder
	for v := range w.doc.Base().Vertices() {
		all = append(all, holder{v, ResourceStep, what, jsonpointer.Within(section, v.Key())})
	}
	if w.snapshot != nil {
		for _, r := range w.snapshot.Pending.Deletes {
			all = append(all, holder{r, PendingStep, "the pending deletion of", w.places[r]})
		}
		for _, o := range w.snapshot.Pending.Operations {
			r := o.Resource
			all = append(all, holder{r, PendingStep, "the pending " + string(o.Kind) + " of", w.places[r]})
		}
	}
	return all
}

// dropVertices removes the vertices and pending entries that refer to nothing, and those that refer to these.
func (w *work) dropVertices() {
	dependents := map[*lumigl.Vertex][]holder{}
	gone := map[*lumigl.Vertex]bool{}
	var queue []holder
	var keys []string
	drop := func(h holder, f *lumigl.Fault, why string) {
		gone[h.Vertex] = true
		queue = append(queue, h)
		if h.kind == ResourceStep {
			keys = append(keys, h.Key())
		}
		w.step(h.kind, f, h.pointer, "drop %s %q: %s", h.what, h.Key(), why)
	}
	for _, h := range w.holders() {
		for to := range h.References() {
			dependents[to] = append(dependents[to], h)
		}
		if f := cmp.Or(w.find(h.Options), w.find(h.Properties)); f != nil {
			drop(h, f, f.Message)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, h := range dependents[queue[0].Vertex] {
			if !gone[h.Vertex] {
				drop(h, nil, fmt.Sprintf("it refers to %q, which is dropped", queue[0].Key()))
			}
		}
	}
	w.doc.Base().Remove(keys...)
	if w.snapshot != nil {
		p := &w.snapshot.Pending
		p.Deletes = slices.DeleteFunc(p.Deletes, func(r *lumigl.Vertex) bool { return gone[r] })
		p.Operations = slices.DeleteFunc(p.Operations, func(o lumigl.Operation) bool { return gone[o.Resource] })
	}
}
