package providertest

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/internal/special"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Resource is one resource under test. Its methods are steps of its life; each does what an engine would do, and checks
// what must be true of every provider. They must not be called concurrently for one and the same resource.
type Resource struct {
	h         *Harness
	token     tokens.Type
	name      string
	provider  lumi.ResourceProvider // nil for one that is given
	mayDiffer []lumi.Path
	// mayBeEmpty are the names of computed properties.
	mayBeEmpty []string
	doing      string // the step that is being taken
	began      int    // how many calls there were when that began
	reported   map[reported]bool

	// asked are the properties that the test asked for last, and wanted what Check made of them.
	asked  Properties
	wanted *structpb.Struct
	// hidden are the paths, without indices, of what answers have wrapped as secrets.
	hidden map[string]bool

	// What follows is guarded by the harness, since other resources may refer to this one.
	urn   urn.URN
	id    lumi.ID          // empty while the resource does not exist
	state *structpb.Struct // all properties, those that were asked for and those that were computed
}

// String names the resource in reports.
func (r *Resource) String() string { return fmt.Sprintf("%s %q", r.token, r.name) }

// URN is the resource's URN. A resource that the provider names has another after it was created than before.
func (r *Resource) URN() urn.URN {
	r.h.mu.Lock()
	defer r.h.mu.Unlock()
	return r.urn
}

// ID is the resource's id, empty while it does not exist.
func (r *Resource) ID() lumi.ID {
	r.h.mu.Lock()
	defer r.h.mu.Unlock()
	return r.id
}

// Output is the value of a property, such as one that the provider computed. It can be a value of a [Properties]. It is nil
// where there is none.
func (r *Resource) Output(path lumi.Path) *structpb.Value { return at(r.current(), path) }

// MayDiffer names properties, or parts of such, that the provider need not report as they were asked for: those that
// the cloud writes in its own way, or does not tell. Capabilities and assets may always be missing from what Get
// returns, since a cloud knows neither URNs nor where a file came from.
func (r *Resource) MayDiffer(paths ...lumi.Path) { r.mayDiffer = append(r.mayDiffer, paths...) }

// MayBeEmpty names properties that the provider computes, and that may be "" or 0, or objects of nothing but such. That is
// what a property without a pointer in the IDL is which the provider forgets, and is reported unless it is said here, or
// the test expects just that.
func (r *Resource) MayBeEmpty(names ...string) { r.mayBeEmpty = append(r.mayBeEmpty, names...) }

// current is a copy of the state.
func (r *Resource) current() *structpb.Struct {
	r.h.mu.Lock()
	defer r.h.mu.Unlock()
	return clone(r.state)
}

// is sets the state of the resource, which lives from now on.
func (r *Resource) is(id lumi.ID, state *structpb.Struct) {
	r.h.mu.Lock()
	r.id, r.state = id, state
	r.h.mu.Unlock()
	r.h.lives(r, id, state)
}

// format makes a URN with a name in it.
func (r *Resource) format(name string) (urn.URN, error) {
	return urn.Format(urn.Parts{
		Environment: r.h.environment, Package: r.token.Package(), Module: r.token.Module(), Type: r.token, Name: name,
	})
}

// declares reports whether the IDL gives a flag to a property whose path is one that is looked for.
func (r *Resource) declares(flag lumi.Flags, is func(property lumi.Path) bool) bool {
	return slices.ContainsFunc(r.h.properties[r.token], func(p lumi.Property) bool {
		return p.Flags&flag != 0 && is(lumi.Path(p.Name))
	})
}

var index = regexp.MustCompile(`\[\d+\]`)

// isHidden reports whether the value at a path must be a secret.
func (r *Resource) isHidden(path lumi.Path) bool {
	if r.declares(lumi.Secret, func(p lumi.Path) bool { return p == path }) {
		return true
	}
	return r.hidden[index.ReplaceAllString(string(path), "[]")]
}

// learn notes what a provider wraps as a secret that nobody had wrapped: it is one by its declaration.
func (r *Resource) learn(asked, answer *structpb.Struct) {
	parts("", structpb.NewStructValue(answer), func(p lumi.Path, v *structpb.Value) bool {
		if !special.IsSecret(v) {
			return true
		}
		if !special.IsSecret(at(asked, p)) && !isHiddenIn(asked, p) {
			if r.hidden == nil {
				r.hidden = map[string]bool{}
			}
			r.hidden[index.ReplaceAllString(string(p), "[]")] = true
		}
		return false
	})
}

