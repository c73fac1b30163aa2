package lumigl

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strconv"
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

// sorted returns members in the order of their keys.
func sorted(members []Member) []Member {
	if slices.IsSortedFunc(members, byName) {
		return members
	}
	members = slices.Clone(members)
	slices.SortStableFunc(members, byName)
	return members
}

func byName(a, b Member) int { return cmp.Compare(a.Key, b.Key) }

// duplicates calls report with each member of an object whose key is there already, and with the first that has it.
func duplicates(members []Member, report func(first, again Member)) {
	const few = 12
	if len(members) <= few {
		for i := 1; i < len(members); i++ {
			for j := range i {
				if members[i].Key == members[j].Key {
					report(members[j], members[i])
					break
				}
			}
		}
		return
	}
	seen := make(map[string]int, len(members))
	for i, m := range members {
		if first, ok := seen[m.Key]; ok {
			report(members[first], m)
			continue
		}
		seen[m.Key] = i
	}
}

func member(v Value, key string) (Member, bool) {
	for _, m := range v.members() {
		if m.Key == key {
			return m, true
		}
	}
	return Member{}, false
}
