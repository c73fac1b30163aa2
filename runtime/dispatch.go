package lumi

import (
	"context"
	"errors"
	"io"
	"sync"
	"syscall"

	"github.com/lumi-idl/lumi/internal/property"
	"github.com/lumi-idl/lumi/runtime/internal/signed"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Only this file and the author's code depend on the type of a resource's properties. All other provider code is
// compiled once for all types.

// operations runs the author's operation that c.op selects. It stores the results in c.
type operations func(ctx context.Context, c *call) error

// call holds the inputs and outputs of one operation.
type call struct {
	op        operation
	old, want *state
	diff      *Diff
	// fixed holds the fixed properties before an Update.
	fixed  *property.Value
	id     ID
	stored Bag
	name   string
	got    Object
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

// state is a [State] without a type parameter, plus details that the properties cannot represent.
type state struct {
	URN        urn.URN
	ID         ID
	Properties Object
	Old        Object // may be nil
	Seed       Seed
	Token      string
	Unknown    Paths
	Refs       References
	done       *sync.Map
	marks      *mark
	// bag is the stored bag, or its upgrade by the author.
	bag *property.Value
	// before is the encoding of the properties before the author's code saw them, if remember saved it.
	before *property.Value
}

// remember saves the encoding of the properties if a list has a secret element, so that encode can detect changes. It must
// be called before the state is passed to the author's code.
func (s *state) remember(ctx context.Context) {
	if s.marks.hasSecretElement(false) {
		s.before, _ = encodeBag(ctx, s.Properties, s.marks, 0, 0)
	}
}

// encode encodes the properties as the author left them, and wraps each value that arrived as a secret. If a property
// had a secret list element and has changed, the whole property is wrapped, since the author may have moved elements.
func (s *state) encode(ctx context.Context, skip, only Flags) (*property.Value, error) {
	bag, err := encodeBag(ctx, s.Properties, s.marks, skip, only)
	if bag == nil || s.marks == nil {
		return bag, err
	}
	for at, m := range s.marks.parts {
		v := bag.Get(at.name)
		if v != nil && m.hasSecretElement(false) && !same(v, s.before.Get(at.name)) {
			*bag = bag.With(at.name, signed.Secret(*v))
		}
	}
	return bag, err
}

// namer contains only the method that [NamingOps] adds to [Ops]. Go compiles all methods of a generic interface for each
// instantiation, so a smaller interface builds faster.
type namer[P Object] interface {
	Name(ctx context.Context, want *State[P]) (string, error)
}

// dispatcher returns a function that runs the operations of ops, and the optional operations that ops supports. naming
// is nil if programs name the resources. dispatcher panics if ops is nil. It must not be inlined into stubs, to keep them
// small.
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

// get calls the author's Get. If the result is nil, it returns an *[OutputError].
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

// outcome converts an author's error for an engine: it applies [Uncertain] to the error of a create, update, or delete
// whose response may have been lost, and [Invalid] to all others.
func outcome(op operation, err error) error {
	switch op {
	case createOp, updateOp, deleteOp:
		switch Meaning(err).(type) { //nolint:errorlint // A meaning is not wrapped.
		case nil, Fault, *InvalidError, *ReplaceError: // The response to another request may still be lost.
			if isLost(err) {
				return Uncertain(err)
			}
		}
	}
	return Invalid(err)
}

// isLost reports whether err indicates a lost response: a done context, a timeout, or a broken connection. It returns
// false if a method of err panics.
func isLost(err error) (lost bool) {
	defer func() { _ = recover() }()
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	var network interface{ Timeout() bool } // implemented by errors of packages net and url
	return errors.As(err, &network) && (network.Timeout() || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET))
}

// isUncertain reports whether err wraps an *[UncertainError]. It returns false if a method of err panics.
func isUncertain(err error) (is bool) {
	defer func() { _ = recover() }()
	return errors.As(err, new(*UncertainError))
}
