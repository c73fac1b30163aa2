package lumi

import (
	"context"

	"google.golang.org/protobuf/types/known/structpb"
)

// annotated is a codec with further annotations from the IDL, such as a default.
type annotated struct {
	codec
	deprecated string
	fallback   *structpb.Value
	was        []string
}

// annotate returns a copy of a codec's annotations for the caller to change.
func annotate(c codec) *annotated {
	if a, ok := c.(*annotated); ok {
		a := *a
		return &a
	}
	return &annotated{codec: c}
}

// Deprecated marks a property that programs should no longer set. text says what to use instead.
func (c Codec[P]) Deprecated(text string) Codec[P] {
	a := annotate(c.codec)
	a.deprecated = text
	return Codec[P]{codec: a}
}

// Default returns a codec with a default value, a bool, number, or string, for programs that do not set the property.
// It panics if value has another type.
func (c Codec[P]) Default(value any) Codec[P] {
	v, err := structpb.NewValue(value)
	if err != nil {
		panic("lumi: " + err.Error())
	}
	a := annotate(c.codec)
	a.fallback = v
	return Codec[P]{codec: a}
}

// Was returns a codec for a property with former names, latest first. If state lacks the current name, the first former
// name in it is read instead.
func (c Codec[P]) Was(names ...string) Codec[P] {
	a := annotate(c.codec)
	a.was = names
	return Codec[P]{codec: a}
}

// formerNames returns the former names of a property.
func formerNames(c codec) []string {
	if a, ok := c.(*annotated); ok {
		return a.was
	}
	return nil
}

// fallback returns the default of an unset property, or nil. Stored bags get no defaults, since they may predate them.
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

// setUnknown handles a property whose value is unknown.
func (p *Props) setUnknown(c codec) {
	if a, ok := c.(*annotated); ok {
		p.warnDeprecated("", a.deprecated)
	}
}

// Deprecated marks the current object's type as deprecated. text says what to use instead.
func (p *Props) Deprecated(text string) { p.warnDeprecated("the type ", text) }

// warnDeprecated records a warning about a program's use of something deprecated, unless text is empty.
func (p *Props) warnDeprecated(what, text string) {
	if text != "" && p.mode == strict && p.warns && len(p.warnings) < maxFaults {
		p.warnings = append(p.warnings, Fault{p.at(), what + "is deprecated: " + text})
	}
}

// logWarning returns a function that logs warnings for ctx's call.
func logWarning(ctx context.Context) func(Fault) {
	return func(w Fault) { Log(ctx).Warn(w.Error()) }
}
