package lumi

import (
	"context"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/internal/property"
)

// annotated is a codec with the deprecation, default, and former names that the IDL declares for its property.
type annotated struct {
	codec
	deprecated string
	fallback   *property.Value
	was        []string
}

// annotate returns c as an annotated codec, which the caller may modify. If c is already annotated, it returns a copy.
func annotate(c codec) *annotated {
	if a, ok := c.(*annotated); ok {
		a := *a
		return &a
	}
	return &annotated{codec: c}
}

// Option is a constraint, a default, or another addition to a codec. See [With].
type Option func(codec) codec

// With returns c with options, which apply in order. It is a function because the methods of a generic type are compiled
// for each type argument, even if nothing calls them.
func With[P any](c Codec[P], options ...Option) Codec[P] {
	for _, o := range options {
		c.codec = o(c.codec)
	}
	return c
}

// Deprecated marks a property that programs should no longer set. text names the replacement.
func Deprecated(text string) Option {
	return func(c codec) codec {
		a := annotate(c)
		a.deprecated = text
		return a
	}
}

// Default substitutes value, a bool, number, or string, if a program does not set the property. It panics if value cannot
// be converted to a [structpb.Value].
func Default(value any) Option {
	m, err := structpb.NewValue(value)
	if err != nil {
		panic("lumi: " + err.Error())
	}
	v := property.FromMessage(m)
	return func(c codec) codec {
		a := annotate(c)
		a.fallback = &v
		return a
	}
}

// Was declares former names of a property, latest first. If stored state lacks the current name, decoding uses the first
// former name that it contains.
func Was(names ...string) Option {
	return func(c codec) codec {
		a := annotate(c)
		a.was = names
		return a
	}
}

// formerNames returns the former names in a codec's annotations, or nil if there are none.
func formerNames(c codec) []string {
	if a, ok := c.(*annotated); ok {
		return a.was
	}
	return nil
}

// fallback returns the default of an unset property, or nil if it has none. Defaults do not apply to stored bags, which
// may predate them.
func (p *Props) fallback(c codec) *property.Value {
	if a, ok := c.(*annotated); ok && p.mode == strict {
		return a.fallback
	}
	return nil
}

func (a *annotated) decode(p *Props, v *property.Value, into any) bool {
	if v != a.fallback {
		p.warnDeprecated("", a.deprecated)
	}
	return a.codec.decode(p, v, into)
}

// setUnknown warns if a property with an unknown value is deprecated.
func (p *Props) setUnknown(c codec) {
	if a, ok := c.(*annotated); ok {
		p.warnDeprecated("", a.deprecated)
	}
}

// Deprecated marks the current object's type as deprecated. text names the replacement.
func (p *Props) Deprecated(text string) { p.warnDeprecated("the type ", text) }

// warnDeprecated records a deprecation warning for the current value, unless text is empty or the value is not from a
// program. The message starts with what, such as "the type ", or with the verb if what is empty.
func (p *Props) warnDeprecated(what, text string) {
	if text != "" && p.mode == strict && p.warns && len(p.warnings) < maxFaults {
		p.warnings = append(p.warnings, Fault{p.at(), what + "is deprecated: " + text})
	}
}

// logWarning returns a function that logs a warning with the logger of the call that ctx belongs to.
func logWarning(ctx context.Context) func(Fault) {
	return func(w Fault) { Log(ctx).Warn(w.Error()) }
}
