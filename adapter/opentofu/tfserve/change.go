package tfserve

import (
	"context"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/content"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// PlanResourceChange implements [tfprotov6.ProviderServer].
func (s *Server) PlanResourceChange(
	ctx context.Context, req *tfprotov6.PlanResourceChangeRequest,
) (*tfprotov6.PlanResourceChangeResponse, error) {
	planned, err := s.plan(ctx, req)
	return &tfprotov6.PlanResourceChangeResponse{PlannedState: planned, Diagnostics: failure(err)}, nil
}

func (s *Server) plan(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.DynamicValue, error) {
	t, err := s.resource(req.TypeName)
	if err != nil {
		return nil, err
	}
	config, err := t.value(req.Config)
	if err != nil {
		return nil, err
	}
	prior, err := t.value(req.PriorState)
	if err != nil || config.IsNull() {
		return req.ProposedNewState, err
	}
	wanted := t.decodeBag(config)
	stamped, err := content.Stamp(ctx, wanted)
	if err != nil {
		return nil, err
	}
	checked, err := t.Check(ctx, &lumi.CheckRequest{URN: urn.ByID(t.Token, "new"), Properties: stamped, Old: t.decodeBag(prior)})
	if err != nil {
		return nil, err
	}
	fields := map[string]*structpb.Value{}
	for name, v := range checked.Properties.Struct().GetFields() {
		fields[name] = v
	}
	for _, p := range t.Schema.Properties {
		if p.Out {
			fields[p.Name] = lumi.NewUnknown()
		}
	}
	var id any = tftypes.UnknownValue
	if !prior.IsNull() {
		id = string(idOf(prior))
	}
	return t.dynamicValue(t.overlayBag(id, config, wanted, lumi.BagOf(&structpb.Struct{Fields: fields})))
}

// ApplyResourceChange implements [tfprotov6.ProviderServer].
func (s *Server) ApplyResourceChange(
	ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest,
) (*tfprotov6.ApplyResourceChangeResponse, error) {
	state, err := s.apply(ctx, req)
	return &tfprotov6.ApplyResourceChangeResponse{NewState: state, Diagnostics: failure(err)}, nil
}

func (s *Server) apply(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.DynamicValue, error) {
	t, err := s.resource(req.TypeName)
	if err != nil {
		return nil, err
	}
	planned, err := t.value(req.PlannedState)
	if err != nil {
		return nil, err
	}
	prior, err := t.value(req.PriorState)
	if err != nil {
		return nil, err
	}
	old, wanted := t.decodeBag(prior), t.inputs(planned)
	id := idOf(prior)
	u := urn.ByID(t.Token, string(id))
	var computed lumi.Bag
	switch {
	case planned.IsNull():
		_, err := t.Delete(ctx, &lumi.DeleteRequest{URN: u, ID: id, Properties: old})
		s.Forget(t.Token, id)
		if err != nil {
			return req.PriorState, err
		}
		return req.PlannedState, nil
	case prior.IsNull():
		created, err := t.Create(ctx, &lumi.CreateRequest{URN: urn.ByID(t.Token, "new"), Properties: wanted})
		if err != nil {
			return nil, err
		}
		id, computed = created.ID, created.Properties
	default:
		updated, err := t.Update(ctx, &lumi.UpdateRequest{URN: u, ID: id, Old: old, New: wanted})
		s.Forget(t.Token, id)
		if err != nil {
			return req.PriorState, err
		}
		computed = updated.Properties
	}
	fields := map[string]*structpb.Value{}
	for _, bag := range []lumi.Bag{wanted, computed} {
		for name, v := range bag.Struct().GetFields() {
			fields[name] = v
		}
	}
	return t.dynamicValue(t.overlayBag(string(id), planned, t.decodeBag(planned), lumi.BagOf(&structpb.Struct{Fields: fields})))
}

// inputs returns the properties of a planned state without the outputs.
func (t *resourceType) inputs(planned tftypes.Value) lumi.Bag {
	fields := t.decodeBag(planned).Struct().GetFields()
	for _, p := range t.Schema.Properties {
		if p.Out {
			delete(fields, p.Name)
		}
	}
	return lumi.BagOf(&structpb.Struct{Fields: fields})
}
