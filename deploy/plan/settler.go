package plan

import (
	"cmp"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/diff"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/lumigl/match"
)

// settler knows which desired values are equivalent to values in the state although they are written differently: a
// reference to a property and that property's value, an expression and its value, and a file without a hash and the same
// file with one. Resources are recognized by this equivalence too.
type settler struct {
	state, settled *lumigl.Snapshot
	replaces       diff.Replaces
	// hasher also has the budget for asking what is replaced.
	hasher match.Hasher
	// unsettled resources have yet to be settled, so references to their properties have no known values.
	unsettled map[*lumigl.Vertex]bool
	// recognized has the old resources by the new ones that were recognized as them.
	recognized map[*lumigl.Vertex]*lumigl.Vertex
	// properties and hashes are memos of what references lead to. A hash is 0 while it is being computed.
	properties map[*lumigl.Vertex]*lumigl.ObjectBuilder
	hashes     map[property]uint64
}

// property is a property of a resource.
type property struct {
	of   *lumigl.Vertex
	name string
}

// newSettler completes desired state and settles it.
func newSettler(state, desired *lumigl.Snapshot, types Types, named []match.Pair) (*settler, error) {
	completed, err := complete(state, desired, types.Outputs, named)
	if err != nil {
		return nil, err
	}
	s := &settler{
		state: state, settled: completed, replaces: types.Replaces,
		unsettled:  map[*lumigl.Vertex]bool{},
		recognized: map[*lumigl.Vertex]*lumigl.Vertex{},
		properties: map[*lumigl.Vertex]*lumigl.ObjectBuilder{},
		hashes:     map[property]uint64{},
	}
	s.hasher = match.Hasher{Work: match.Work(completed.Len()), Equivalence: s}
	var open []*lumigl.Vertex
	for r := range completed.Vertices() {
		if state.Vertex(r.Key()) != nil && isOpen(r.Properties) {
			open = append(open, r)
			s.unsettled[r] = true
		}
	}
	for _, r := range match.Sorted(open) {
		r.Properties = s.Rewrite(r.Properties, state.Vertex(r.Key()).Properties)
		delete(s.unsettled, r)
	}
	return s, nil
}

// isOpen reports whether a value has a part for which the state may have an equivalent that is written differently.
func isOpen(v lumigl.Value) bool {
	if _, name, _ := v.Target(); name != "" || v.IsExpression() || v.IsFile() && !v.Get("hash").Exists() {
		return true
	}
	for _, e := range v.Elements() {
		if isOpen(e) {
			return true
		}
	}
	for _, e := range v.Members() {
		if isOpen(e) {
			return true
		}
	}
	return false
}

// Rewrite implements [match.Equivalence].
func (s *settler) Rewrite(new, was lumigl.Value) lumigl.Value {
	if v, ok := s.evaluate(new); ok {
		switch {
		case v.Equal(was) && leads(was, s.here):
			return was.Retarget(s.here)
		case isExpression(new) && leads(v, s.here):
			return v.Retarget(s.here) // so that the difference between the two values is seen
		}
	}
	switch {
	case new.Kind() != was.Kind():
	case new.Kind() == lumigl.Object:
		v := s.object(new, was)
		if hash := was.Get("hash"); v.IsFile() && !v.Get("hash").Exists() && hash.Kind() == lumigl.Text {
			if hashed := v.With("hash", hash); hashed.Equal(was) {
				return hashed
			}
		}
		return v
	case new.Kind() == lumigl.List:
		return s.list(new, was)
	}
	return new
}

// evaluate returns the value of a reference to a property, of an expression, or of a secret made of one, if it is known.
func (s *settler) evaluate(v lumigl.Value) (lumigl.Value, bool) {
	if v.Kind() == lumigl.Reference {
		_, known, ok := s.find(v.Target())
		return known, ok
	}
	if !v.IsSecret() && !v.IsExpression() {
		return lumigl.Value{}, false
	}
	known, err := expr.Evaluate(v, func(target *lumigl.Vertex, name string) (lumigl.Value, bool) {
		_, known, ok := s.find(target, name, true)
		return known, ok
	})
	return known, err == nil && expr.IsKnown(known)
}

// isExpression reports whether v is an expression, or a secret made of one.
func isExpression(v lumigl.Value) bool {
	if content, ok := v.Secret(); ok {
		v = content
	}
	return v.IsExpression()
}

// isNull reports whether v is null, or a secret that is.
func isNull(v lumigl.Value) bool {
	if content, ok := v.Secret(); ok {
		v = content
	}
	return v.Kind() == lumigl.Null
}

func (s *settler) object(new, was lumigl.Value) lumigl.Value {
	olds := make(map[string]lumigl.Value, was.Len())
	for key, v := range was.Members() {
		olds[key] = v
	}
	all := make([]lumigl.Member, 0, new.Len())
	for key, v := range new.Members() {
		rewritten := s.Rewrite(v, olds[key])
		if isExpression(v) && isNull(rewritten) {
			continue // Get found nothing, which is the same as no member.
		}
		all = append(all, lumigl.Member{Key: key, Value: rewritten})
	}
	return lumigl.ObjectOf(all...)
}

