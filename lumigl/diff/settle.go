package diff

import (
	"cmp"

	"github.com/lumi-idl/lumi/lumigl"
)

// settler finds out where a program says what the state has, in other words: a reference to a property, where the state
// has its value, and a file without a hash of its content, where the state has one. Nothing is known to differ there.
type settler struct {
	state *lumigl.Snapshot
	// here is the vertex that stands for one of the state, or nil if it is gone.
	here     func(*lumigl.Vertex) *lumigl.Vertex
	replaces Replaces
	comparer *comparer
	// unsettled are resources that have yet to be settled. Nothing is known of them.
	unsettled map[*lumigl.Vertex]bool
	// recognized are what new resources were under other URNs.
	recognized map[*lumigl.Vertex]*lumigl.Vertex
	// properties are those that are known of the resources that were referred to, and hashes those of their values.
	properties map[*lumigl.Vertex]map[string]lumigl.Value
	hashes     map[property]propertyHash
}

// property is one of a resource.
type property struct {
	of   *lumigl.Vertex
	name string
}

// propertyHash is the hash of a property's value, once that is done.
type propertyHash struct {
	hash uint64
	done bool
}

// settle settles all resources of a snapshot that was completed, and returns what settles others.
func settle(state, completed *lumigl.Snapshot, replaces Replaces) *settler {
	s := &settler{
		state: state, replaces: replaces,
		here:       func(v *lumigl.Vertex) *lumigl.Vertex { return completed.Vertex(v.Key()) },
		comparer:   &comparer{snapshot: true, work: baseWork + workPerVertex*int64(completed.Len())},
		unsettled:  map[*lumigl.Vertex]bool{},
		recognized: map[*lumigl.Vertex]*lumigl.Vertex{},
		properties: map[*lumigl.Vertex]map[string]lumigl.Value{},
		hashes:     map[property]propertyHash{},
	}
	var open []*lumigl.Vertex
	for r := range completed.Vertices() {
		if state.Vertex(r.Key()) != nil && isOpen(r.Properties) {
			open = append(open, r)
			s.unsettled[r] = true
		}
	}
	for _, r := range behindTargets(open, propertyTargets) {
		r.Properties = s.value(r.Properties, state.Vertex(r.Key()).Properties)
		delete(s.unsettled, r)
	}
	return s
}

// isOpen reports whether there is anything in a value that a state may have in other words.
func isOpen(v lumigl.Value) bool {
	switch v.Kind() {
	case lumigl.Reference:
		_, name, _ := v.Target()
		return name != ""
	case lumigl.List:
		for _, e := range v.Elements() {
			if isOpen(e) {
				return true
			}
		}
	case lumigl.Object:
		if isFile(v) && !v.Get("hash").Exists() {
			return true
		}
		for _, e := range v.Members() {
			if isOpen(e) {
				return true
			}
		}
	}
	return false
}

// value returns what a program says in the words of the state, as far as that says the same.
func (s *settler) value(new, was lumigl.Value) lumigl.Value {
	switch {
	case new.Kind() == lumigl.Reference:
		return s.reference(new, new, was)
	case new.Kind() != was.Kind():
	case isSecret(new) && isSecret(was):
		content, _ := new.Secret()
		if v := s.reference(new, content, was); v.Equal(was) {
			return v
		}
		return s.object(new, was)
	case new.Kind() == lumigl.Object:
		return s.file(s.object(new, was), was)
	case new.Kind() == lumigl.List:
		return s.list(new, was)
	}
	return new
}

// reference returns the old value in place of a new one, if that is what it refers to.
func (s *settler) reference(new, to, was lumigl.Value) lumigl.Value {
	v, ok := s.known(to)
	if !ok || !v.Equal(was) {
		return new
	}
	for target := range was.References() {
		if s.here(target) == nil {
			return new
		}
	}
	return was.Retarget(s.here)
}

// known is the value that a reference to a property stands for, if that resource stays.
func (s *settler) known(to lumigl.Value) (lumigl.Value, bool) {
	target, name, _ := to.Target()
	_, v, ok := s.find(target, name)
	return v, ok
}

