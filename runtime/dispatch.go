package lumi

import (
	"context"
	"errors"
	"io"
	"sync"
	"syscall"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/runtime/tokens"
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
	stored    Bag
	name      string
	got       Object
}

type operation uint8

const (
	checkOp operation = iota
	nameOp
	createOp
	getOp
	findOp
	inspectOp
	updateOp
	deleteOp
	upgradeOp
)

// state is a [State] of any type, with what its properties cannot say.
type state struct {
	URN        urn.URN
	ID         ID
	Properties Object
	Old        Object // nil if there are none
	Seed       Seed
	Token      string
	Unknown    Paths
	Refs       References
	done       *sync.Map
	marks      *mark
	// bag has the properties as they were stored, or as the author upgraded them.
	bag *structpb.Struct
	// before is the bag of the properties as the author is given them, where that is needed later.
	before *structpb.Struct
}

// remember must come before the author's code sees the state.
func (s *state) remember(ctx context.Context) {
	if s.marks.hasSecretElement(false) {
		s.before, _ = encodeBag(ctx, s.Properties, s.marks, 0, 0)
	}
}

// encode makes the bag of what the author left of the properties. Secrets are wrapped where they came wrapped. But the
// author may have moved the elements of a list, and a secret among them: then the property as a whole is one.
func (s *state) encode(ctx context.Context, skip, only Flags) (*structpb.Struct, error) {
	bag, err := encodeBag(ctx, s.Properties, s.marks, skip, only)
	if bag == nil || s.marks == nil {
		return bag, err
	}
	for property, m := range s.marks.parts {
		v := bag.Fields[property.name]
		if v != nil && m.hasSecretElement(false) && !same(v, s.before.GetFields()[property.name]) {
			bag.Fields[property.name] = NewSecret(v)
		}
	}
	return bag, err
}

// namer is the one method that [NamingOps] has beside those of [Ops]. Go compiles every method of an interface anew for
// each type that the interface is instantiated with, so that a smaller one builds faster.
type namer[P Object] interface {
	Name(ctx context.Context, want *State[P]) (string, error)
}

// dispatcher makes operations of an author's implementation. Naming is nil where programs name the resources. It must
// not be inlined, so that stubs have no copies of it.
//
//go:noinline
func dispatcher[P Object](token tokens.Type, ops Ops[P], naming namer[P]) (run operations, can *abilities) {
	if ops == nil {
		panic("lumi: no operations for resources of type " + string(token))
	}
	can = abilitiesOf(token, ops, (*State[P])(nil))
	return func(ctx context.Context, c *call) (err error) {
		old, want := typed[P](c.old), typed[P](c.want)
		switch c.op {
		case checkOp:
			err = ops.Check(ctx, want)
		case nameOp:
			c.name, err = naming.Name(ctx, want)
		case createOp:
			c.id, err = ops.Create(ctx, want)
		case findOp:
			c.id, err = invoke(can.find, ctx, want)
		case getOp:
			c.got, err = get(ctx, ops, c.id, old)
		case inspectOp:
			_, err = invoke(can.inspect, ctx, old, want, c.diff)
		case updateOp:
			err = ops.Update(ctx, old, want, c.diff)
		case deleteOp:
			err = ops.Delete(ctx, old)
		case upgradeOp:
			_, err = invoke(can.upgrade, ctx, want, c.stored)
		}
		if want != nil && !isNil(want.Properties) {
			c.want.Properties = want.Properties // which the author may have pointed elsewhere
		}
		return err
	}, can
}

// get makes an error of an answer that says nothing.
func get[P Object](ctx context.Context, ops Ops[P], id ID, old *State[P]) (Object, error) {
	got, err := ops.Get(ctx, id, old)
	if err != nil {
		return nil, err
	}
	if isNil(got) {
		return nil, &OutputError{Faults: []Fault{{Message: "Get returned neither properties nor an error"}}}
	}
	return got, nil
}

func isNil[P Object](o P) bool {
	var none P
	return Object(o) == Object(none)
}

func typed[P Object](s *state) *State[P] {
	if s == nil {
		return nil
	}
	t := &State[P]{
		URN: s.URN, ID: s.ID, Properties: s.Properties.(P), Seed: s.Seed, Token: s.Token, Unknown: s.Unknown, Refs: s.Refs,
		done: s.done,
	}
	t.Old, _ = s.Old.(P)
	return t
}

// outcome is what the error of an author's operation means to an engine.
func outcome(op operation, err error) error {
	switch op {
	case createOp, updateOp, deleteOp:
		switch Meaning(err).(type) { //nolint:errorlint // A meaning is not wrapped.
		case nil, Fault, *InvalidError, *ReplaceError: // of one request, while the answer to another may be lost
			if isLost(err) {
				return Uncertain(err)
			}
		}
	}
	return Invalid(err)
}

// isLost reports whether an author's error is about an answer that did not come: that of a context, a timeout, or that of
// a connection which broke. Its methods may panic.
func isLost(err error) (lost bool) {
	defer func() { _ = recover() }()
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	var network interface{ Timeout() bool } // as errors of packages net and url have
	return errors.As(err, &network) && (network.Timeout() || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET))
}

// isUncertain reports whether any part of an author's error is about an uncertain outcome. Its methods may panic.
func isUncertain(err error) (is bool) {
	defer func() { _ = recover() }()
	return errors.As(err, new(*UncertainError))
}
