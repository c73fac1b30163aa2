package lumi

import (
	"context"

	"google.golang.org/protobuf/types/known/structpb"
)

// annotated is a codec of a property about which the IDL says more than what its values are.
type annotated struct {
	codec
	deprecated string
	fallback   *structpb.Value
	was        []string
}

// annotate returns a copy of a codec's annotations, to be changed.
func annotate(c codec) *annotated {
	if a, ok := c.(*annotated); ok {
		a := *a
		return &a
	}
	return &annotated{codec: c}
}

// Deprecated is the codec of a property that programs should not set any more. The text says what to do instead.
func (c Codec[P]) Deprecated(text string) Codec[P] {
	a := annotate(c.codec)
	a.deprecated = text
	return Codec[P]{codec: a}
}

// Default is the codec of a property that has the value, a bool, a number or a string, where a program sets none. It
// panics if the value is none of these.
func (c Codec[P]) Default(value any) Codec[P] {
	v, err := structpb.NewValue(value)
	if err != nil {
		panic("lumi: " + err.Error())
	}
	a := annotate(c.codec)
	a.fallback = v
	return Codec[P]{codec: a}
}

// Was is the codec of a property that had other names, the last one first. State that has none of the new name has the
// property under one of these.
func (c Codec[P]) Was(names ...string) Codec[P] {
	a := annotate(c.codec)
	a.was = names
	return Codec[P]{codec: a}
}

// formerNames are the names that a property had before.
func formerNames(c codec) []string {
	if a, ok := c.(*annotated); ok {
		return a.was
	}
	return nil
}

// fallback returns the default of a property that a program did not set, or nil. What was stored has none: it may be
// older than the default.
func (p *Props) fallback(c codec) *structpb.Value {
	if a, ok := c.(*annotated); ok && p.mode == strict {
		return a.fallback
	}
	return nil
}

func (a *annotated) decode(p *Props, v *structpb.Value, into any) bool {
	if v != a.fallback {
		p.warnDeprecated("", a.deprecated)
	}
	return a.codec.decode(p, v, into)
}

// setUnknown deals with a property whose value is not known.
func (p *Props) setUnknown(c codec) {
	if a, ok := c.(*annotated); ok {
		p.warnDeprecated("", a.deprecated)
	}
}

// Deprecated says that the type of the object at hand is deprecated. The text says what to do instead.
func (p *Props) Deprecated(text string) { p.warnDeprecated("the type ", text) }

// warnDeprecated notes a warning about what a program gave, unless the text is empty.
func (p *Props) warnDeprecated(what, text string) {
	if text != "" && p.mode == strict && p.warns && len(p.warnings) < maxFaults {
		p.warnings = append(p.warnings, Fault{p.at(), what + "is deprecated: " + text})
	}
}

// logWarning returns what logs a warning for the call that ctx belongs to.
func logWarning(ctx context.Context) func(Fault) {
	return func(w Fault) { Log(ctx).Warn(w.Error()) }
}
