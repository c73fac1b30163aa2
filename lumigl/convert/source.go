package convert

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/internal/jsonpointer"
	"github.com/lumi-idl/lumi/lumigl"
)

// book keeps account of what becomes of a source.
type book struct {
	roots  []*source
	losses []Loss
	// none is what is not there. It is the same everywhere.
	none source
}

// source is a value of the file that is read, with the account of what became of it. To look into it opens it: from then
// on, each part has to be accounted for by itself. Text, flag, take and lose account for all that there is. What nobody
// has accounted for in the end is lost, and said to be.
//
// A source that is not there, or is null, which means the same, can be looked at like any other, and has nothing in it.
type source struct {
	book   *book
	value  lumigl.Value
	parent *source
	step   string
	parts  []source
	// byKey finds parts. It is made for objects that have many.
	byKey   map[string]*source
	opened  bool
	settled bool
	// lost says that the loss has been noted.
	lost bool
	// inner is for what stood as text within a string. JSON pointers do not lead there.
	inner bool
	// hidden is for secrets. Pointers end there, since keys in a secret are a part of it.
	hidden bool
	// about is what the source calls the resource that stands here.
	about string
	// order is the place in the source, among all that was looked at.
	order int
}

func (b *book) root(v lumigl.Value) *source {
	b.none.book, b.none.settled = b, true
	s := &source{book: b, value: v}
	b.roots = append(b.roots, s)
	return s
}

// within is a document that stood as text in a string.
func (s *source) within(v lumigl.Value) *source {
	s.settled = true
	in := s.book.root(v)
	in.parent, in.inner = s, true
	return in
}

// settle reports what nobody has accounted for, and puts all losses in the order of the source.
func (b *book) settle() {
	count := 0
	for _, s := range b.roots {
		s.settle(&count)
	}
	slices.SortStableFunc(b.losses, func(x, y Loss) int { return cmp.Compare(x.place(), y.place()) })
}

func (l Loss) place() int {
	s := l.at
	for s != nil && s.inner {
		s = s.parent
	}
	if s == nil {
		return 0
	}
	return s.order
}

func (s *source) settle(count *int) {
	if !s.inner {
		*count++
		s.order = *count
	}
	settled := s.settled
	for i := range s.parts {
		p := &s.parts[i]
		p.settled = p.settled || settled
		p.settle(count)
	}
	if !settled && !s.opened { // It is behind a key: who opens a list accounts for all of its elements.
		s.lose(UnknownLoss, "left out: nothing is known of this key here")
	}
}

// pointer is the JSON pointer to the value, or to the text or the secret that it is in.
func (s *source) pointer() string {
	var steps []string
	for ; s != nil; s = s.parent {
		if s.inner || s.hidden {
			steps = steps[:0]
		}
		if s.parent != nil && !s.inner {
			steps = append(steps, s.step)
		}
	}
	var b strings.Builder
	for i := len(steps) - 1; i >= 0; i-- {
		b.WriteByte('/')
		b.WriteString(jsonpointer.Escape(steps[i]))
	}
	return b.String()
}

// lose accounts for the value as a loss, of which one is enough.
func (s *source) lose(code Code, format string, args ...any) {
	s.settled = true
	if !s.lost {
		s.lost = true
		s.note(code, format, args...)
	}
}

// note reports a change, and leaves open what becomes of the value.
func (s *source) note(code Code, format string, args ...any) {
	s.book.losses = append(s.book.losses, Loss{Code: code, Message: fmt.Sprintf(format, args...), at: s})
}

// exists reports whether there is a value. Null counts as none.
func (s *source) exists() bool { return s.value.Exists() && s.value.Kind() != lumigl.Null }

// is reports whether the value is of a kind. If it is of another, that is a loss.
func (s *source) is(kind lumigl.Kind) bool {
	switch {
	case s.value.Kind() == kind:
		return true
	case s.exists():
		s.lose(ShapeLoss, "left out: this has to be %s, not %s", kind, s.value.Kind())
	}
	s.settled = true
	return false
}

// or is the source, or another if it is not there.
func (s *source) or(other *source) *source {
	if s.exists() {
		return s
	}
	return other
}

func (s *source) open() {
	if s.opened {
		return
	}
	s.opened = true
	if isSecret(s.value) {
		s.hidden = true
	}
	s.parts = make([]source, 0, s.value.Len()) // It must not grow, since there are pointers into it.
	add := func(step string, v lumigl.Value) {
		s.parts = append(s.parts, source{book: s.book, value: v, parent: s, step: step})
	}
	for i, v := range s.value.Elements() {
		add(strconv.Itoa(i), v)
	}
	for key, v := range s.value.Members() {
		add(key, v)
	}
}

// key is what stands behind a key of an object.
func (s *source) key(key string) *source {
	if s.value.Kind() == lumigl.Object {
		s.open()
	}
	const few = 40
	if len(s.parts) > few && s.byKey == nil {
		s.byKey = make(map[string]*source, len(s.parts))
		for i := range s.parts {
			s.byKey[s.parts[i].step] = &s.parts[i]
		}
	}
	if p, ok := s.byKey[key]; ok {
		return p
	}
	if s.byKey == nil && s.value.Kind() == lumigl.Object {
		for i := range s.parts {
			if s.parts[i].step == key {
				return &s.parts[i]
			}
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
		for i := range s.parts {
			if !yield(i, &s.parts[i]) {
				return
			}
		}
	}
}

// members are those of an object. A secret has none: where members are names of the source, it stands in a wrong place.
func (s *source) members() iter.Seq2[string, *source] {
	return func(yield func(string, *source) bool) {
		if isSecret(s.value) {
			s.lose(ShapeLoss, "left out: this has to be %s, not a secret", lumigl.Object)
		}
		if s.lost || !s.is(lumigl.Object) {
			return
		}
		s.open()
		for i := range s.parts {
			if !yield(s.parts[i].step, &s.parts[i]) {
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
	switch s.value.Kind() {
	case lumigl.List:
		elements := make([]lumigl.Value, 0, s.value.Len())
		for _, e := range s.elements() {
			elements = append(elements, e.walk(replace))
		}
		return lumigl.ListOf(elements...)
	case lumigl.Object:
		s.open()
		members := make([]lumigl.Member, 0, len(s.parts))
		for i := range s.parts {
			members = append(members, lumigl.Member{Key: s.parts[i].step, Value: s.parts[i].walk(replace)})
		}
		return lumigl.ObjectOf(members...)
	}
	return s.take()
}

// text is what a string says.
func (s *source) text() string {
	if !s.is(lumigl.Text) {
		return ""
	}
	s.settled = true
	text, _ := s.value.Text()
	return text
}

// flag is what a boolean says.
func (s *source) flag() bool {
	if !s.is(lumigl.Bool) {
		return false
	}
	s.settled = true
	b, _ := s.value.Bool()
	return b
}

// take accounts for the whole value as used.
func (s *source) take() lumigl.Value {
	s.settled = true
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
