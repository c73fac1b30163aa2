package diff

import (
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// mask is printed in place of secrets.
const mask = "(secret)"

// encoder writes values as compact JSON.
type encoder struct {
	tag string // key that marks references
	// hidden lists the contents of secrets, which are also masked in plain values.
	hidden contents
}

func (e *encoder) encode(v lumigl.Value) []byte { return e.append(nil, v) }

func (e *encoder) append(dst []byte, v lumigl.Value) []byte {
	if e.hidden.have(v) {
		return appendQuoted(dst, mask)
	}
	switch v.Kind() {
	case lumigl.Bool:
		if b, _ := v.Bool(); b {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case lumigl.Number:
		s, _ := v.Literal()
		return append(dst, s...)
	case lumigl.Text:
		s, _ := v.Text()
		return appendQuoted(dst, s)
	case lumigl.Reference:
		target, property, _ := v.Target()
		dst = appendQuoted(append(dst, '{'), e.tag)
		dst = appendQuoted(append(dst, ':'), target.Key())
		if property != "" {
			dst = appendQuoted(append(dst, `,"property":`...), property)
		}
		return append(dst, '}')
	case lumigl.List:
		dst = append(dst, '[')
		for i, element := range v.Elements() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.append(dst, element)
		}
		return append(dst, ']')
	case lumigl.Object:
		return e.object(dst, v)
	}
	return append(dst, "null"...)
}

func (e *encoder) object(dst []byte, v lumigl.Value) []byte {
	if v.IsSecret() {
		dst = appendQuoted(append(dst, '{'), wire.Signature)
		dst = appendQuoted(append(dst, ':'), wire.Secret)
		dst = appendQuoted(append(dst, `,"value":`...), mask)
		return append(dst, '}')
	}
	dst = append(dst, '{')
	for i, m := range sortedMembers(v) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendQuoted(dst, m.Key)
		dst = e.append(append(dst, ':'), m.Value)
	}
	return append(dst, '}')
}

// side encodes the old or new value of a change. A value whose counterpart is a secret may reveal it and is masked.
func (e *encoder) side(c *Change, v lumigl.Value) []byte {
	if c.isSecret() && !v.IsSecret() && !v.IsUnknown() {
		return appendQuoted(nil, mask)
	}
	return e.encode(v)
}
