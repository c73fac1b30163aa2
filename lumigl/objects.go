package lumigl

import "slices"

// ObjectBuilder builds an object whose keys come one after another. The zero ObjectBuilder is an empty object. Each call
// takes constant time on average, except for Object, which copies all members once.
//
// Use [ObjectOf] where all members are at hand and no key can come twice, [Value.With] to change one key of an object, and
// an ObjectBuilder for anything that sets keys in a loop: With copies the object each time, which in a loop costs quadratic
// time.
//
// An ObjectBuilder must not be copied or used by several goroutines at once.
type ObjectBuilder struct {
	// members are in the order of the object. Those that were removed have the absent Value.
	members []Member
	removed int
	// at are the places of the members, once there are so many that looking at all of them takes longer.
	at map[string]int
}

// manyMembers is how many members an object has for which finding a key is worth a map.
const manyMembers = 16

// Set gives a key a value: in its old place if it was there, else at the end. An absent value removes the key. The result
// is that of [Value.With] with the same arguments.
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

// SetAll sets all keys of an object. Any other value has none.
func (b *ObjectBuilder) SetAll(object Value) {
	b.members = slices.Grow(b.members, object.Len())
	for key, value := range object.Members() {
		b.Set(key, value)
	}
}

// Get returns the value of a key, and the absent Value if there is no such key.
func (b *ObjectBuilder) Get(key string) Value {
	if i := b.find(key); i >= 0 {
		return b.members[i].Value
	}
	return Value{}
}

// Len is the number of members.
func (b *ObjectBuilder) Len() int { return len(b.members) - b.removed }

// Object returns the object so far. What is set afterwards does not change it.
func (b *ObjectBuilder) Object() Value { return ObjectOf(slices.Clone(b.members)...) }

// find is the place of a key, and -1 if it is not there.
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
