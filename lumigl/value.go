package lumigl

import (
	"iter"
	"math"
	"slices"
	"strconv"
)

// Kind says what a [Value] is.
type Kind uint8

// The kinds of values. The zero Value is Absent: what an accessor returns for something that is not there.
const (
	Absent Kind = iota
	Null
	Bool
	Number
	Text
	List
	Object
	Reference
)

var kindNames = [...]string{
	Absent: "nothing", Null: "null", Bool: "a boolean", Number: "a number", Text: "a string", List: "a list",
	Object: "an object", Reference: "a reference",
}

// String returns the name of the kind with its article, such as "a list".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}

// Value is a JSON value in which objects that refer to vertices have become references. Values are immutable and may be
// shared between graphs, but for references, which hold on to their target. The zero Value is absent. All accessors
// work on any value, so that v.Get("a").At(0).Get("b") needs no check before its end.
type Value struct {
	// With a fifth field, the compiler would no longer keep values in registers.
	kind   Kind
	offset uint32 // where the value starts in the source it was read from
	// text is a string's content, a number's literal, a reference's property, or "true".
	text string
	node *node
}

// node is what values with an inside have there.
type node struct {
	elements []Value  // of a list
	members  []Member // of an object
	target   *Vertex  // of a reference
}

// Member is a key of an object with its value.
type Member struct {
	Key   string
	Value Value
	// offset is where the key starts in the source.
	offset uint32
}

// NullValue returns null.
func NullValue() Value { return Value{kind: Null} }

// BoolOf returns a boolean.
func BoolOf(b bool) Value {
	if b {
		return Value{kind: Bool, text: "true"}
	}
	return Value{kind: Bool, text: "false"}
}

// TextOf returns a string. It has to be UTF-8 to be written.
func TextOf(s string) Value { return Value{kind: Text, text: s} }

// IntOf returns a whole number.
func IntOf(n int64) Value { return Value{kind: Number, text: strconv.FormatInt(n, 10)} }

// FloatOf returns a number. It reports whether JSON can express it, which it cannot the infinities and NaN.
func FloatOf(f float64) (Value, bool) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return Value{}, false
	}
	return Value{kind: Number, text: canonicalNumber(strconv.FormatFloat(f, 'g', -1, 64))}, true
}

// NumberOf returns the number that a JSON literal stands for, with all its digits. It reports whether that is one.
func NumberOf(literal string) (Value, bool) {
	if literal == "" || numberEnd(literal) != len(literal) {
		return Value{}, false
	}
	return Value{kind: Number, text: literal}, true
}

// ListOf returns a list. An absent element is null. The slice must not be changed after.
func ListOf(elements ...Value) Value {
	if slices.ContainsFunc(elements, isAbsent) {
		elements = slices.Clone(elements)
		for i := range elements {
			if isAbsent(elements[i]) {
				elements[i] = NullValue()
			}
		}
	}
	return Value{kind: List, node: &node{elements: elements}}
}

// ObjectOf returns an object. A member whose value is absent is left out. The slice must not be changed after, and no key
// may be there twice: what is written would not be accepted by any reader of this package.
func ObjectOf(members ...Member) Value {
	absent := func(m Member) bool { return isAbsent(m.Value) }
	if slices.ContainsFunc(members, absent) {
		members = slices.DeleteFunc(slices.Clone(members), absent)
	}
	return Value{kind: Object, node: &node{members: members}}
}

func isAbsent(v Value) bool { return v.kind == Absent }

// ReferenceTo returns a reference to a vertex. One to nil dangles.
func ReferenceTo(v *Vertex) Value { return PropertyOf(v, "") }

// PropertyOf returns a reference to a property of a vertex.
func PropertyOf(v *Vertex, property string) Value {
	if v == nil {
		v = &Vertex{}
	}
	return Value{kind: Reference, text: property, node: &node{target: v}}
}

// Kind says what the value is.
func (v Value) Kind() Kind { return v.kind }

// Exists reports whether there is a value. Null is one.
func (v Value) Exists() bool { return v.kind != Absent }

// Offset is where the value starts in the text that it was parsed from, in bytes. It is 0 for a value that was made.
func (v Value) Offset() int { return int(v.offset) }

