package lumigl

import "slices"

// ObjectBuilder builds an object key by key. The zero ObjectBuilder is an empty object. Methods take amortized constant
// time, except Object, which copies all members.
//
// Use [ObjectOf] for a known list of members with distinct keys, [Value.With] to change one key, and an ObjectBuilder
// to set keys in a loop, which would take quadratic time with [Value.With].
//
// An ObjectBuilder must not be copied and is not safe for concurrent use.
type ObjectBuilder struct {
	// members lists the members in order. Removed members have the absent Value.
	members []Member
	removed int
	// at maps keys to indices. It is nil while there are few members.
	at map[string]int
}

// manyMembers is the number of members from which a map is faster than a linear search.
const manyMembers = 16

// Set sets a key. An existing key keeps its position; a new key is appended. An absent value removes the key.
func (b *ObjectBuilder) Set(key string, value Value) {
	i := b.find(key)
	switch {
	case i >= 0 && value.Exists():
		b.members[i].Value = value
	case i >= 0:
		b.members[i].Value = Value{}
		b.removed++
		delete(b.at, key)
		if b.removed > len(b.members)/2 {
			b.members = slices.DeleteFunc(b.members, func(m Member) bool { return isAbsent(m.Value) })
			b.removed, b.at = 0, nil
		}
	case value.Exists():
		if b.at != nil {
			b.at[key] = len(b.members)
		}
		b.members = append(b.members, Member{Key: key, Value: value})
	}
}

// Merged returns an object with the members of two objects. Those of b take precedence.
func Merged(a, b Value) Value {
	var all ObjectBuilder
	all.SetAll(a)
	all.SetAll(b)
	return all.Object()
}

// SetAll sets all keys of an object. It ignores other kinds of values.
func (b *ObjectBuilder) SetAll(object Value) {
	b.members = slices.Grow(b.members, object.Len())
	for key, value := range object.Members() {
		b.Set(key, value)
	}
}

// Get returns the value of a key, or the absent Value if it is not set.
func (b *ObjectBuilder) Get(key string) Value {
	if i := b.find(key); i >= 0 {
		return b.members[i].Value
	}
	return Value{}
}

// Len returns the number of members.
func (b *ObjectBuilder) Len() int { return len(b.members) - b.removed }

// Object returns the object built so far. Later calls to Set do not change it.
func (b *ObjectBuilder) Object() Value { return ObjectOf(slices.Clone(b.members)...) }

// find returns the index of a key, or -1.
func (b *ObjectBuilder) find(key string) int {
	if b.at == nil && len(b.members) < manyMembers {
		return slices.IndexFunc(b.members, func(m Member) bool { return m.Key == key && m.Value.Exists() })
	}
	if b.at == nil {
		b.at = make(map[string]int, 2*len(b.members))
		for i, m := range b.members {
			if m.Value.Exists() {
				b.at[m.Key] = i
			}
		}
	}
	if i, ok := b.at[key]; ok {
		return i
	}
	return -1
}
