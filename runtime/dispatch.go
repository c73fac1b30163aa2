package lumi

import (
	"context"

	"github.com/lumi-idl/lumi/runtime/urn"
)

// Only what stands in this file, and the author's own code, knows the type of a resource's properties. All else that a
// provider does is the same machine code for all types.

// operations carries out any one of the author's operations.
type operations func(ctx context.Context, c *call) error

// call is one call of one of the author's operations: what goes in, and what comes out.
type call struct {
	op        operation
	old, want *state
	diff      *Diff
	id        ID
	name      string
	got       Object
}

type operation uint8

const (
	checkOp operation = iota
	nameOp
	createOp
	getOp
	inspectOp
	updateOp
	deleteOp
)

// state is a [State] of any type, with what its properties cannot say.
type state struct {
	URN        urn.URN
	ID         ID
	Properties Object
	Unknown    Paths
	Refs       References
	marks      marks
}

// dispatcher makes operations of an author's implementation. Naming is nil where programs name the resources. It must
// not be inlined, lest every stub hold a copy of it.
//
//go:noinline
func dispatcher[P Object](ops Ops[P], naming NamingOps[P]) operations {
	return func(ctx context.Context, c *call) (err error) {
		old, want := typed[P](c.old), typed[P](c.want)
		switch c.op {
		case checkOp:
			err = ops.Check(ctx, want)
		case nameOp:
			c.name, err = naming.Name(ctx, want)
		case createOp:
			c.id, err = ops.Create(ctx, want)
		case getOp:
			c.got, err = get(ctx, ops, c.id)
		case inspectOp:
			err = ops.InspectChange(ctx, old, want, c.diff)
		case updateOp:
			err = ops.Update(ctx, old, want, c.diff)
		case deleteOp:
			err = ops.Delete(ctx, old)
		}
		if want != nil {
			c.want.Properties = want.Properties // which the author may have pointed elsewhere
		}
		return err
	}
}

// get makes an error of an answer that says nothing.
func get[P Object](ctx context.Context, ops Ops[P], id ID) (Object, error) {
	got, err := ops.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	var none P
	if Object(got) == Object(none) {
		return nil, &OutputError{Faults: []Fault{{Message: "Get returned neither properties nor an error"}}}
	}
	return got, nil
}

func typed[P Object](s *state) *State[P] {
	if s == nil {
		return nil
	}
	return &State[P]{URN: s.URN, ID: s.ID, Properties: s.Properties.(P), Unknown: s.Unknown, Refs: s.Refs}
}
