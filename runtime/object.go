package lumi

import (
	"context"

	"github.com/lumi-idl/lumi/runtime/wire"
	"google.golang.org/protobuf/types/known/structpb"
)

// Object is a struct whose properties can be walked. Generated structs implement it, through a pointer.
type Object interface {
	// Lumi shows every property to p, with one call each of [Required], [Optional] or [Nilable].
	Lumi(p *Props)
}

// Flags are the options of a property in the IDL, but for optional, which is said by the function that shows it.
type Flags uint8

// The options of a property.
const (
	// Replaces marks what cannot change in place.
	Replaces Flags = 1 << iota
	// Out marks what the provider computes; programs must not set it.
	Out
	// In marks what is sent to the provider and never read back.
	In
	// Secret marks what is wrapped as a secret on the wire.
	Secret
	// required is set by Required.
	required
)

// Property describes one property of an object.
type Property struct {
	// Name is the property's name on the wire.
	Name string
	// Kind is the kind of its values.
	Kind Kind
	// Flags are its options.
	Flags Flags
	// Required says that a complete bag has it.
	Required bool
	// Was are the names that it had before, the last one first. Stored properties may have it under one of these.
	Was []string
}

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

// Codec decodes and encodes values of the type that P points to. The type parameter is there for the compiler alone:
// behind it stands code that is not generic, so that a struct type more costs its own method and nothing else.
type Codec[P any] struct{ codec codec }

type codec interface {
	// decode sets what into points to. It reports false, and leaves it, if the value is wrong.
	decode(p *Props, v *structpb.Value, into any) bool
	// encode makes a value of what from points to, or returns nil if that is absent.
	encode(p *Props, from any) *structpb.Value
	// kind is that of the values.
	kind() Kind
}

// Props is one walk over the properties of an object and of what is inside: to decode it from a bag, to encode it into
// one, or to describe it. Generated code hands it from property to property and looks at nothing in it.
type Props struct {
	mode mode
	// unknown says that values may be unknown, where the mode is to decode.
	unknown bool
	// checked says that the bag is what Check returned.
	checked bool
	// inOrder has maps walked by their sorted keys, so that faults come in order. That is slower.
	inOrder bool
	// skip leaves properties out that have one of the flags; only, if it is not 0, those of the bag that have none.
	skip, only Flags

	// secrets, if it is not nil, receives what is secret, and the names of properties.
	secrets *wire.Secrets
	// priorFaults are faults of assets and archives that were found before, and are not reported yet.
	priorFaults []Fault

	// fields are those of the object at hand, and seen counts those of them that were asked for.
	fields map[string]*structpb.Value
	seen   int
	// unsigned is an object that was found to be no special value, so that it is not looked at twice.
	unsigned *structpb.Struct
	// make makes values where the mode is to encode. The properties of the object at hand are the last of made; when it
	// is done, they become a map of the size that they need.
	make *values
	made []entry
	// flags are those of the property of the bag that is being encoded.
	flags Flags
	// invalid are the properties of the bag that were not encoded without fault.
	invalid []string

	// path leads to the value at hand. From the step number hidden on it lies in a secret.
	path   []step
	hidden int
	// marked has the mark of the bag, and then one for each step of path. Those that nothing was marked with are nil.
	marked []*mark
	// steps and marks are where path and marked start out, so that they cost no allocation unless they are long.
	steps [4]step
	marks [5]*mark

	// done says that ctx was found to be done, so that the walk has no use. It is looked at once in a while, by the
	// number of steps that the walk took.
	ctx  context.Context
	took int
	done bool

	// misfit says that a bag which was stored does not fit the IDL.
	misfit bool

	faults     []Fault
	properties []Property
	// warnings are about what is legal and deprecated, if warns is set.
	warns    bool
	warnings []Fault
}

// entry is a property of an object that is being made.
type entry struct {
	name  string
	value *structpb.Value
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
	strict   mode = iota // decode what a program wants
	lenient              // decode what was stored, perhaps under another version of the IDL
	encoding             // make a bag
	describe             // list the properties
)
