package pulumiserve

import (
	"context"
	"encoding/base64"
	"errors"
	"maps"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/adapter/internal/bridge"
	"github.com/lumi-idl/lumi/gen/pulumischema"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// seedName is the name of an input that keeps the seed of generated names. The engine sends a new seed with each Check. Inputs
// without it are not from a Check.
const seedName = internalPrefix + "seed"

// target is the resource of a request.
type target struct {
	*bridge.Resource
	server *server
	urn    urn.URN
	name   string // which the program gave to it
}

// onResource makes a call for a resource.
func onResource[Q interface{ GetUrn() string }, R any](
	ctx context.Context, s *server, req Q, f func(*target, context.Context, Q) (R, error),
) (R, error) {
	return call(ctx, s, req.GetUrn(), func(ctx context.Context) (resp R, err error) {
		parts := parseURN(req.GetUrn())
		r := &target{server: s, name: parts.name}
		token := tokens.Type(pulumischema.FromToken(s.Types.Name(), parts.typ))
		if r.Resource, err = s.Resource(token); err != nil {
			return resp, err
		}
		if r.urn, err = parts.lumi(token); err != nil {
			return resp, err
		}
		if t, ok := any(req).(interface{ GetTimeout() float64 }); ok && t.GetTimeout() > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, time.Duration(t.GetTimeout()*float64(time.Second)))
			defer cancel()
		}
		return f(r, ctx, req)
	})
}

// Check implements [pulumirpc.ResourceProviderServer].
func (s *server) Check(ctx context.Context, req *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	return onResource(ctx, s, req, (*target).check)
}

// Diff implements [pulumirpc.ResourceProviderServer].
func (s *server) Diff(ctx context.Context, req *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	return onResource(ctx, s, req, (*target).diff)
}

// Create implements [pulumirpc.ResourceProviderServer].
func (s *server) Create(ctx context.Context, req *pulumirpc.CreateRequest) (*pulumirpc.CreateResponse, error) {
	return onResource(ctx, s, req, (*target).create)
}

// Read implements [pulumirpc.ResourceProviderServer].
func (s *server) Read(ctx context.Context, req *pulumirpc.ReadRequest) (*pulumirpc.ReadResponse, error) {
	return onResource(ctx, s, req, (*target).read)
}

// Update implements [pulumirpc.ResourceProviderServer].
func (s *server) Update(ctx context.Context, req *pulumirpc.UpdateRequest) (*pulumirpc.UpdateResponse, error) {
	return onResource(ctx, s, req, (*target).update)
}

// Delete implements [pulumirpc.ResourceProviderServer].
func (s *server) Delete(ctx context.Context, req *pulumirpc.DeleteRequest) (*emptypb.Empty, error) {
	return onResource(ctx, s, req, (*target).delete)
}

// change is a request with its properties in Lumi's form. Those of an existing resource are in the form of the current IDL.
type change struct {
	id        lumi.ID
	old, want lumi.Bag
	refs      lumi.References
}

// decode returns the change from old to new properties. Either may be nil.
func (r *target) decode(ctx context.Context, id string, olds, news *structpb.Struct) (*change, error) {
	d, c := r.server.decoder(), &change{id: lumi.ID(id)}
	if news != nil {
		c.want = d.bag(r.Schema.Properties, news)
	}
	var err error
	if len(olds.GetFields()) > 0 {
		c.old = d.bag(r.Schema.Properties, olds)
		if old, failed := r.server.Upgrade(ctx, r.Token, c.old); !errors.Is(failed, errors.ErrUnsupported) {
			c.old, err = old, failed
		}
	}
	if err == nil && !r.server.unconfigured.Load() {
		c.refs, err = r.server.References(ctx, c.old, c.want)
	}
	return c, err
}

// inspect returns the differences between old and wanted properties.
func (r *target) inspect(ctx context.Context, c *change) (*lumi.InspectChangeResponse, error) {
	return r.InspectChange(ctx, &lumi.InspectChangeRequest{URN: r.urn, ID: c.id, Old: c.old, New: c.want, References: c.refs})
}