// list rewrites the elements of a list: each as an equivalent old one, wherever that is, and the others as the one in
// their place if that is left.
func (s *settler) list(new, was lumigl.Value) lumigl.Value {
	places := map[uint64][]int{} // of old elements, by hash
	for i, e := range was.Elements() {
		n := s.hasher.Value(e)
		places[n] = append(places[n], i)
	}
	all := make([]lumigl.Value, new.Len())
	taken := make([]bool, was.Len())
	for i, e := range new.Elements() {
		n := s.hasher.Value(e)
		if left := places[n]; len(left) > 0 && s.hasher.Work > 0 {
			all[i], taken[left[0]], places[n] = s.Rewrite(e, was.At(left[0])), true, left[1:]
		}
	}
	for i, e := range new.Elements() {
		switch {
		case all[i].Exists():
		case i < was.Len() && !taken[i]:
			all[i] = s.Rewrite(e, was.At(i))
		default:
			all[i] = e
		}
	}
	return lumigl.ListOf(all...)
}

// find returns the property that a reference leads to, and its value if that is known, since the resource stays.
func (s *settler) find(target *lumigl.Vertex, name string, isReference bool) (property, lumigl.Value, bool) {
	if !isReference || name == "" {
		return property{}, lumigl.Value{}, false
	}
	p := property{s.standing(target), name}
	if s.unsettled[p.of] {
		return p, lumigl.Value{}, false
	}
	all, found := s.properties[p.of]
	if !found {
		all = s.propertiesOf(p.of)
		s.properties[p.of] = all
	}
	v := all.Get(name)
	return p, v, v.Exists() && !v.IsUnknown()
}

// here returns the settled resource for one of the state, or nil if it is gone.
func (s *settler) here(v *lumigl.Vertex) *lumigl.Vertex { return s.settled.Vertex(v.Key()) }

// standing returns what a resource of either snapshot was recognized as or, failing that, the settled resource of its URN
// or, failing that, itself.
func (s *settler) standing(r *lumigl.Vertex) *lumigl.Vertex {
	r = cmp.Or(s.here(r), r)
	return cmp.Or(s.recognized[r], r)
}

// Recognize implements [match.Equivalence]. References to the new resource's properties lead to the old one's from then
// on.
func (s *settler) Recognize(old, new *lumigl.Vertex) { s.recognized[new] = old }

// propertiesOf returns what references lead to in a resource that stays: its id and URN, the desired properties, and those
// in the state for the rest. There is nothing for a resource that is created or replaced.
func (s *settler) propertiesOf(r *lumigl.Vertex) *lumigl.ObjectBuilder {
	all := &lumigl.ObjectBuilder{}
	if was := s.state.Vertex(r.Key()); was != nil && !s.replaces.Replaced(was, r, &s.hasher.Work) {
		all.SetAll(was.Properties)
		all.SetAll(r.Properties)
		if was.ID != "" {
			all.Set("id", lumigl.TextOf(was.ID))
		}
		all.Set("urn", lumigl.TextOf(r.Key()))
	}
	return all
}

// Hash implements [match.Equivalence]. A reference or an expression has the hash of its value, and so has a secret made of
// an expression, or of a reference to a secret. A file is hashed without its own hash, which desired state lacks.
func (s *settler) Hash(h *match.Hasher, v lumigl.Value) (uint64, bool) {
	if isExpression(v) {
		known, ok := s.evaluate(v)
		if !ok {
			return 0, false
		}
		return h.Value(known), true
	}
	to := v
	if content, ok := v.Secret(); ok {
		if _, known, _ := s.find(content.Target()); !known.IsSecret() {
			return 0, false
		}
		to = content
	}
	if p, _, ok := s.find(to.Target()); ok {
		if _, begun := s.hashes[p]; !begun {
			s.hashDependenciesFirst(h, p)
		}
		return s.hashes[p], true
	}
	if v.IsFile() && v.Get("hash").Exists() {
		return h.Value(v.With("hash", lumigl.Value{})), true
	}
	return 0, false
}

// hashDependenciesFirst computes the hash of a property, after those of all properties that it leads to, so that the
// recursion stays flat. In a cycle, a property counts with the hash 0.
func (s *settler) hashDependenciesFirst(h *match.Hasher, p property) {
	stack := []property{p}
	for len(stack) > 0 {
		p := stack[len(stack)-1]
		v := s.properties[p.of].Get(p.name)
		if known, begun := s.hashes[p]; begun {
			stack = stack[:len(stack)-1]
			if known == 0 {
				s.hashes[p] = h.Value(v)
			}
			continue
		}
		s.hashes[p] = 0
		for target, name := range v.References() {
			if q, _, ok := s.find(target, name, true); ok {
				if _, begun := s.hashes[q]; !begun {
					stack = append(stack, q)
				}
			}
		}
	}
}
