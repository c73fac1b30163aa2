package plan

import (
	"cmp"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/diff"
	"github.com/lumi-idl/lumi/lumigl/match"
)

// settler finds out where a program says what the state has, in other words: a reference to a property, where the state
// has its value, and a file without a hash of its content, where the state has one. Nothing is known to differ there. It
// is the equivalence by which resources are recognized too.
type settler struct {
	state, settled *lumigl.Snapshot
	replaces       diff.Replaces
	// hasher has the work that may still be done on lists and to find out what is replaced.
	hasher match.Hasher
	// unsettled are resources that have yet to be settled. Nothing is known of them.
	unsettled map[*lumigl.Vertex]bool
	// recognized are what new resources were under other URNs.
	recognized map[*lumigl.Vertex]*lumigl.Vertex
	// properties are those that are known of the resources that were referred to, and hashes those of their values. A hash
	// is 0 while it is being made.
	properties map[*lumigl.Vertex]*lumigl.ObjectBuilder
	hashes     map[property]uint64
}

// property is one of a resource.
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
	for _, r := range match.BehindTargets(open) {
		r.Properties = s.Rewrite(r.Properties, state.Vertex(r.Key()).Properties)
		delete(s.unsettled, r)
	}
	return s, nil
}

// isOpen reports whether there is anything in a value that a state may have in other words.
func isOpen(v lumigl.Value) bool {
	if _, name, _ := v.Target(); name != "" || isFile(v) && !v.Get("hash").Exists() {
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

func isSecret(v lumigl.Value) bool {
	_, ok := v.Secret()
	return ok
}

// isFile reports whether a value is an asset or an archive.
func isFile(v lumigl.Value) bool { return v.IsAsset() || v.IsArchive() }

// Rewrite returns what a program says in the words of the state, as far as that says the same.
func (s *settler) Rewrite(new, was lumigl.Value) lumigl.Value {
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
		v := s.object(new, was)
		if hash := was.Get("hash"); isFile(v) && !v.Get("hash").Exists() && hash.Kind() == lumigl.Text {
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

// reference returns the old value in place of a new one, if that is what it refers to.
func (s *settler) reference(new, to, was lumigl.Value) lumigl.Value {
	if _, v, ok := s.find(to.Target()); ok && v.Equal(was) && leads(was, s.here) {
		return was.Retarget(s.here)
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
		all = append(all, lumigl.Member{Key: key, Value: s.Rewrite(v, olds[key])})
	}
	return lumigl.ObjectOf(all...)
}

// list settles the elements of a list: each by an old one that says the same, wherever that stands, and the others by
// the one in their place if that is left.
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

// find returns which property a reference leads to, and its value, if it is known: that of a resource that stays.
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

// here is the vertex that stands for one of the state, or nil if it is gone.
func (s *settler) here(v *lumigl.Vertex) *lumigl.Vertex { return s.settled.Vertex(v.Key()) }

// standing is what stands for a resource of either snapshot: what it was recognized as, or else that of the program, or
// else that of the state.
func (s *settler) standing(r *lumigl.Vertex) *lumigl.Vertex {
	r = cmp.Or(s.here(r), r)
	return cmp.Or(s.recognized[r], r)
}

// Recognize notes what a new resource was under another URN. What refers to its properties refers to those then.
func (s *settler) Recognize(old, new *lumigl.Vertex) { s.recognized[new] = old }

// propertiesOf are the properties of a resource that stays: those that the program has, and otherwise those in the
// state. Of one that the program does not have, they are those in the state.
func (s *settler) propertiesOf(r *lumigl.Vertex) *lumigl.ObjectBuilder {
	all := &lumigl.ObjectBuilder{}
	if was := s.state.Vertex(r.Key()); was != nil && !s.replaces.Replaced(was, r, &s.hasher.Work) {
		all.SetAll(was.Properties)
		all.SetAll(r.Properties)
	}
	return all
}

// Hash returns the hash of the value which a reference stands for, if it is known, also where a program makes a secret of
// one to a value that is one already. The hash of a file is that of one without a hash, which programs do not have.
func (s *settler) Hash(h *match.Hasher, v lumigl.Value) (uint64, bool) {
	to := v
	if content, ok := v.Secret(); ok {
		if _, known, _ := s.find(content.Target()); !isSecret(known) {
			return 0, false
		}
		to = content
	}
	if p, _, ok := s.find(to.Target()); ok {
		if _, begun := s.hashes[p]; !begun {
			s.hashBehindTargets(h, p)
		}
		return s.hashes[p], true
	}
	if isFile(v) && v.Get("hash").Exists() {
		return h.Value(v.With("hash", lumigl.Value{})), true
	}
	return 0, false
}

// hashBehindTargets makes the hash of a property, and before that those of all that it leads to, so that none is left to
// be made on the way. Where that is a circle, a property in it has none yet.
func (s *settler) hashBehindTargets(h *match.Hasher, p property) {
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
