package lumi

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Provider is a [ResourceProvider] for one resource type that calls the author's operations. Generated providers embed it,
// so that authors can override individual methods.
type Provider struct {
	token  tokens.Type
	former []tokens.Type
	alloc  func() Object
	// properties describes the properties of the objects that alloc returns.
	properties func() []Property
	named      bool
	// scope is the property within which names are unique, or "".
	scope string
	ops   operations
	can   *abilities
}

// NewNamedProvider returns a provider for a type whose resources are named by programs. empty returns a new object with
// no properties set. NewNamedProvider panics if ops is nil or has an optional method that would never be called.
func NewNamedProvider[P Object](token tokens.Type, empty func() P, ops Ops[P]) Provider {
	run, can := dispatcher(token, ops, nil)
	alloc, properties := allocator(empty)
	return Provider{token: token, alloc: alloc, properties: properties, named: true, ops: run, can: can}
}

// NewProvider returns a provider for a type whose resources are not named by programs. empty returns a new object with no
// properties set. NewProvider panics if ops is nil or has an optional method that would never be called.
func NewProvider[P Object](token tokens.Type, empty func() P, ops NamingOps[P]) Provider {
	run, can := dispatcher[P](token, ops, ops)
	alloc, properties := allocator(empty)
	return Provider{token: token, alloc: alloc, properties: properties, ops: run, can: can}
}

func allocator[P Object](empty func() P) (alloc func() Object, properties func() []Property) {
	alloc = func() Object { return empty() }
	return alloc, sync.OnceValue(func() []Property { return Describe(alloc()) })
}

// nameProperty is the name of the property for the name that a program gives a resource.
const nameProperty = "name"

// Token returns the token of the provider's type.
func (r *Provider) Token() tokens.Type { return r.token }

// Formerly returns a copy of r that also serves resources with the given former tokens of the type.
func (r Provider) Formerly(tokens ...tokens.Type) Provider {
	r.former = tokens
	return r
}

// NameScope returns a copy of r whose resources have names that are unique among those with the same value of property.
func (r Provider) NameScope(property string) Provider {
	r.scope = property
	return r
}

// FormerTokens returns the former tokens of the type.
func (r *Provider) FormerTokens() []tokens.Type { return r.former }

// Describe implements [ResourceProvider].
func (r *Provider) Describe(context.Context) (*Description, error) {
	d := &Description{
		Type: r.token, Named: r.named, CanFind: r.can.find.IsValid(), IdempotentCreate: r.can.createAgain,
		RepeatableChange: r.can.changeAgain, Properties: slices.Clone(r.properties()),
	}
	if r.named {
		d.Name = nameRules(r.alloc())
		d.Name.Scope = r.scope
	}
	return d, nil
}

// run runs an operation of the author and returns its error, converted by outcome, or ctx.Err() if ctx is already done. If
// the operation fails or panics, run registers the secrets in the properties.
func run(ctx context.Context, r *Provider, c *call) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.want != nil {
		c.want.remember(ctx)
	}
	ended := false
	defer func() {
		if (!ended || err != nil) && c.want != nil {
			noteResult(ctx, c.want.Properties, c.want.marks)
		}
	}()
	err = outcome(c.op, r.ops(ctx, c))
	ended = true
	return err
}

// decodeState decodes bag and returns a state with the properties and their marks. It returns the error of decodeBag, or
// ctx.Err().
func decodeState(
	ctx context.Context, r *Provider, u urn.URN, id ID, bag Bag, refs References, d decoding,
) (*state, error) {
	s := &state{URN: u, ID: id, Properties: r.alloc(), Refs: refs}
	var err error
	s.marks, err = decodeBag(ctx, bag.Object(), s.Properties, d)
	s.Unknown = s.marks.unknowns(ctx, nil, nil)
	return s, cmp.Or(err, ctx.Err())
}

func nameFault(message string) error {
	return &InvalidError{Faults: []Fault{{Path: nameProperty, Message: message}}}
}
