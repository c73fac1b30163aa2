package convert

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/lumi-idl/lumi/internal/jsonpointer"
	"github.com/lumi-idl/lumi/lumigl"
)

// book accounts for every value of a document: the source itself, or a document embedded as text in a string.
type book struct {
	root lumigl.Value
	// text is the string that contains the document, or nil for the source.
	text *source
	// Sets of values, by start offset. They take much less memory than a parallel tree.
	opened, settled, lost, hidden marks
	// none is the source for missing values.
	none source

	// The following fields are used only in the source's book.
	inner  []*book
	losses []Loss
	// about lists the positions and identifiers of resources.
	about []named
}

// named is the position of a resource with its identifier.
type named struct {
	place int
	name  string
}

// marks is a bit set of offsets.
type marks []uint64

func (m *marks) add(v lumigl.Value) {
	at := start(v)
	if missing := at/64 + 1 - len(*m); missing > 0 {
		*m = append(*m, make(marks, missing+len(*m))...) // doubles the size to amortize growth
	}
	(*m)[at/64] |= 1 << (at % 64)
}

func (m marks) has(v lumigl.Value) bool {
	at := start(v)
	return at/64 < len(m) && m[at/64]>>(at%64)&1 == 1
}

// source is a value being read. Reading a part of it opens the value; each part must then be accounted for separately.
// Methods text, flag, take, and lose account for the whole value. Values not accounted for are reported as losses.
//
// A source may be missing or null; all methods treat it as empty.
type source struct {
	book  *book
	value lumigl.Value
	// depth is the nesting depth of the value. It is 1 for the top-level value.
	depth int
}

// start returns the offset of a value plus 1, or 0 for a missing value.
func start(v lumigl.Value) int {
	if !v.Exists() {
		return 0
	}
	return v.Offset() + 1
}

func (b *book) source(depth int) *source {
	b.none.book = b
	return &source{book: b, value: b.root, depth: depth}
}

// part returns the source for a part of s.
func (s *source) part(v lumigl.Value) *source {
	return &source{book: s.book, value: v, depth: s.depth + 1}
}

// within returns the source for the document v, which is embedded as text in the string s.
func (s *source) within(v lumigl.Value) *source {
	s.settle()
	in := &book{root: v, text: s}
	file := s.file().book
	file.inner = append(file.inner, in)
	return in.source(s.depth + 1)
}

// file returns the source in the source file: s itself, or the string in which its document is embedded.
func (s *source) file() *source {
	for s.book.text != nil {
		s = s.book.text
	}
	return s
}

// settle marks the value as accounted for.
func (s *source) settle() { s.book.settled.add(s.value) }

// hide marks the value as secret. Pointers to values within it end there.
func (s *source) hide() { s.book.hidden.add(s.value) }

// calls records the identifier of the resource at this value.
func (s *source) calls(name string) { s.book.about = append(s.book.about, named{start(s.value), name}) }

// called returns the last identifier recorded for the resource at v, or "" if there is none.
func (b *book) called(v lumigl.Value) string {
	i, _ := slices.BinarySearchFunc(b.about, start(v)+1, func(n named, place int) int { return n.place - place })
	if i > 0 && b.about[i-1].place == start(v) {
		return b.about[i-1].name
	}
	return ""
}

// settle reports all values not accounted for. It then sorts the losses and sets their pointers and resources.
func (b *book) settle() {
	b.unsettled(b.root)
	for _, in := range b.inner {
		in.unsettled(in.root)
	}
	if len(b.losses) == 0 {
		return
	}
	slices.SortStableFunc(b.losses, func(x, y Loss) int { return cmp.Compare(x.place, y.place) })
	slices.SortStableFunc(b.about, func(x, y named) int { return cmp.Compare(x.place, y.place) })
	b.locate(b.losses, b.root, "", "")
}

// unsettled reports the parts of v not accounted for.
func (b *book) unsettled(v lumigl.Value) {
	switch {
	case b.settled.has(v):
	case !b.opened.has(v): // a member, since opening a list accounts for all elements
		(&source{book: b, value: v}).lose(UnknownLoss, "dropped: unknown key")
	default:
		for _, e := range v.Elements() {
			b.unsettled(e)
		}
		for _, m := range v.Members() {
			b.unsettled(m)
		}
	}
}

// locate sets the pointers and resources of the losses within v, which must be sorted. Pointers end at secrets, since
// the keys within a secret are secret too.
func (b *book) locate(losses []Loss, v lumigl.Value, pointer, resource string) {
	resource = cmp.Or(b.called(v), resource)
	whole := v.IsSecret() || b.hidden.has(v)
	for len(losses) > 0 && (whole || losses[0].place <= start(v)) {
		losses[0].pointer, losses[0].resource = pointer, resource
		losses = losses[1:]
	}
	step, last := "", v
	next := func(key string, part lumigl.Value, begin int) bool {
		n := 0
		for n < len(losses) && losses[n].place < begin {
			n++
		}
		if n > 0 {
			b.locate(losses[:n], last, pointer+"/"+jsonpointer.Escape(step), resource)
			losses = losses[n:]
		}
		step, last = key, part
		return len(losses) > 0
	}
	for i, e := range v.Elements() {
		if !next(strconv.Itoa(i), e, start(e)) {
			return
		}
	}
	for key, m := range v.Members() {
		if !next(key, m, start(m)) {
			return
		}
	}
	next("", lumigl.Value{}, math.MaxInt)
}

