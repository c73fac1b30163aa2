package repair

import (
	"cmp"
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
		w.rewrite(func(v lumigl.Value, f *lumigl.Fault, pointer string) (lumigl.Value, bool) {
			w.step(ReferenceStep, f, pointer, "drop this reference: %s", f.Message)
			return v, false
		})
	}
}

// retarget points references to nothing at what was probably meant.
func (w *work) retarget() {
	if len(w.astray) == 0 {
		return
	}
	w.dangling, w.astray = w.astray, w.dangling
	w.rewrite(func(v lumigl.Value, f *lumigl.Fault, pointer string) (lumigl.Value, bool) {
		_, property, _ := v.Target()
		message, _, _ := strings.Cut(f.Message, "; did you mean")
		w.step(RetargetStep, f, pointer, "point this reference at %q: %s", f.Nearest, message)
		return lumigl.PropertyOf(w.doc.Base().Vertex(f.Nearest), property), true
	})
	w.dangling = w.astray
}

// mendReference returns what stands in place of a reference to nothing, and reports whether anything does.
type mendReference func(v lumigl.Value, f *lumigl.Fault, pointer string) (mended lumigl.Value, keep bool)

// rewrite mends the references to nothing in all properties.
func (w *work) rewrite(mend mendReference) {
	for _, h := range w.holders() {
		h.Properties, _ = w.without(h.Properties, h.pointer, mend) // They are no reference themselves.
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

// pointer is the JSON pointer to a vertex's properties.
func (w *work) pointer(v *lumigl.Vertex) string {
	if w.snapshot == nil {
		return jsonpointer.Within("/vertices", v.Key())
	}
	return jsonpointer.Within("/resources", v.Key()) + "/properties"
}

// fault returns the fault of a reference that leads to nothing, nil if it leads somewhere.
func (w *work) fault(pointer string) *lumigl.Fault {
	tag := w.doc.Base().Tag
	if tag == "" {
		tag = lumigl.DefaultTag
	}
	return w.dangling[jsonpointer.Within(pointer, tag)]
}

// without returns a value without references to nothing, and reports whether it stays at all. What does not change is
// not copied.
func (w *work) without(v lumigl.Value, pointer string, mend mendReference) (kept lumigl.Value, keep bool) {
	switch v.Kind() {
	case lumigl.Reference:
		if f := w.fault(pointer); f != nil {
			return mend(v, f, pointer)
		}
	case lumigl.List:
		elements := make([]lumigl.Value, 0, v.Len())
		before := len(w.steps)
		for i, e := range v.Elements() {
			if e, keep := w.without(e, pointer+"/"+strconv.Itoa(i), mend); keep {
				elements = append(elements, e)
			}
		}
		if len(w.steps) > before {
			return lumigl.ListOf(elements...), true
		}
	case lumigl.Object:
		members := make([]lumigl.Member, 0, v.Len())
		before := len(w.steps)
		for key, m := range v.Members() {
			if m, keep := w.without(m, jsonpointer.Within(pointer, key), mend); keep {
				members = append(members, lumigl.Member{Key: key, Value: m})
			}
		}
		if len(w.steps) > before {
			return lumigl.ObjectOf(members...), true
		}
	}
	return v, true
}

// find returns the first reference to nothing within a value.
func (w *work) find(v lumigl.Value, pointer string) (first *lumigl.Fault) {
	w.without(v, pointer, func(v lumigl.Value, f *lumigl.Fault, _ string) (lumigl.Value, bool) {
		first = cmp.Or(first, f)
		return v, true
	})
	return first
}

// holder is something that may refer to nothing, and may then be dropped as a whole.
type holder struct {
	*lumigl.Vertex
	kind    Kind
	what    string // such as "the resource"
	pointer string // to its properties
}

// holders are all vertices and pending entries.
func (w *work) holders() []holder {
	kind, what := ResourceStep, "the vertex"
	if w.snapshot != nil {
		what = "the resource"
	}
	var all []holder
	for v := range w.doc.Base().Vertices() {
		all = append(all, holder{v, kind, what, w.pointer(v)})
	}
	if w.snapshot != nil {
		for _, r := range w.snapshot.Pending.Deletes {
			all = append(all, holder{r, PendingStep, "the pending deletion of", w.places[r] + "/properties"})
		}
		for _, o := range w.snapshot.Pending.Operations {
			r := o.Resource
			all = append(all, holder{r, PendingStep, "the pending " + string(o.Kind) + " of", w.places[r] + "/properties"})
		}
	}
	return all
}

// dropVertices removes the vertices and pending entries that refer to nothing, and those that refer to these.
func (w *work) dropVertices() {
	dependents := map[*lumigl.Vertex][]holder{}
	gone := map[*lumigl.Vertex]bool{}
	var queue []holder
	for _, h := range w.holders() {
		for to := range h.Properties.References() {
			dependents[to] = append(dependents[to], h)
		}
		if f := w.find(h.Properties, h.pointer); f != nil {
			gone[h.Vertex] = true
			queue = append(queue, h)
			w.step(h.kind, f, strings.TrimSuffix(h.pointer, "/properties"), "drop %s %q: %s", h.what, h.Key(), f.Message)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, h := range dependents[queue[0].Vertex] {
			if !gone[h.Vertex] {
				gone[h.Vertex] = true
				queue = append(queue, h)
				w.step(h.kind, nil, strings.TrimSuffix(h.pointer, "/properties"),
					"drop %s %q: it refers to %q, which is dropped", h.what, h.Key(), queue[0].Key())
			}
		}
	}
	w.doc.Base().Remove(func(v *lumigl.Vertex) bool { return gone[v] })
	if w.snapshot != nil {
		p := &w.snapshot.Pending
		p.Deletes = slices.DeleteFunc(p.Deletes, func(r *lumigl.Vertex) bool { return gone[r] })
		p.Operations = slices.DeleteFunc(p.Operations, func(o lumigl.Operation) bool { return gone[o.Resource] })
	}
}
