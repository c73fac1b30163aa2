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

// Only this file and the author's code depend on the type of a resource's properties. All other provider code is
// compiled once for all types.

// operations runs any of the author's operations.
type operations func(ctx context.Context, c *call) error

// call holds the inputs and outputs of one operation.
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

// state is a [State] of any type, with details that its properties cannot represent.
type state struct {
	URN        urn.URN
	ID         ID
	Properties Object
	Old        Object // nil if there is none
	Seed       Seed
	Token      string
	Unknown    Paths
	Refs       References
	done       *sync.Map
	marks      *mark
	// bag holds the properties as stored, or as upgraded by the author.
	bag *structpb.Struct
	// before is the bag of the properties as passed to the author, if needed later.
	before *structpb.Struct
}

// remember saves the encoded properties if a list has a secret element, so that encode can detect changes. It must be
// called before the author's code sees the state.
func (s *state) remember(ctx context.Context) {
	if s.marks.hasSecretElement(false) {
		s.before, _ = encodeBag(ctx, s.Properties, s.marks, 0, 0)
	}
}

// encode encodes the properties as the author left them. Secrets are wrapped where they arrived wrapped. Since the
// author may have moved list elements, a list with a secret element becomes secret as a whole.
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

// namer is the one method that [NamingOps] adds to [Ops]. Go compiles all methods of an interface for each type it is
// instantiated with, so a smaller interface builds faster.
type namer[P Object] interface {
	Name(ctx context.Context, want *State[P]) (string, error)
}

// dispatcher returns the operations of an author's implementation. naming is nil if programs name the resources. It
// must not be inlined, so that stubs contain no copies of it.
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
			c.want.Properties = want.Properties // The author may have replaced the pointer.
		}
		return err
	}, can
}

// get calls the author's Get and returns an error if the result is nil.
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

// outcome translates an author's error into its meaning for an engine.
func outcome(op operation, err error) error {
	switch op {
	case createOp, updateOp, deleteOp:
		switch Meaning(err).(type) { //nolint:errorlint // A meaning is not wrapped.
		case nil, Fault, *InvalidError, *ReplaceError: // of one request; the response to another may be lost
			if isLost(err) {
				return Uncertain(err)
			}
		}
	}
	return Invalid(err)
}

// isLost reports whether an error means that a response was lost: a done context, a timeout, or a broken connection. It
// returns false if one of the error's methods panics.
func isLost(err error) (lost bool) {
	defer func() { _ = recover() }()
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	var network interface{ Timeout() bool } // implemented by errors of packages net and url
	return errors.As(err, &network) && (network.Timeout() || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET))
}

// isUncertain reports whether an author's error wraps an *[UncertainError]. It returns false if one of the error's
// methods panics.
func isUncertain(err error) (is bool) {
	defer func() { _ = recover() }()
	return errors.As(err, new(*UncertainError))
}
