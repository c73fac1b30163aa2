package lumi

import (
	"cmp"
	"slices"

	"github.com/lumi-idl/lumi/internal/constraint"
	"github.com/lumi-idl/lumi/internal/property"
)

// constrained is a codec that checks a program's values against constraints. It accepts any value in state, which may
// predate the constraints, and any value returned by a provider.
type constrained struct {
	codec
	rules []constraint.Rule
}

func (c Codec[P]) with(name string, arg any) Codec[P] {
	return Codec[P]{codec: constrain(c.codec, constraint.New(name, arg))}
}

// constrain returns a codec with the rules of c followed by r.
func constrain(c codec, r constraint.Rule) codec {
	if c, ok := c.(*constrained); ok {
		return &constrained{c.codec, constraint.Append(slices.Clone(c.rules), r)}
	}
	return &constrained{c, []constraint.Rule{r}}
}

// Min requires numbers to be at least n.
func (c Codec[P]) Min(n float64) Codec[P] { return c.with("min", n) }

// ExclusiveMin requires numbers to be greater than n.
func (c Codec[P]) ExclusiveMin(n float64) Codec[P] { return c.with("exclusiveMin", n) }

// Max requires numbers to be at most n.
func (c Codec[P]) Max(n float64) Codec[P] { return c.with("max", n) }

// ExclusiveMax requires numbers to be less than n.
func (c Codec[P]) ExclusiveMax(n float64) Codec[P] { return c.with("exclusiveMax", n) }

// MultipleOf requires numbers to be multiples of n, allowing for rounding errors.
func (c Codec[P]) MultipleOf(n float64) Codec[P] { return c.with("multipleOf", n) }

// MinLength requires strings to have at least n Unicode characters.
func (c Codec[P]) MinLength(n int) Codec[P] { return c.with("minLength", n) }

// MaxLength requires strings to have at most n Unicode characters.
func (c Codec[P]) MaxLength(n int) Codec[P] { return c.with("maxLength", n) }

// Pattern requires strings to contain a match of a regular expression, which is compiled on first use.
func (c Codec[P]) Pattern(pattern string) Codec[P] { return c.with("pattern", pattern) }

// Says describes the strings that match the preceding pattern, such as "a bucket name", in messages.
func (c Codec[P]) Says(what string) Codec[P] { return c.with("says", what) }

// Format requires strings to be in a format defined by the IDL, such as "uri".
func (c Codec[P]) Format(name string) Codec[P] { return c.with("format", name) }

// MinItems requires lists to have at least n elements.
func (c Codec[P]) MinItems(n int) Codec[P] { return c.with("minItems", n) }

// MaxItems requires lists to have at most n elements.
func (c Codec[P]) MaxItems(n int) Codec[P] { return c.with("maxItems", n) }

// Unique requires list elements to be distinct.
func (c Codec[P]) Unique() Codec[P] { return c.with("unique", true) }

// MinProperties requires maps to have at least n entries.
func (c Codec[P]) MinProperties(n int) Codec[P] { return c.with("minProperties", n) }

// MaxProperties requires maps to have at most n entries.
func (c Codec[P]) MaxProperties(n int) Codec[P] { return c.with("maxProperties", n) }

// KeyPattern requires map keys to contain a match of a regular expression.
func (c Codec[P]) KeyPattern(pattern string) Codec[P] { return c.with("keyPattern", pattern) }

// Equal compares strings or lists as specified by the IDL option equal=. It does not limit the allowed values.
func (c Codec[P]) Equal(as string) Codec[P] { return c.with("equal", as) }

// compared returns the codec without constraints, and its option equal=.
func (c *constrained) compared() (inner codec, as string) {
	for i := range c.rules {
		as = cmp.Or(c.rules[i].Equality(), as)
	}
	return c.codec, as
}

func (c *constrained) decode(p *Props, v *property.Value, into any) bool {
	ok := c.codec.decode(p, v, into)
	if !ok || p.mode != strict {
		return ok
	}
	faults := len(p.faults)
	for i := range c.rules {
		r := &c.rules[i]
		switch v.Kind() {
		case property.Number:
			p.breaks(r.Number(v.Number(), p.isHidden()))
		case property.String:
			p.breaks(r.String(v.Text(), p.isHidden()))
		case property.List:
			values := v.Elements()
			p.breaks(r.Count(len(values), p.isHidden()))
			if !r.IsUnique() {
				continue
			}
			if as := equalityOf(c.codec).Elements; as.Any() || !differ(values) {
				p.breaks(constraint.Equal(p.identities(c.codec, into, as)))
			}
		case property.Object:
			p.entries(r, v.Fields())
		}
	}
	return len(p.faults) == faults
}

// breaks reports problem as a fault, unless it is "".
func (p *Props) breaks(problem string) {
	if problem != "" {
		p.fault("%s", problem)
	}
}

// entries checks a map's keys and its number of entries.
func (p *Props) entries(r *constraint.Rule, fields []property.Field) {
	count := 0
	var wrong []string
	for _, f := range fields {
		if f.Value.IsNull() {
			continue
		}
		count++
		if r.Key(f.Name) != "" {
			wrong = append(wrong, f.Name)
		}
	}
	p.breaks(r.Count(count, p.isHidden()))
	for _, key := range wrong {
		if p.push(step{name: key, index: keyStep}) {
			p.breaks(r.Key(key))
			p.pop()
		}
	}
}

// differ reports whether values consists of at most 16 distinct strings. It is a fast path: if it returns false, the
// values may still be distinct.
func differ(values []property.Field) bool {
	const few = 16
	if len(values) > few {
		return false
	}
	for i := range values {
		v := &values[i].Value
		if v.Kind() != property.String {
			return false
		}
		for j := range i {
			if v.Text() == values[j].Value.Text() {
				return false
			}
		}
	}
	return true
}

// identities returns a string for each element of the current list, after decoding. Two elements have the same string if
// they are equal, ignoring secrecy and after applying defaults. The string is "" for elements that are invalid, null, or
// not fully known.
func (p *Props) identities(c codec, list any, as *Equality) []string {
	v := c.encode(newProps(p.ctx, encoding, p.came()), list)
	identities := make([]string, len(v.Elements()))
	for i := range identities {
		if elem := v.Element(i); !elem.IsNull() {
			identities[i] = as.Identity(plain(elem))
		}
	}
	return identities
}
