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

func with(name string, arg any) Option {
	r := constraint.New(name, arg)
	return func(c codec) codec { return constrain(c, r) }
}

// constrain returns a codec with the rules of c followed by r.
func constrain(c codec, r constraint.Rule) codec {
	if c, ok := c.(*constrained); ok {
		return &constrained{c.codec, constraint.Append(slices.Clone(c.rules), r)}
	}
	return &constrained{c, []constraint.Rule{r}}
}

// Min requires numbers to be at least n.
func Min(n float64) Option { return with("min", n) }

// ExclusiveMin requires numbers to be greater than n.
func ExclusiveMin(n float64) Option { return with("exclusiveMin", n) }

// Max requires numbers to be at most n.
func Max(n float64) Option { return with("max", n) }

// ExclusiveMax requires numbers to be less than n.
func ExclusiveMax(n float64) Option { return with("exclusiveMax", n) }

// MultipleOf requires numbers to be multiples of n, allowing for rounding errors.
func MultipleOf(n float64) Option { return with("multipleOf", n) }

// MinLength requires strings to have at least n Unicode characters.
func MinLength(n int) Option { return with("minLength", n) }

// MaxLength requires strings to have at most n Unicode characters.
func MaxLength(n int) Option { return with("maxLength", n) }

// Pattern requires strings to contain a match of a regular expression, which is compiled on first use.
func Pattern(pattern string) Option { return with("pattern", pattern) }

// Says describes the strings that match the preceding pattern, such as "a bucket name", in messages.
func Says(what string) Option { return with("says", what) }

// Format requires strings to be in a format defined by the IDL, such as "uri".
func Format(name string) Option { return with("format", name) }

// MinItems requires lists to have at least n elements.
func MinItems(n int) Option { return with("minItems", n) }

// MaxItems requires lists to have at most n elements.
func MaxItems(n int) Option { return with("maxItems", n) }

// Unique requires list elements to be distinct.
func Unique() Option { return with("unique", true) }

// MinProperties requires maps to have at least n entries.
func MinProperties(n int) Option { return with("minProperties", n) }

// MaxProperties requires maps to have at most n entries.
func MaxProperties(n int) Option { return with("maxProperties", n) }

// KeyPattern requires map keys to contain a match of a regular expression.
func KeyPattern(pattern string) Option { return with("keyPattern", pattern) }

// Equal compares strings or lists as specified by the IDL option equal=. It does not limit the allowed values.
func Equal(as string) Option { return with("equal", as) }

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
