package lumi

import (
	"context"

	"github.com/lumi-idl/lumi/internal/constraint"
	"github.com/lumi-idl/lumi/internal/property"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Object is implemented by pointers to generated structs.
type Object interface {
	// Lumi calls [Required], [Optional], or [Nilable] with p once for each property.
	Lumi(p *Props)
}

// Flags are a property's options in the IDL, except optional, which is expressed by calling [Optional] or [Nilable].
type Flags uint8

// The options of a property.
const (
	// Replaces marks a property whose change requires a replacement.
	Replaces Flags = 1 << iota
	// Out marks a property that the provider computes; programs must not set it.
	Out
	// In marks a property that is sent to the provider but never read back.
	In
	// Secret marks a property whose value is a secret.
	Secret
	// Computed marks an optional property for which the provider chooses a value if a program does not set it.
	Computed
	// Fixed marks an out property that Create sets and Update never changes.
	Fixed
	// required is set by Required.
	required
)

// Property describes one property of an object.
type Property struct {
	// Name is the property's name on the wire.
	Name string
	// Kind is the kind of the property's values.
	Kind Kind
	// Flags are the property's options.
	Flags Flags
	// Required is set if a complete bag must contain the property.
	Required bool
	// Was lists former names, latest first. Stored properties may use any of them.
	Was []string
	// Equality describes how values are compared. It is nil if they are compared exactly.
	Equality *Equality
}

// Equality describes how values are compared, as declared by the IDL's option equal=.
type Equality = constraint.Equality

// Kind is the kind of a value on the wire.
type Kind string

// The kinds of values.
const (
	KindBool       Kind = "bool"
	KindNumber     Kind = "number"
	KindString     Kind = "string" // or an enum
	KindList       Kind = "list"
	KindMap        Kind = "map"
	KindObject     Kind = "object"
	KindAny        Kind = "any"
	KindAsset      Kind = "asset"
	KindArchive    Kind = "archive"
	KindCapability Kind = "capability"
)

// Codec decodes and encodes values of the type that P points to. The type parameter is only for type checking. The
// implementation is not generic, and options are set by [With] instead of methods, so that a struct type adds no code
// other than its Lumi method.
type Codec[P any] struct{ codec codec }

type codec interface {
	// decode stores the value at the pointer into. If the value is invalid, it returns false and stores nothing.
	decode(p *Props, v *property.Value, into any) bool
	// encode returns the value at the pointer from, which may be absent.
	encode(p *Props, from any) property.Value
	// kind returns the kind of the values.
	kind() Kind
}

// Props is a walk over the properties of an object, including nested objects, that decodes, encodes, or describes them.
// Generated code passes it to [Required], [Optional], and [Nilable].
type Props struct {
	mode mode
	// unknown is set if decoding allows unknown values.
	unknown bool
	// checked is set for bags returned by Check.
	checked bool
	// skip omits properties with any of its flags. only, if not 0, omits top-level properties with none of its flags.
	skip, only Flags
	// complete is set to report required properties that are absent when encoding.
	complete bool

	// secrets, if not nil, collects secret values and property names.
	secrets *wire.Secrets
	// priorFaults are faults found earlier in assets and archives that are not yet in faults.
	priorFaults []Fault

	// object is the current object, and seen is the number of its fields looked up so far.
	object *property.Value
	seen   int
	// rules are the current object's rules, checked once its properties are decoded.
	rules    *RuleSet
	operands operands
	// unsigned caches the latest object found to be plain, rather than a special value.
	unsigned *property.Value
	// made is a stack of encoded properties, ending with those of the current object. They are moved to a slice of the
	// right size when the object is complete.
	made []property.Field
	// flags are the flags of the top-level property being encoded.
	flags Flags
	// invalid lists the top-level properties that could not be encoded.
	invalid []string

	// path is the path of the current value. Values at a depth of hidden or more are secret.
	path   []step
	hidden int
	// marked holds the bag's mark, followed by the mark at each step of path. Marks may be nil.
	marked []*mark
	// steps and marks are the initial backing arrays of path and marked. They avoid allocations for short paths.
	steps [4]step
	marks [5]*mark

	// done is set once ctx is done, which is checked every stepsPerCheck steps. took is the number of steps taken.
	ctx  context.Context
	took int
	done bool

	// misfit is set if a stored bag does not fit the IDL.
	misfit bool

	faults     []Fault
	properties []Property
	codecs     []codec // of properties
	// warnings are deprecation warnings, collected if warns is set.
	warns    bool
	warnings []Fault
}

func join(flags []Flags) Flags {
	var all Flags
	for _, f := range flags {
		all |= f
	}
	return all
}

type mode uint8

const (
	strict   mode = iota // decode a program's properties
	lenient              // decode stored properties, perhaps written under another version of the IDL
	encoding             // encode a bag
	describe             // list the properties
)
