package pulumiserve

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/adapter/internal/bridge"
	lumi "github.com/lumi-idl/lumi/runtime"
)

// read reads a resource. The engine sends the inputs of Check to refresh one, and at most some properties to adopt one.
func (r *target) read(ctx context.Context, req *pulumirpc.ReadRequest) (*pulumirpc.ReadResponse, error) {
	if r.server.unconfigured.Load() {
		return nil, errUnconfigured
	}
	read := r.adopt
	if req.GetInputs().GetFields()[seedName] != nil {
		read = r.refresh
	}
	outputs, inputs, err := read(ctx, req)
	switch {
	case errors.Is(err, lumi.ErrNotFound):
		return &pulumirpc.ReadResponse{}, nil
	case err != nil:
		return nil, err
	}
	return &pulumirpc.ReadResponse{
		Id: req.GetId(), Properties: r.encode(outputs),
		Inputs: r.inputs(lumi.BagOf(&structpb.Struct{Fields: inputs}), seedOf(req.GetInputs(), []byte(rand.Text()))),
	}, nil
}

// adopt reads a resource that the engine does not manage. Its inputs are the properties that a program must set.
func (r *target) adopt(ctx context.Context, req *pulumirpc.ReadRequest) (lumi.Bag, map[string]*structpb.Value, error) {
	got, err := r.Get(ctx, &lumi.GetRequest{ID: lumi.ID(req.GetId()), Purpose: lumi.Import, URN: r.urn})
	if err != nil {
		return lumi.Bag{}, nil, err
	}
	inputs := got.Properties.Struct().GetFields()
	for _, p := range r.Schema.Properties {
		if p.Out || p.Computed {
			delete(inputs, p.Name)
		}
	}
	return got.Properties, inputs, nil
}

// refresh reads a resource that the engine manages. What differs only in notation from the inputs is not drift and stays as it was.
func (r *target) refresh(ctx context.Context, req *pulumirpc.ReadRequest) (lumi.Bag, map[string]*structpb.Value, error) {
	stored, err := r.decode(ctx, req.GetId(), req.GetProperties(), nil)
	if err != nil {
		return lumi.Bag{}, nil, err
	}
	asked, err := r.decode(ctx, req.GetId(), req.GetInputs(), nil)
	if err != nil {
		return lumi.Bag{}, nil, err
	}
	actual, err := r.get(ctx, stored.id, stored.old, stored.refs)
	if err != nil {
		return lumi.Bag{}, nil, err
	}
	maps.Copy(stored.refs, asked.refs)
	drift, err := r.inspect(ctx, &change{stored.id, actual, asked.old, stored.refs})
	if err != nil {
		return lumi.Bag{}, nil, err
	}
	now, old, inputs := actual.Struct().GetFields(), stored.old.Struct().GetFields(), asked.old.Struct().GetFields()
	for _, p := range r.Schema.Properties {
		isDrift := slices.ContainsFunc(drift.Changes, func(c lumi.Change) bool { return root(c.Path) == p.Name })
		switch {
		case p.Out || p.Computed && asked.old.Get(p.Name) == nil:
		case isDrift && bridge.IsNull(now[p.Name]):
			delete(inputs, p.Name)
		case isDrift:
			inputs[p.Name] = now[p.Name]
		case !bridge.IsNull(now[p.Name]) && !bridge.IsNull(old[p.Name]):
			now[p.Name] = old[p.Name]
		}
	}
	return lumi.BagOf(&structpb.Struct{Fields: now}), inputs, nil
}