// Text returns a string's content.
func (v Value) Text() (string, bool) {
	if v.kind != Text {
		return "", false
	}
	return v.text, true
}

// Bool returns a boolean.
func (v Value) Bool() (value, ok bool) { return v.kind == Bool && v.text == "true", v.kind == Bool }

// Float returns the float64 that is nearest to a number.
func (v Value) Float() (float64, bool) {
	if v.kind != Number {
		return 0, false
	}
	f, err := strconv.ParseFloat(v.text, 64)
	return f, err == nil
}

// Int returns a number that is whole and fits.
func (v Value) Int() (int64, bool) {
	if v.kind != Number {
		return 0, false
	}
	n, err := strconv.ParseInt(canonicalNumber(v.text), 10, 64)
	return n, err == nil
}

// Literal returns a number as JSON text, with all its digits, in the canonical way of writing it.
func (v Value) Literal() (string, bool) {
	if v.kind != Number {
		return "", false
	}
	return canonicalNumber(v.text), true
}

// Len is the number of a list's elements or an object's members, and otherwise 0.
func (v Value) Len() int { return len(v.elements()) + len(v.members()) }

// At returns an element of a list, and the absent Value if there is no such element.
func (v Value) At(i int) Value {
	if elements := v.elements(); 0 <= i && i < len(elements) {
		return elements[i]
	}
	return Value{}
}

// Get returns what stands behind a key of an object, and the absent Value if there is no such key.
func (v Value) Get(key string) Value {
	members := v.members()
	for i := range members { // Members are large, and copied where they are ranged over.
		if members[i].Key == key {
			return members[i].Value
		}
	}
	return Value{}
}

// Elements are a list's.
func (v Value) Elements() iter.Seq2[int, Value] { return slices.All(v.elements()) }

// Members are an object's, in order.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for _, m := range v.members() {
			if !yield(m.Key, m.Value) {
				return
			}
		}
	}
}

// Target returns what a reference refers to: a vertex, or, if the name is not empty, a property of it.
func (v Value) Target() (vertex *Vertex, property string, ok bool) {
	if v.kind != Reference {
		return nil, "", false
	}
	return v.node.target, v.text, true
}

// With returns a copy of an object in which a key has a value: in its old place if it was there, else at the end. An
// absent value removes the key. What is not an object counts as an empty one. It copies the object: to set many keys, use
// an [ObjectBuilder].
func (v Value) With(key string, value Value) Value {
	members := slices.Clone(v.members())
	i := slices.IndexFunc(members, func(m Member) bool { return m.Key == key })
	switch {
	case i < 0 && !value.Exists():
	case i < 0:
		members = append(members, Member{Key: key, Value: value})
	case !value.Exists():
		members = slices.Delete(members, i, i+1)
	default:
		members[i].Value = value
	}
	return ObjectOf(members...)
}

// References are all references within the value, in the order of the text.
func (v Value) References() iter.Seq2[*Vertex, string] {
	return func(yield func(*Vertex, string) bool) { v.references(yield) }
}

func (v *Value) references(yield func(*Vertex, string) bool) bool {
	switch v.kind {
	case Reference:
		return yield(v.node.target, v.text)
	case List:
		for i := range v.node.elements {
			if !v.node.elements[i].references(yield) {
				return false
			}
		}
	case Object:
		for i := range v.node.members {
			if !v.node.members[i].Value.references(yield) {
				return false
			}
		}
	}
	return true
}

// Retarget returns the value with references that lead where to says. What does not change is shared with v.
func (v Value) Retarget(to func(*Vertex) *Vertex) Value { return v.retarget(nil, to) }

func (v *Value) retarget(memory *slabs, to func(*Vertex) *Vertex) Value {
	return v.replace(memory, func(part *Value) (Value, bool) {
		if part.kind != Reference {
			return Value{}, false
		}
		target := to(part.node.target)
		switch target {
		case part.node.target:
			return Value{}, false
		case nil:
			target = &Vertex{}
		}
		return Value{kind: Reference, text: part.text, node: memory.copy(node{target: target})}, true
	})
}

// Replace returns the value with the parts, outermost first, for which replace returns true replaced by what it returns
// with that; an absent value removes an element or a member. What does not change is shared with v.
func (v Value) Replace(replace func(part Value) (Value, bool)) Value {
	return v.replace(nil, func(part *Value) (Value, bool) { return replace(*part) })
}

