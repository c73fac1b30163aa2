package lumi

import (
	"context"
	"slices"

	"github.com/lumi-idl/lumi/internal/property"
	"github.com/lumi-idl/lumi/runtime/internal/signed"
)

// mark records attributes of a value and its parts that a decoded object cannot represent, so that encoding the object
// restores the bag. A nil mark is empty. Marks form a tree, so that a walk gets from a value's mark to that of a part in
// constant time.
type mark struct {
	unknown bool // not known yet
	secret  bool // decoded from a secret wrapper
	missing bool // required but absent
	parts   map[step]*mark
}

// part returns the mark of the part at step s, creating it if necessary.
func (m *mark) part(s step) *mark {
	part := m.parts[s]
	if part == nil {
		part = &mark{}
		if m.parts == nil {
			m.parts = map[step]*mark{}
		}
		m.parts[s] = part
	}
	return part
}

// complete returns a deep copy of m with missing cleared in every part.
func (m *mark) complete() *mark {
	if m == nil {
		return nil
	}
	c := &mark{unknown: m.unknown, secret: m.secret}
	for s, part := range m.parts {
		*c.part(s) = *part.complete()
	}
	return c
}

// settle clears missing wherever before and after differ, since the value has been set.
func (m *mark) settle(before, after *property.Value) {
	before, _ = signed.Reveal(before)
	after, _ = signed.Reveal(after)
	m.missing = m.missing && same(before, after)
	for s, part := range m.parts {
		part.settle(s.of(before), s.of(after))
	}
}

// conceal returns v with the parts that m marks as secret wrapped, except for parts equal to those of given. If m marks a
// secret in a list, the whole list is wrapped, since its elements may have moved.
func (m *mark) conceal(v, given *property.Value) property.Value {
	switch {
	case !m.hasSecretElement(true) || v.IsNull() || signed.IsSecret(v) || same(v, given):
		return *v
	case m.secret || v.Kind() != property.Object || signed.IsContent(v): // an archive's marks belong to its members
		return signed.Secret(*v)
	}
	return *m.concealFields(v, given)
}

// concealFields applies conceal to the fields of an object.
func (m *mark) concealFields(v, given *property.Value) *property.Value {
	if !m.hasSecretElement(true) {
		return v
	}
	fields := slices.Clone(v.Fields())
	for s, part := range m.parts {
		if i, ok := property.Find(fields, s.name); ok {
			fields[i].Value = part.conceal(&fields[i].Value, given.Get(s.name))
		}
	}
	concealed := property.ObjectOf(fields...)
	return &concealed
}

// hasSecretElement reports whether m marks a list element, or a part of one, as secret. inElement is set if m itself
// belongs to a list element.
func (m *mark) hasSecretElement(inElement bool) bool {
	if m == nil {
		return false
	}
	if m.secret && inElement {
		return true
	}
	for s, part := range m.parts {
		if part.hasSecretElement(inElement || s.isElement()) {
			return true
		}
	}
	return false
}

// unknowns returns into with the paths of all unknown values at or below path, which is m's own path. The result is
// incomplete if ctx is done.
func (m *mark) unknowns(ctx context.Context, path []byte, into Paths) Paths {
	if m == nil || ctx.Err() != nil {
		return into
	}
	if m.unknown {
		into = into.add(Path(path))
	}
	for s, part := range m.parts {
		into = part.unknowns(ctx, s.append(path, false), into)
	}
	return into
}

// of returns the part of v at the step, or nil if there is none.
func (s step) of(v *property.Value) *property.Value {
	if s.index < 0 {
		return v.Get(s.name)
	}
	return v.Element(s.index)
}
