package lumi

import (
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/internal/constraint"
)

// constrained is a codec whose values are checked when a program gives them. State is not checked, since it may be older
// than the constraints, and neither is what a provider returns.
type constrained struct {
	codec
	rules []constraint.Rule
}

func (c Codec[P]) with(name string, arg any) Codec[P] {
	return Codec[P]{codec: constrain(c.codec, constraint.New(name, arg))}
}

// constrain adds a rule to those that the codec has.
func constrain(c codec, r constraint.Rule) codec {
	if c, ok := c.(*constrained); ok {
		return &constrained{c.codec, append(slices.Clip(c.rules), r)}
	}
	return &constrained{c, []constraint.Rule{r}}
}

// Min is the codec of numbers that are at least n.
func (c Codec[P]) Min(n float64) Codec[P] { return c.with("min", n) }

// Max is the codec of numbers that are at most n.
func (c Codec[P]) Max(n float64) Codec[P] { return c.with("max", n) }

func (c *constrained) decode(p *Props, v *structpb.Value, into any) bool {
	ok := c.codec.decode(p, v, into)
	if !ok || p.mode != strict {
		return ok
	}
	for i := range c.rules {
		if problem := c.rules[i].Number(v.GetNumberValue(), p.isHidden()); problem != "" {
			p.fault("%s", problem)
			ok = false
		}
	}
	return ok
}