// lose accounts for the value by reporting it as a loss. Later losses of the same value are ignored.
func (s *source) lose(code Code, format string, args ...any) {
	s.settle()
	if !s.isLost() {
		s.book.lost.add(s.value)
		s.note(code, format, args...)
	}
}

func (s *source) isLost() bool { return s.book.lost.has(s.value) }

// loseUnlessZero accounts for the value. It reports a loss if the value carries information.
func (s *source) loseUnlessZero(code Code, message string) {
	if s.nonzero() {
		s.lose(code, "%s", message)
	} else {
		s.take()
	}
}

// note reports a loss without accounting for the value.
func (s *source) note(code Code, format string, args ...any) {
	at := s.file()
	at.book.losses = append(at.book.losses, Loss{Code: code, Message: fmt.Sprintf(format, args...), place: start(at.value)})
}

// exists reports whether the value is neither missing nor null.
func (s *source) exists() bool { return s.value.Exists() && s.value.Kind() != lumigl.Null }

// is reports whether the value has the given kind. It reports values of other kinds as losses, unless they are null.
func (s *source) is(kind lumigl.Kind) bool {
	switch {
	case s.value.Kind() == kind:
		return true
	case s.exists():
		s.lose(ShapeLoss, "dropped: expected %s, got %s", kind, s.value.Kind())
	}
	s.settle()
	return false
}

// or returns s, or other if s is missing or null.
func (s *source) or(other *source) *source {
	if s.exists() {
		return s
	}
	return other
}

func (s *source) open() { s.book.opened.add(s.value) }

// key returns the member of an object with the given key, or a missing source.
func (s *source) key(key string) *source {
	if s.value.Kind() == lumigl.Object {
		s.open()
		if v := s.value.Get(key); v.Exists() {
			return s.part(v)
		}
	}
	return &s.book.none
}

func (s *source) elements() iter.Seq2[int, *source] {
	return func(yield func(int, *source) bool) {
		if !s.is(lumigl.List) {
			return
		}
		s.open()
		for i, e := range s.value.Elements() {
			if !yield(i, s.part(e)) {
				return
			}
		}
	}
}

// members iterates over the members of an object. A secret is reported as a loss, since objects with predefined keys
// cannot be secret.
func (s *source) members() iter.Seq2[string, *source] {
	return func(yield func(string, *source) bool) {
		if s.value.IsSecret() {
			s.lose(ShapeLoss, "dropped: expected %s, got a secret", lumigl.Object)
		}
		if s.isLost() || !s.is(lumigl.Object) {
			return
		}
		s.open()
		for key, m := range s.value.Members() {
			if !yield(key, s.part(m)) {
				return
			}
		}
	}
}

// walk returns the value with parts replaced as by [lumigl.Value.Replace]. It accounts for all other parts.
func (s *source) walk(replace func(*source) (lumigl.Value, bool)) lumigl.Value {
	if v, ok := replace(s); ok {
		return v
	}
	if kind := s.value.Kind(); kind != lumigl.List && kind != lumigl.Object {
		return s.take()
	}
	s.open()
	return s.value.Map(func(_ int, _ string, part lumigl.Value) (lumigl.Value, bool) {
		part = s.part(part).walk(replace)
		if !part.Exists() && s.value.Kind() == lumigl.List {
			part = lumigl.NullValue() // keeps the indices of other elements
		}
		return part, true
	})
}

// text returns the content of a string, or "" for other values, which are reported as losses.
func (s *source) text() string {
	if !s.is(lumigl.Text) {
		return ""
	}
	s.settle()
	text, _ := s.value.Text()
	return text
}

// flag returns the value of a boolean, or false for other values, which are reported as losses.
func (s *source) flag() bool {
	if !s.is(lumigl.Bool) {
		return false
	}
	s.settle()
	b, _ := s.value.Bool()
	return b
}

// take marks the whole value as accounted for and returns it.
func (s *source) take() lumigl.Value {
	s.settle()
	return s.value
}

// nonzero reports whether the value carries information: it is not missing, null, false, 0, or empty.
func (s *source) nonzero() bool {
	v := s.value
	switch v.Kind() {
	case lumigl.Absent, lumigl.Null:
		return false
	case lumigl.Bool:
		b, _ := v.Bool()
		return b
	case lumigl.Number:
		literal, _ := v.Literal()
		return literal != "0"
	case lumigl.Text:
		text, _ := v.Text()
		return text != ""
	}
	return v.Len() > 0
}

// bag is an object under construction.
type bag struct{ list []lumigl.Member }

func (b *bag) set(key string, v lumigl.Value) {
	if v.Exists() {
		b.list = append(b.list, lumigl.Member{Key: key, Value: v})
	}
}

// keep copies parts of s, including zeros and empty values. Null values are skipped.
func (b *bag) keep(s *source, keys ...string) {
	for _, key := range keys {
		part := s.key(key)
		if v := part.take(); part.exists() {
			b.set(key, v)
		}
	}
}

// object returns the object, or the absent value if it has no members.
func (b *bag) object() lumigl.Value {
	if len(b.list) == 0 {
		return lumigl.Value{}
	}
	return lumigl.ObjectOf(b.list...)
}
