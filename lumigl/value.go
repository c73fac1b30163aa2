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

// String returns the kind with an indefinite article, such as "a list".
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

// TextOf returns a string. A string that is not valid UTF-8 cannot be written.
func TextOf(s string) Value { return Value{kind: Text, text: s} }

// IntOf returns an integer.
func IntOf(n int64) Value { return Value{kind: Number, text: strconv.FormatInt(n, 10)} }

// FloatOf returns a number. It returns false for infinities and NaN, which JSON cannot represent.
func FloatOf(f float64) (Value, bool) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return Value{}, false
	}
	return Value{kind: Number, text: canonicalNumber(strconv.FormatFloat(f, 'g', -1, 64))}, true
}

// NumberOf returns the number with the given JSON literal, keeping all digits. It returns false if literal is invalid.
func NumberOf(literal string) (Value, bool) {
	if literal == "" || numberEnd(literal) != len(literal) {
		return Value{}, false
	}
	return Value{kind: Number, text: literal}, true
}

// ListOf returns a list with the given elements and takes ownership of the slice. Absent elements become null.
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

// ObjectOf returns an object with the given members and takes ownership of the slice. Members with absent values are
// dropped. Keys must be distinct; an object with duplicate keys cannot be written.
func ObjectOf(members ...Member) Value {
	absent := func(m Member) bool { return isAbsent(m.Value) }
	if slices.ContainsFunc(members, absent) {
		members = slices.DeleteFunc(slices.Clone(members), absent)
	}
	return Value{kind: Object, node: &node{members: members}}
}

func isAbsent(v Value) bool { return v.kind == Absent }

// ReferenceTo returns a reference to a vertex, or a dangling reference if v is nil.
func ReferenceTo(v *Vertex) Value { return PropertyOf(v, "") }

// PropertyOf returns a reference to a property of a vertex, or a dangling reference if v is nil.
func PropertyOf(v *Vertex, property string) Value {
	if v == nil {
		v = &Vertex{}
	}
	return Value{kind: Reference, text: property, node: &node{target: v}}
}

// Kind returns the value's kind.
func (v Value) Kind() Kind { return v.kind }

// Exists reports whether the value is not absent. It is true for null.
func (v Value) Exists() bool { return v.kind != Absent }

// Offset returns the value's byte offset in the parsed text, or 0 for a value that was not parsed.
func (v Value) Offset() int { return int(v.offset) }

// Text returns the content of a string, and false for other kinds.
func (v Value) Text() (string, bool) {
	if v.kind != Text {
		return "", false
	}
	return v.text, true
}

// Bool returns a boolean. ok is false for other kinds.
func (v Value) Bool() (value, ok bool) { return v.kind == Bool && v.text == "true", v.kind == Bool }

// Float returns the float64 nearest to a number. It returns false for other kinds and for numbers out of range.
func (v Value) Float() (float64, bool) {
	if v.kind != Number {
		return 0, false
	}
	f, err := strconv.ParseFloat(v.text, 64)
	return f, err == nil
}

// Int returns an integer, and false for other kinds, fractions, and numbers that overflow.
func (v Value) Int() (int64, bool) {
	if v.kind != Number {
		return 0, false
	}
	n, err := strconv.ParseInt(canonicalNumber(v.text), 10, 64)
	return n, err == nil
}

// Literal returns a number as canonical JSON with all its digits. It returns false for other kinds.
func (v Value) Literal() (string, bool) {
	if v.kind != Number {
		return "", false
	}
	return canonicalNumber(v.text), true
}

// Len returns the number of elements or members. It is 0 for other kinds.
func (v Value) Len() int { return len(v.elements()) + len(v.members()) }

// At returns the element of a list at index i, or the absent Value if there is none.
func (v Value) At(i int) Value {
	if elements := v.elements(); 0 <= i && i < len(elements) {
		return elements[i]
	}
	return Value{}
}

// Get returns the member of an object with the given key, or the absent Value if there is none.
func (v Value) Get(key string) Value {
	members := v.members()
	for i := range members { // by index, since copying members is slow
		if members[i].Key == key {
			return members[i].Value
		}
	}
	return Value{}
}

// Elements iterates over the indices and elements of a list. It yields nothing for other kinds.
func (v Value) Elements() iter.Seq2[int, Value] { return slices.All(v.elements()) }

// Members iterates over the keys and values of an object in order. It yields nothing for other kinds.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for _, m := range v.members() {
			if !yield(m.Key, m.Value) {
				return
			}
		}
	}
}

// Target returns the target of a reference: a vertex, and the name of a property or "" for the vertex itself. ok is
// false for other kinds.
func (v Value) Target() (vertex *Vertex, property string, ok bool) {
	if v.kind != Reference {
		return nil, "", false
	}
	return v.node.target, v.text, true
}

// With returns a copy of an object with a key set. An existing key keeps its position; a new key is appended. An absent
// value removes the key. Other kinds of v are treated as an empty object. With copies the object; to set many keys, use
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

// References iterates over the references within the value in text order. It yields the target and property of each, as
// in [Value.Target].
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

// Plain converts the value to the types used by encoding/json: nil, bool, float64, string, []any, and map[string]any.
// It first calls special for each part, outermost first, and uses the result if it returns true. References become nil
// unless special converts them.
func (v Value) Plain(special func(part Value) (any, bool)) any {
	if plain, ok := special(v); ok {
		return plain
	}
	switch v.kind {
	case Bool:
		return v.text == "true"
	case Number:
		f, _ := v.Float() // infinite if out of range
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

// Equal reports whether two values are equal. It compares numbers numerically, objects regardless of key order, and
// references by the key of the target and the property.
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

// sorted returns members sorted by key without modifying the slice.
func sorted(members []Member) []Member {
	if slices.IsSortedFunc(members, byName) {
		return members
	}
	members = slices.Clone(members)
	slices.SortStableFunc(members, byName)
	return members
}

func byName(a, b Member) int { return cmp.Compare(a.Key, b.Key) }

// duplicates calls report for each member with a duplicate key. first is the first member with that key.
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
