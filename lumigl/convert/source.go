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

// book keeps account of what becomes of a document: the source, or one that stood as text in a string of it.
type book struct {
	root lumigl.Value
	// text is the string that the document stood in. It is nil for the source.
	text *source
	// What became of values, by where they start. It takes a small part of the memory that a tree beside the values would.
	opened, settled, lost, hidden marks
	// none is what is not there. It is the same everywhere.
	none source

	// The book of the source has all that follows.
	inner  []*book
	losses []Loss
	// about are what the source calls the resources.
	about []named
}

// named is what the source calls the resource that starts at a place.
type named struct {
	place int
	name  string
}

// marks is a set of places in a text.
type marks []uint64

func (m *marks) add(v lumigl.Value) {
	at := start(v)
	if missing := at/64 + 1 - len(*m); missing > 0 {
		*m = append(*m, make(marks, missing+len(*m))...) // Twice as large, so that few are thrown away.
	}
	(*m)[at/64] |= 1 << (at % 64)
}

func (m marks) has(v lumigl.Value) bool {
	at := start(v)
	return at/64 < len(m) && m[at/64]>>(at%64)&1 == 1
}

// source is a value of the file that is read, with the account of what became of it. To look into it opens it: from then
// on, each part has to be accounted for by itself. Text, flag, take and lose account for all that there is. What nobody
// has accounted for in the end is lost, and said to be.
//
// A source that is not there, or is null, which means the same, can be looked at like any other, and has nothing in it.
type source struct {
	book  *book
	value lumigl.Value
	// depth is how deep the value is nested in the source, 1 for all of it.
	depth int
}

// start is where a value starts, counted from 1, and 0 for what is not there.
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

// part is a value within the source's own.
func (s *source) part(v lumigl.Value) *source {
	return &source{book: s.book, value: v, depth: s.depth + 1}
}

// within is a document that stood as text in a string.
func (s *source) within(v lumigl.Value) *source {
	s.settle()
	in := &book{root: v, text: s}
	file := s.file().book
	file.inner = append(file.inner, in)
	return in.source(s.depth + 1)
}

// file is the value in the source itself, or the string that the text is in which has the value.
func (s *source) file() *source {
	for s.book.text != nil {
		s = s.book.text
	}
	return s
}

// settle accounts for the value.
func (s *source) settle() { s.book.settled.add(s.value) }

// hide says that the value is a part of a secret. Pointers end there.
func (s *source) hide() { s.book.hidden.add(s.value) }

// calls says what the source calls the resource that the value is.
func (s *source) calls(name string) { s.book.about = append(s.book.about, named{start(s.value), name}) }

// called is what the source calls the resource that a value is, empty if it is none. The last name counts.
func (b *book) called(v lumigl.Value) string {
	i, _ := slices.BinarySearchFunc(b.about, start(v)+1, func(n named, place int) int { return n.place - place })
	if i > 0 && b.about[i-1].place == start(v) {
		return b.about[i-1].name
	}
	return ""
}

// settle reports what nobody has accounted for, puts all losses in the order of the source, and says where they are.
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

// unsettled reports what nobody has accounted for in a value.
func (b *book) unsettled(v lumigl.Value) {
	switch {
	case b.settled.has(v):
	case !b.opened.has(v): // It is behind a key: who opens a list accounts for all of its elements.
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

// locate says where losses are that are within a value, in order: their JSON pointers and resources. Pointers end at
// secrets, since keys in a secret are a part of it.
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

// lose accounts for the value as a loss, of which one is enough.
func (s *source) lose(code Code, format string, args ...any) {
	s.settle()
	if !s.isLost() {
		s.book.lost.add(s.value)
		s.note(code, format, args...)
	}
}

func (s *source) isLost() bool { return s.book.lost.has(s.value) }

// loseUnlessSilent accounts for the value: as a loss, if it says anything.
func (s *source) loseUnlessSilent(code Code, message string) {
	if s.says() {
		s.lose(code, "%s", message)
	} else {
		s.take()
	}
}

// note reports a change, and leaves open what becomes of the value.
func (s *source) note(code Code, format string, args ...any) {
	at := s.file()
	at.book.losses = append(at.book.losses, Loss{Code: code, Message: fmt.Sprintf(format, args...), place: start(at.value)})
}

// exists reports whether there is a value. Null counts as none.
func (s *source) exists() bool { return s.value.Exists() && s.value.Kind() != lumigl.Null }

// is reports whether the value is of a kind. If it is of another, that is a loss.
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

// or is the source, or another if it is not there.
func (s *source) or(other *source) *source {
	if s.exists() {
		return s
	}
	return other
}

func (s *source) open() { s.book.opened.add(s.value) }

// key is what stands behind a key of an object.
func (s *source) key(key string) *source {
	if s.value.Kind() == lumigl.Object {
		s.open()
		if v := s.value.Get(key); v.Exists() {
			return s.part(v)
		}
	}
	return &s.book.none
}

// elements are those of a list.
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

// members are those of an object. A secret has none: where members are names of the source, it stands in a wrong place.
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

// walk reads a value, with what replace has another for replaced. It accounts for all other parts of it.
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
			part = lumigl.NullValue() // so that the others keep their places
		}
		return part, true
	})
}

// text is what a string says.
func (s *source) text() string {
	if !s.is(lumigl.Text) {
		return ""
	}
	s.settle()
	text, _ := s.value.Text()
	return text
}

// flag is what a boolean says.
func (s *source) flag() bool {
	if !s.is(lumigl.Bool) {
		return false
	}
	s.settle()
	b, _ := s.value.Bool()
	return b
}

// take accounts for the whole value as used.
func (s *source) take() lumigl.Value {
	s.settle()
	return s.value
}

// says reports whether a value says anything: it is not null, false, 0 or empty.
func (s *source) says() bool {
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

// bag is an object that is being made.
type bag struct{ list []lumigl.Member }

func (b *bag) set(key string, v lumigl.Value) {
	if v.Exists() {
		b.list = append(b.list, lumigl.Member{Key: key, Value: v})
	}
}

// keep takes parts of a source unchanged. Zeros and empty values are kept: only null means absent.
func (b *bag) keep(s *source, keys ...string) {
	for _, key := range keys {
		part := s.key(key)
		if v := part.take(); part.exists() {
			b.set(key, v)
		}
	}
}

// object is what was put in, absent if that is nothing.
func (b *bag) object() lumigl.Value {
	if len(b.list) == 0 {
		return lumigl.Value{}
	}
	return lumigl.ObjectOf(b.list...)
}
