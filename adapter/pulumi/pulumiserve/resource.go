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
	// name is the name that the program gave to the resource.
	name string
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

func (r *target) decode(s *structpb.Struct, known map[string]*structpb.Value) lumi.Bag {
	return decoder{pkg: r.server.Types.Name(), known: known}.bag(r.Schema.Properties, s)
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

// stored returns the properties of an existing resource in the form of the current IDL.
func (r *target) stored(ctx context.Context, s *structpb.Struct, known map[string]*structpb.Value) (lumi.Bag, error) {
	bag := r.decode(s, known)
	upgraded, err := r.server.Upgrade(ctx, r.Token, bag)
	if errors.Is(err, errors.ErrUnsupported) {
		return bag, nil
	}
	return upgraded, err
}

func (r *target) check(ctx context.Context, req *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	news := r.decode(req.GetNews(), nil)
	if fields := news.Struct().GetFields(); r.Schema.Named && isNull(fields["name"]) {
		fields["name"] = structpb.NewStringValue(r.name)
	}
	old, seed := lumi.Bag{}, req.GetRandomSeed()
	if olds := req.GetOlds().GetFields(); len(olds) > 0 {
		old = r.decode(req.GetOlds(), nil)
		if kept, err := base64.StdEncoding.DecodeString(olds[seedName].GetStringValue()); err == nil && olds[seedName] != nil {
			seed = kept
		}
	}
	checked, err := r.checked(ctx, news, old, seed)
	if invalid := (*lumi.InvalidError)(nil); errors.As(err, &invalid) {
		return &pulumirpc.CheckResponse{Inputs: req.GetNews(), Failures: failuresOf(invalid, r.Schema.Properties)}, nil
	}
	if err != nil {
		return nil, err
	}
	return &pulumirpc.CheckResponse{Inputs: r.inputs(checked, seed)}, nil
}

// checked returns the result of Check. Before the configuration is known, properties are only validated.
func (r *target) checked(ctx context.Context, news, old lumi.Bag, seed []byte) (lumi.Bag, error) {
	if r.server.unconfigured.Load() {
		return news, r.server.Validate(ctx, r.Token, news)
	}
	refs, err := r.server.References(ctx, news, old)
	if err != nil {
		return lumi.Bag{}, err
	}
	resp, err := r.Check(ctx, &lumi.CheckRequest{URN: r.urn, Properties: news, Old: old, Seed: seed, References: refs})
	if err != nil {
		return lumi.Bag{}, err
	}
	return resp.Properties, nil
}

func (r *target) diff(ctx context.Context, req *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	if r.server.unconfigured.Load() {
		return &pulumirpc.DiffResponse{Changes: pulumirpc.DiffResponse_DIFF_UNKNOWN}, nil
	}
	old, err := r.stored(ctx, req.GetOlds(), nil)
	if err != nil {
		return nil, err
	}
	resp, err := r.inspect(ctx, req.GetId(), old, r.decode(req.GetNews(), nil))
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

func (r *target) inspect(ctx context.Context, id string, old, want lumi.Bag) (*lumi.InspectChangeResponse, error) {
	refs, err := r.server.References(ctx, old, want)
	if err != nil {
		return nil, err
	}
	return r.InspectChange(ctx, &lumi.InspectChangeRequest{URN: r.urn, ID: lumi.ID(id), Old: old, New: want, References: refs})
}

// planned returns the properties of a resource after a Create or Update, as far as they are known before it.
func (r *target) planned(want, old lumi.Bag) lumi.Bag {
	fields := maps.Clone(want.Struct().GetFields())
	for _, p := range r.Schema.Properties {
		was := old.Struct().GetFields()[p.Name]
		switch {
		case !p.Out && (!p.Computed || !isNull(fields[p.Name])):
		case (p.Fixed || p.Computed) && !isNull(was):
			fields[p.Name] = was
		case p.Secret:
			fields[p.Name] = lumi.NewSecret(lumi.NewUnknown())
		default:
			fields[p.Name] = lumi.NewUnknown()
		}
	}
	return lumi.BagOf(&structpb.Struct{Fields: fields})
}

// merged returns the properties of both bags. Those of the second one take precedence.
func merged(first, second lumi.Bag) lumi.Bag {
	fields := maps.Clone(first.Struct().GetFields())
	if fields == nil {
		return second
	}
	maps.Copy(fields, second.Struct().GetFields())
	return lumi.BagOf(&structpb.Struct{Fields: fields})
}
