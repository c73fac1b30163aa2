package tfserve

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// value decodes a value of a resource type.
func (t *resourceType) value(v *tfprotov6.DynamicValue) (tftypes.Value, error) {
	return v.Unmarshal(t.typ)
}

// dynamicValue encodes a value of a resource type.
func (t *resourceType) dynamicValue(v tftypes.Value) (*tfprotov6.DynamicValue, error) {
	d, err := tfprotov6.NewDynamicValue(t.typ, v)
	return &d, err
}

// idOf returns the id in a state, or "" if the state is null.
func idOf(state tftypes.Value) lumi.ID {
	attributes, _ := native(state).(map[string]tftypes.Value)
	id, _ := native(attributes[idName]).(string)
	return lumi.ID(id)
}

// ValidateResourceConfig implements [tfprotov6.ProviderServer].
func (s *Server) ValidateResourceConfig(
	ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest,
) (*tfprotov6.ValidateResourceConfigResponse, error) {
	t, err := s.resource(req.TypeName)
	if err == nil {
		var config tftypes.Value
		if config, err = t.value(req.Config); err == nil {
			err = s.Validate(ctx, t.Token, t.decodeBag(config))
		}
	}
	return &tfprotov6.ValidateResourceConfigResponse{Diagnostics: failure(err)}, nil
}

// ReadResource implements [tfprotov6.ProviderServer].
func (s *Server) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	state, err := s.read(ctx, req)
	return &tfprotov6.ReadResourceResponse{NewState: state, Private: req.Private, Diagnostics: failure(err)}, nil
}

func (s *Server) read(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.DynamicValue, error) {
	t, err := s.resource(req.TypeName)
	if err != nil {
		return nil, err
	}
	prior, err := t.value(req.CurrentState)
	if err != nil {
		return nil, err
	}
	old, id := t.decodeBag(prior), idOf(prior)
	got, err := t.Get(ctx, &lumi.GetRequest{ID: id, Purpose: lumi.Refresh, URN: urn.ByID(t.Token, string(id)), Old: old})
	if errors.Is(err, lumi.ErrNotFound) {
		return t.dynamicValue(tftypes.NewValue(t.typ, nil))
	}
	if err != nil {
		return nil, err
	}
	return t.dynamicValue(t.overlayBag(string(id), prior, old, got.Properties))
}

// ImportResourceState implements [tfprotov6.ProviderServer].
func (s *Server) ImportResourceState(
	context.Context, *tfprotov6.ImportResourceStateRequest,
) (*tfprotov6.ImportResourceStateResponse, error) {
	return &tfprotov6.ImportResourceStateResponse{Diagnostics: failure(errors.ErrUnsupported)}, nil
}

// UpgradeResourceState implements [tfprotov6.ProviderServer].
func (s *Server) UpgradeResourceState(
	_ context.Context, req *tfprotov6.UpgradeResourceStateRequest,
) (*tfprotov6.UpgradeResourceStateResponse, error) {
	t, err := s.resource(req.TypeName)
	if err != nil {
		return &tfprotov6.UpgradeResourceStateResponse{Diagnostics: failure(err)}, nil
	}
	state, err := req.RawState.Unmarshal(t.typ)
	if err != nil {
		return &tfprotov6.UpgradeResourceStateResponse{Diagnostics: failure(err)}, nil
	}
	upgraded, err := t.dynamicValue(state)
	return &tfprotov6.UpgradeResourceStateResponse{UpgradedState: upgraded, Diagnostics: failure(err)}, nil
}

// MoveResourceState implements [tfprotov6.ProviderServer].
func (s *Server) MoveResourceState(
	context.Context, *tfprotov6.MoveResourceStateRequest,
) (*tfprotov6.MoveResourceStateResponse, error) {
	return &tfprotov6.MoveResourceStateResponse{Diagnostics: failure(errors.ErrUnsupported)}, nil
}