func (v *Value) replace(memory *slabs, with func(*Value) (Value, bool)) Value {
	if replaced, changed := v.replaced(memory, with); changed {
		return replaced
	}
	return *v
}

// replaced returns what a value becomes if it changes. It takes a pointer, since most values are only looked at.
func (v *Value) replaced(memory *slabs, with func(*Value) (Value, bool)) (Value, bool) {
	if part, changed := with(v); changed {
		return part, true
	}
	return v.mapped(memory, func(_ int, _ string, part *Value) (Value, bool) { return part.replaced(memory, with) })
}

// Plain returns the value as package json decodes it: nil, a bool, a float64, a string, a []any or a map[string]any. Each part,
// outermost first, for which special returns true is what it returns with that. Other references are nil.
func (v Value) Plain(special func(part Value) (any, bool)) any {
	if plain, ok := special(v); ok {
		return plain
	}
	switch v.kind {
	case Bool:
		return v.text == "true"
	case Number:
		f, _ := v.Float() // infinite if it is too large
		return f
	case Text:
		return v.text
	case List:
		list := make([]any, 0, v.Len())
		for _, element := range v.Elements() {
			list = append(list, element.Plain(special))
		}
		return list
	case Object:
		object := make(map[string]any, v.Len())
		for key, member := range v.Members() {
			object[key] = member.Plain(special)
		}
		return object
	}
	return nil
}

// Map returns a list or an object with the elements or members for which replace returns true replaced, as
// [Value.Replace] does with all parts. It tells replace the index of each, and the key of a member.
func (v Value) Map(replace func(i int, key string, part Value) (Value, bool)) Value {
	if w, changed := v.mapped(nil, func(i int, key string, part *Value) (Value, bool) { return replace(i, key, *part) }); changed {
		return w
	}
	return v
}

func (v *Value) mapped(memory *slabs, replace func(i int, key string, part *Value) (Value, bool)) (Value, bool) {
	var n *node
	absent := false
	change := func() *node {
		if n == nil {
			n = memory.copy(*v.node)
		}
		return n
	}
	switch v.kind {
	case List:
		for i := range v.node.elements {
			if part, changed := replace(i, "", &v.node.elements[i]); changed {
				change().elements[i] = part
				absent = absent || isAbsent(part)
			}
		}
	case Object:
		for i := range v.node.members {
			m := &v.node.members[i]
			if part, changed := replace(i, m.Key, &m.Value); changed {
				change().members[i].Value = part
				absent = absent || isAbsent(part)
			}
		}
	}
	if n == nil {
		return Value{}, false
	}
	if absent {
		n.elements = slices.DeleteFunc(n.elements, isAbsent)
		n.members = slices.DeleteFunc(n.members, func(m Member) bool { return isAbsent(m.Value) })
	}
	return Value{kind: v.kind, offset: v.offset, node: n}, true
}

// Equal reports whether two values are the same: numbers by what they amount to, objects whatever the order of their
// keys, references by the keys of their targets.
func (v Value) Equal(w Value) bool {
	if v.kind != w.kind {
		return false
	}
	switch v.kind {
	case Number:
		return v.text == w.text || canonicalNumber(v.text) == canonicalNumber(w.text)
	case List:
		return slices.EqualFunc(v.node.elements, w.node.elements, Value.Equal)
	case Object:
		return equalMembers(v.node.members, w.node.members)
	case Reference:
		return v.text == w.text && v.node.target.Key() == w.node.target.Key()
	}
	return v.text == w.text
}

func equalMembers(a, b []Member) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Key != b[i].Key {
			return equalSorted(sorted(a), sorted(b))
		}
		if !a[i].Value.Equal(b[i].Value) {
			return false
		}
	}
	return true
}

func equalSorted(a, b []Member) bool {
	return slices.EqualFunc(a, b, func(m, n Member) bool { return m.Key == n.Key && m.Value.Equal(n.Value) })
}

func (v *Value) elements() []Value {
	if v.kind != List {
		return nil
	}
	return v.node.elements
}

func (v *Value) members() []Member {
	if v.kind != Object {
		return nil
	}
	return v.node.members
}