// find returns which property a reference leads to, and its value, if it is known.
func (s *settler) find(target *lumigl.Vertex, name string) (property, lumigl.Value, bool) {
	if name == "" {
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
	v, ok := all[name]
	return p, v, ok && !v.IsUnknown()
}

// standing is what stands for a resource of either snapshot: what it was recognized as, or else that of the program, or
// else that of the state.
func (s *settler) standing(r *lumigl.Vertex) *lumigl.Vertex {
	r = cmp.Or(s.here(r), r)
	return cmp.Or(s.recognized[r], r)
}

// recognize notes what a new resource was under another URN. What refers to its properties refers to those then.
func (s *settler) recognize(old, new *lumigl.Vertex) { s.recognized[new] = old }

// forget takes that back.
func (s *settler) forget(new *lumigl.Vertex) { delete(s.recognized, new) }

// propertiesOf are the properties of a resource that stays: those that the program has, and otherwise those in the
// state. Of one that the program does not have, they are those in the state.
func (s *settler) propertiesOf(r *lumigl.Vertex) map[string]lumigl.Value {
	was := s.state.Vertex(r.Key())
	if was == nil {
		return nil
	}
	if !same(was, r) {
		change := Resource{Kind: Updated, Key: r.Key(), Old: was, New: r, Changes: s.comparer.bodies(was, r)}
		if s.replaces.mark(&change); change.Kind == Replaced {
			return nil
		}
	}
	all := make(map[string]lumigl.Value, was.Properties.Len())
	for _, properties := range []lumigl.Value{was.Properties, r.Properties} {
		for name, v := range properties.Members() {
			all[name] = v
		}
	}
	return all
}

// file gives a file the hash that its content had, if it is the same otherwise.
func (s *settler) file(new, was lumigl.Value) lumigl.Value {
	if !isFile(new) || new.Get("hash").Exists() || was.Get("hash").Kind() != lumigl.Text {
		return new
	}
	if hashed := new.With("hash", was.Get("hash")); hashed.Equal(was) {
		return hashed
	}
	return new
}

func (s *settler) object(new, was lumigl.Value) lumigl.Value {
	olds := make(map[string]lumigl.Value, was.Len())
	for key, v := range was.Members() {
		olds[key] = v
	}
	all := make([]lumigl.Member, 0, new.Len())
	for key, v := range new.Members() {
		all = append(all, lumigl.Member{Key: key, Value: s.value(v, olds[key])})
	}
	return lumigl.ObjectOf(all...)
}

// list settles the elements of a list: each by an old one that says the same, wherever that stands, and the others by
// the one in their place if that is left.
func (s *settler) list(new, was lumigl.Value) lumigl.Value {
	h := hasher{work: &s.comparer.work, settler: s}
	places := map[uint64][]int{} // of old elements, by hash
	for i, e := range was.Elements() {
		n := h.value(e)
		places[n] = append(places[n], i)
	}
	all := make([]lumigl.Value, new.Len())
	taken := make([]bool, was.Len())
	for i, e := range new.Elements() {
		n := h.value(e)
		if left := places[n]; len(left) > 0 && s.comparer.work > 0 {
			all[i], taken[left[0]], places[n] = s.value(e, was.At(left[0])), true, left[1:]
		}
	}
	for i, e := range new.Elements() {
		switch {
		case all[i].Exists():
		case i < was.Len() && !taken[i]:
			all[i] = s.value(e, was.At(i))
		default:
			all[i] = e
		}
	}
	return lumigl.ListOf(all...)
}

// hash is that of the value which a reference stands for, if it is known.
func (s *settler) hash(h *hasher, to lumigl.Value) (uint64, bool) {
	target, name, _ := to.Target()
	p, _, ok := s.find(target, name)
	if !ok {
		return 0, false
	}
	if _, begun := s.hashes[p]; !begun {
		s.hashBehindTargets(h, p)
	}
	return s.hashes[p].hash, true
}

// hashSecret is the hash of a secret that a program makes of a reference to a value which is one already.
func (s *settler) hashSecret(h *hasher, secret lumigl.Value) (uint64, bool) {
	content, _ := secret.Secret()
	if v, ok := s.known(content); !ok || !isSecret(v) {
		return 0, false
	}
	return s.hash(h, content)
}

// hashBehindTargets makes the hash of a property, and before that those of all that it leads to, so that none is left to
// be made on the way. Where that is a circle, a property in it has none yet.
func (s *settler) hashBehindTargets(h *hasher, p property) {
	stack := []property{p}
	for len(stack) > 0 {
		p := stack[len(stack)-1]
		v := s.properties[p.of][p.name]
		known, begun := s.hashes[p]
		if begun {
			stack = stack[:len(stack)-1]
			if !known.done {
				s.hashes[p] = propertyHash{h.value(v), true}
			}
			continue
		}
		s.hashes[p] = propertyHash{}
		for target, name := range v.References() {
			if q, _, ok := s.find(target, name); ok {
				if _, begun := s.hashes[q]; !begun {
					stack = append(stack, q)
				}
			}
		}
	}
}
