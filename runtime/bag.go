package lumi

import (
	"google.golang.org/protobuf/types/known/structpb"
)

// Decode sets the properties of o, which must be zero, from a bag that a program made: nothing may be missing, left
// over, of another kind than declared, or unknown. The error is a *[InvalidError] with all faults.
func Decode(bag *structpb.Struct, o Object) error {
	_, err := decodeBag(bag, o, strict, false)
	return err
}

// Encode makes the bag of an object's properties. The error is a *[OutputError] with all faults.
func Encode(o Object) (*structpb.Struct, error) { return encodeBag(o, marks{}, 0, 0) }

// decodeBag decodes in one of two modes, and returns what the object cannot say.
func decodeBag(bag *structpb.Struct, o Object, m mode, unknown bool) (marks, error) {
	p := newProps(m)
	p.unknown = unknown
	p.decodeObject(bag.GetFields(), o)
	if len(p.faults) > 0 {
		return marks{}, &InvalidError{Faults: p.told()}
	}
	return p.marks, nil
}

// encodeBag encodes what neither skip nor only leaves out.
func encodeBag(o Object, m marks, skip, only Flags) (*structpb.Struct, error) {
	p := newProps(encoding)
	p.marks, p.skip, p.only = m, skip, only
	fields := p.encodeObject(o)
	if len(p.faults) > 0 {
		return nil, &OutputError{Faults: p.told()}
	}
	return &structpb.Struct{Fields: fields}, nil
}
