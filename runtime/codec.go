package lumi

import (
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/internal/constraint"
	"github.com/lumi-idl/lumi/internal/property"
	"github.com/lumi-idl/lumi/runtime/internal/signed"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// set stores value at the pointer into if ok is set. It returns ok.
func set[T any](into any, value T, ok bool) bool {
	if ok {
		*into.(*T) = value
	}
	return ok
}

// The codecs of primitive types.
var (
	Bool   = Codec[*bool]{codec: &scalar[bool]{KindBool, (*Props).asBool, (*Props).bool}}
	Number = Codec[*float64]{codec: &scalar[float64]{KindNumber, (*Props).asNumber, (*Props).number}}
	Int    = Codec[*int]{codec: &scalar[int]{KindNumber, (*Props).asInt, (*Props).int}}
	String = Codec[*string]{codec: &scalar[string]{KindString, (*Props).text, (*Props).string}}
)

// scalar is the codec of primitive values.
type scalar[T any] struct {
	of    Kind
	read  func(*Props, *property.Value) (T, bool)
	write func(*Props, T) property.Value
}

func (s *scalar[T]) decode(p *Props, v *property.Value, into any) bool {
	value, ok := s.read(p, v)
	return set(into, value, ok)
}

func (s *scalar[T]) kind() Kind { return s.of }

func (s *scalar[T]) encode(p *Props, from any) property.Value { return s.write(p, *from.(*T)) }

func (p *Props) asBool(v *property.Value) (bool, bool) {
	ok := v.Kind() == property.Bool
	if !ok {
		p.mismatch("a boolean", v)
	}
	return v.Bool(), ok
}

func (p *Props) bool(b bool) property.Value { return property.BoolOf(b) }

func (p *Props) asNumber(v *property.Value) (float64, bool) {
	return p.finite(v, "a number")
}

// finite decodes a finite number. Otherwise, it reports a fault that names the expected kind of value.
func (p *Props) finite(v *property.Value, expected string) (float64, bool) {
	if v.Kind() != property.Number || !isFinite(v.Number()) {
		p.mismatch(expected, v)
		return 0, false
	}
	return v.Number(), true
}

// asInt decodes a whole number. Stored state with a fraction is an error too: truncating it would hide a difference.
func (p *Props) asInt(v *property.Value) (int, bool) {
	n, ok := p.finite(v, "a whole number")
	if problem := constraint.Int(n, math.MaxInt, p.isHidden()); problem != "" {
		p.fault("%s", problem)
		p.mark().unknown = true
		return 0, false
	}
	return int(n), ok
}

func (p *Props) text(v *property.Value) (string, bool) {
	if v.Kind() != property.String {
		p.mismatch("a string", v)
		return "", false
	}
	if !utf8.ValidString(v.Text()) {
		p.wrong("expected valid UTF-8")
		return "", false
	}
	return v.Text(), true
}

func (p *Props) string(s string) property.Value {
	if problem := textProblem(s); problem != "" {
		p.fault("%s", problem)
		return property.Value{}
	}
	return property.StringOf(s)
}

// textProblem returns the reason s cannot be sent, or "" if it can.
func textProblem(s string) string {
	switch {
	case s == wire.Unknown:
		return "is the reserved string for unknown values"
	case !utf8.ValidString(s):
		return "is not valid UTF-8"
	}
	return ""
}

func (p *Props) number(n float64) property.Value {
	if !isFinite(n) {
		p.fault("is not a finite number")
		return property.Value{}
	}
	return property.NumberOf(n)
}

func (p *Props) int(n int) property.Value {
	if problem := constraint.Int(float64(n), constraint.MaxInt, p.isHidden()); problem != "" {
		p.fault("%s", problem)
		return property.Value{}
	}
	return property.NumberOf(float64(n))
}

func isFinite(n float64) bool { return !math.IsNaN(n) && !math.IsInf(n, 0) }

// EnumValue is implemented by pointers to generated enums.
type EnumValue interface {
	// Lumi returns the receiver converted to *string, for reading and setting the value.
	Lumi() *string
	// Valid reports whether the value is one of the enum's values.
	Valid() bool
	// Values returns the enum's values in declaration order.
	Values() []string
}

// Enum returns the codec of a generated enum. P is a pointer to it.
func Enum[P EnumValue]() Codec[P] { return Codec[P]{codec: enumCodec{}} }

type enumCodec struct{}

func (enumCodec) decode(p *Props, v *property.Value, into any) bool {
	if e := into.(EnumValue); p.mode == strict {
		if v.Kind() != property.String {
			p.notInEnum(v, e.Values())
			return false
		}
	}
	s, ok := p.text(v)
	return ok && p.setEnum(into.(EnumValue), s)
}

func (enumCodec) kind() Kind { return KindString }

// encode returns an absent value for an unset one. It accepts values that are not in the enum, since the cloud may support values that
// the IDL lacks, and state may predate the IDL.
func (enumCodec) encode(p *Props, from any) property.Value {
	e := from.(EnumValue)
	s := *e.Lumi()
	if s == "" && !e.Valid() {
		return property.Value{}
	}
	return p.string(s)
}

// setEnum sets an enum to s and reports whether s is valid. Any stored value is valid.
func (p *Props) setEnum(into EnumValue, s string) bool {
	*into.Lumi() = s
	if p.mode == lenient || into.Valid() {
		if d, ok := into.(interface{ Deprecated() string }); ok && !p.isHidden() {
			p.warnDeprecated("the value ", d.Deprecated())
		}
		return true
	}
	v := property.StringOf(s)
	p.notInEnum(&v, into.Values())
	return false
}

func (p *Props) notInEnum(v *property.Value, values []string) {
	help := ""
	if !p.isHidden() {
		help = didYouMean(v.Text(), values)
	}
	p.wrong("expected %s, found %s%s", oneOf(values), kindOf(v, p.isHidden()), help)
}

// maxListed is the maximum number of enum values listed in a message. Some enums have hundreds.
const maxListed = 12

func oneOf(values []string) string {
	var list []string
	for _, value := range values[:min(len(values), maxListed)] {
		list = append(list, quote(value))
	}
	if more := len(values) - maxListed; more > 0 {
		list = append(list, strconv.Itoa(more)+" others")
	}
	return alternatives(list)
}

func alternatives(list []string) string {
	last := len(list) - 1
	if last < 1 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

// Struct returns the codec of a generated struct. P is a pointer to it.
func Struct[P Object]() Codec[P] { return Codec[P]{codec: structOf[P]{}} }

type structOf[P Object] struct{ structCodec }

func (structOf[P]) typ() reflect.Type { return reflect.TypeFor[P]() }

type structCodec struct{}

func (structCodec) decode(p *Props, v *property.Value, into any) bool {
	ok := p.isObject(v)
	if ok {
		p.decodeObject(v, into.(Object))
	}
	return ok
}

func (structCodec) kind() Kind { return KindObject }

func (structCodec) encode(p *Props, from any) property.Value {
	return p.encodeObject(from.(Object))
}

// isObject reports whether v is a plain object. If v is anything else, it reports a fault.
func (p *Props) isObject(v *property.Value) bool {
	if v.Kind() != property.Object || v != p.unsigned && signed.Signature(v) != "" {
		p.mismatch("an object", v)
		return false
	}
	return true
}