// isHiddenIn reports whether a value, or part of it, came as a secret.
func isHiddenIn(bag *structpb.Struct, path lumi.Path) bool {
	found := false
	parts("", structpb.NewStructValue(bag), func(p lumi.Path, v *structpb.Value) bool {
		found = found || special.IsSecret(v) && (p.Holds(path) || path.Holds(p))
		return !found
	})
	return found
}

// wrapped returns a copy of a bag in which everything is wrapped that is known to be a secret.
func (r *Resource) wrapped(bag *structpb.Struct) *structpb.Struct {
	if r == nil || bag == nil {
		return bag
	}
	made := clone(bag)
	parts("", structpb.NewStructValue(made), func(p lumi.Path, v *structpb.Value) bool {
		if special.IsSecret(v) {
			return false
		}
		if p == "" || !r.isHidden(p) || special.IsNull(v) {
			return true
		}
		v.Kind = lumi.NewSecret(&structpb.Value{Kind: v.GetKind()}).Kind
		return false
	})
	return made
}

// The calls of the provider, as the transcript has them.

func (r *Resource) callCheck(ctx context.Context, bag *structpb.Struct) (*structpb.Struct, error) {
	resp, err := r.provider.Check(ctx, &lumi.CheckRequest{
		URN: r.URN(), Properties: lumi.BagOf(bag), References: r.h.references(bag),
	})
	return r.called(&call{name: "Check", in: bag, err: err}, bag, func() *structpb.Struct { return resp.Properties.Struct() })
}

// called notes how a call ended, and returns the properties in the answer. Asked are those in the request that tell what
// came as a secret.
func (r *Resource) called(c *call, asked *structpb.Struct, answer func() *structpb.Struct) (*structpb.Struct, error) {
	if c.r = r; c.err == nil {
		c.out = answer()
		r.learn(asked, c.out)
	}
	r.h.calls.add(c)
	return c.out, c.err
}

func (r *Resource) callName(ctx context.Context, bag *structpb.Struct) (string, error) {
	resp, err := r.provider.Name(ctx, &lumi.NameRequest{
		URN: r.URN(), Properties: lumi.BagOf(bag), References: r.h.references(bag),
	})
	c := &call{name: "Name", r: r, in: bag, err: err}
	if err == nil {
		c.said = resp.Name
	}
	r.h.calls.add(c)
	return c.said, err
}

func (r *Resource) callCreate(ctx context.Context, bag *structpb.Struct) (lumi.ID, *structpb.Struct, error) {
	resp, err := r.provider.Create(ctx, &lumi.CreateRequest{
		URN: r.URN(), Properties: lumi.BagOf(bag), References: r.h.references(bag),
	})
	c := &call{name: "Create", in: bag, err: err}
	computed, err := r.called(c, nil, func() *structpb.Struct {
		c.said = string(resp.ID)
		return resp.Properties.Struct()
	})
	return lumi.ID(c.said), computed, err
}

func (r *Resource) callGet(ctx context.Context, id lumi.ID) (*structpb.Struct, error) {
	resp, err := r.provider.Get(ctx, &lumi.GetRequest{ID: id, Purpose: lumi.Import})
	return r.called(&call{name: "Get", id: string(id), err: err}, nil, func() *structpb.Struct { return resp.Properties.Struct() })
}

func (r *Resource) callInspect(
	ctx context.Context, old, want *structpb.Struct,
) (*lumi.InspectChangeResponse, error) {
	resp, err := r.provider.InspectChange(ctx, &lumi.InspectChangeRequest{
		URN: r.URN(), ID: r.ID(), Old: lumi.BagOf(old), New: lumi.BagOf(want), References: r.h.references(old, want),
	})
	c := &call{name: "InspectChange", r: r, id: string(r.ID()), in: old, new: want, err: err}
	if err == nil {
		c.said = summary(resp)
	}
	r.h.calls.add(c)
	return resp, err
}

func (r *Resource) callUpdate(ctx context.Context, old, want *structpb.Struct) (*structpb.Struct, error) {
	resp, err := r.provider.Update(ctx, &lumi.UpdateRequest{
		URN: r.URN(), ID: r.ID(), Old: lumi.BagOf(old), New: lumi.BagOf(want), References: r.h.references(old, want),
	})
	c := &call{name: "Update", id: string(r.ID()), in: old, new: want, err: err}
	return r.called(c, nil, func() *structpb.Struct { return resp.Properties.Struct() })
}

func (r *Resource) callDelete(ctx context.Context, id lumi.ID, state *structpb.Struct) error {
	_, err := r.provider.Delete(ctx, &lumi.DeleteRequest{
		URN: r.URN(), ID: id, Properties: lumi.BagOf(state), References: r.h.references(state),
	})
	r.h.calls.add(&call{name: "Delete", r: r, id: string(id), in: state, err: err})
	return err
}
