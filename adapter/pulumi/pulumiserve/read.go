package pulumiserve

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"maps"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/structpb"

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
	resp, err := read(ctx, req)
	if errors.Is(err, lumi.ErrNotFound) {
		return &pulumirpc.ReadResponse{}, nil
	}
	return resp, err
}

// adopt reads a resource that the engine does not manage. Its inputs are what a program has to set.
func (r *target) adopt(ctx context.Context, req *pulumirpc.ReadRequest) (*pulumirpc.ReadResponse, error) {
	got, err := r.Get(ctx, &lumi.GetRequest{ID: lumi.ID(req.GetId()), Purpose: lumi.Import, URN: r.urn})
	if err != nil {
		return nil, err
	}
	inputs := maps.Clone(got.Properties.Struct().GetFields())
	for _, p := range r.Schema.Properties {
		if p.Out || p.Computed {
			delete(inputs, p.Name)
		}
	}
	return &pulumirpc.ReadResponse{
		Id: req.GetId(), Properties: r.encode(got.Properties),
		Inputs: r.inputs(lumi.BagOf(&structpb.Struct{Fields: inputs}), []byte(rand.Text())),
	}, nil
}

// refresh reads a resource that the engine manages. What differs only in notation from the inputs is not drift and stays as it was.
func (r *target) refresh(ctx context.Context, req *pulumirpc.ReadRequest) (*pulumirpc.ReadResponse, error) {
	old, err := r.stored(ctx, req.GetProperties(), nil)
	if err != nil {
		return nil, err
	}
	refs, err := r.server.References(ctx, old)
	if err != nil {
		return nil, err
	}
	id := lumi.ID(req.GetId())
	got, err := r.Get(ctx, &lumi.GetRequest{ID: id, Purpose: lumi.Refresh, URN: r.urn, Old: old, References: refs})
	if err != nil {
		return nil, err
	}
	asked, err := r.stored(ctx, req.GetInputs(), nil)
	if err != nil {
		return nil, err
	}
	actual := r.withUnread(got.Properties, old)
	drift, err := r.inspect(ctx, req.GetId(), actual, asked)
	if err != nil {
		return nil, err
	}
	outputs, inputs := maps.Clone(actual.Struct().GetFields()), maps.Clone(asked.Struct().GetFields())
	for _, p := range r.Schema.Properties {
		now, was := outputs[p.Name], old.Struct().GetFields()[p.Name]
		isDrift := slices.ContainsFunc(drift.Changes, func(c lumi.Change) bool { return root(c.Path) == p.Name })
		switch {
		case p.Out || p.Computed && isNull(inputs[p.Name]):
		case isDrift && isNull(now):
			delete(inputs, p.Name)
		case isDrift:
			inputs[p.Name] = now
		case !isNull(was) && !isNull(now):
			outputs[p.Name] = was
		}
	}
	seed, err := base64.StdEncoding.DecodeString(req.GetInputs().GetFields()[seedName].GetStringValue())
	return &pulumirpc.ReadResponse{
		Id: req.GetId(), Properties: r.encode(lumi.BagOf(&structpb.Struct{Fields: outputs})),
		Inputs: r.inputs(lumi.BagOf(&structpb.Struct{Fields: inputs}), seed),
	}, err
}