// get reads a resource with the given properties, and returns them where it cannot be read.
func (r *target) get(ctx context.Context, id lumi.ID, all lumi.Bag, refs lumi.References) (lumi.Bag, error) {
	got, err := r.Get(ctx, &lumi.GetRequest{ID: id, Purpose: lumi.Refresh, URN: r.urn, Old: all, References: refs})
	if err != nil {
		return lumi.Bag{}, err
	}
	unread, old := map[string]*structpb.Value{}, all.Struct().GetFields()
	for _, p := range r.Schema.Properties {
		if v := old[p.Name]; p.In && v != nil {
			unread[p.Name] = v
		}
	}
	fields := bridge.WithForeign(got.Properties.Struct().GetFields(), old)
	return merged(lumi.BagOf(&structpb.Struct{Fields: fields}), unread), nil
}

// merged returns the properties of both. The second ones take precedence.
func merged(first lumi.Bag, second map[string]*structpb.Value) lumi.Bag {
	fields := map[string]*structpb.Value{}
	maps.Copy(fields, first.Struct().GetFields())
	maps.Copy(fields, second)
	return lumi.BagOf(&structpb.Struct{Fields: fields})
}

func (r *target) encode(bag lumi.Bag) *structpb.Struct {
	return encodeObject(r.Schema.Properties, bag.Struct())
}

// inputs returns properties in the form of Check, with the seed.
func (r *target) inputs(bag lumi.Bag, seed []byte) *structpb.Struct {
	s := r.encode(bag)
	s.Fields[seedName] = structpb.NewStringValue(base64.StdEncoding.EncodeToString(seed))
	return s
}

// seedOf returns the seed in inputs, or one for inputs that have none.
func seedOf(inputs *structpb.Struct, otherwise []byte) []byte {
	seed, err := base64.StdEncoding.DecodeString(inputs.GetFields()[seedName].GetStringValue())
	if inputs.GetFields()[seedName] == nil || err != nil {
		return otherwise
	}
	return seed
}

func (r *target) check(ctx context.Context, req *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	c, err := r.decode(ctx, "", req.GetOlds(), req.GetNews())
	if err != nil {
		return nil, err
	}
	if r.Schema.Named && c.want.Get("name") == nil {
		c.want = merged(c.want, map[string]*structpb.Value{"name": structpb.NewStringValue(r.name)})
	}
	seed, checked := seedOf(req.GetOlds(), req.GetRandomSeed()), &lumi.CheckResponse{Properties: c.want}
	if r.server.unconfigured.Load() {
		err = r.server.Validate(ctx, r.Token, c.want)
	} else {
		checked, err = r.Check(ctx, &lumi.CheckRequest{URN: r.urn, Properties: c.want, Old: c.old, Seed: seed, References: c.refs})
	}
	if invalid := (*lumi.InvalidError)(nil); errors.As(err, &invalid) {
		return &pulumirpc.CheckResponse{Inputs: req.GetNews(), Failures: failuresOf(invalid, r.Schema.Properties)}, nil
	}
	if err != nil {
		return nil, err
	}
	return &pulumirpc.CheckResponse{Inputs: r.inputs(checked.Properties, seed)}, nil
}

func (r *target) diff(ctx context.Context, req *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	if r.server.unconfigured.Load() {
		return &pulumirpc.DiffResponse{Changes: pulumirpc.DiffResponse_DIFF_UNKNOWN}, nil
	}
	c, err := r.decode(ctx, req.GetId(), req.GetOlds(), req.GetNews())
	if err != nil {
		return nil, err
	}
	resp, err := r.inspect(ctx, c)
	if err != nil {
		return nil, err
	}
	diff := diffOf(resp)
	for _, p := range r.Schema.Properties {
		if p.Fixed {
			diff.Stables = append(diff.Stables, p.Name)
		}
	}
	return diff, nil
}
