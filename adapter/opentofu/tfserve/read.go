package tfserve

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/adapter/internal/bridge"
	lumi "github.com/lumi-idl/lumi/runtime"
)

// ReadResource implements [tfprotov6.ProviderServer].
func (s *Server) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	resp := &tfprotov6.ReadResourceResponse{Private: req.Private}
	resp.Diagnostics = s.call(ctx, req.TypeName, func(c *call) (err error) {
		resp.NewState, err = c.read(req.CurrentState)
		return err
	})
	return resp, nil
}

func (c *call) read(state *tfprotov6.DynamicValue) (*tfprotov6.DynamicValue, error) {
	if err := c.ready(); err != nil {
		return nil, err
	}
	prior, err := c.value(state)
	if err != nil {
		return nil, err
	}
	old, id := c.storedBag(prior), idOf(prior)
	refs, err := c.References(c.ctx, old)
	if err != nil {
		return nil, err
	}
	got, err := c.Get(c.ctx, &lumi.GetRequest{ID: id, Purpose: lumi.Refresh, URN: c.urn(id), Old: old, References: refs})
	if errors.Is(err, lumi.ErrNotFound) {
		return c.dynamicValue(c.null())
	}
	if err != nil {
		return nil, err
	}
	return c.dynamicValue(c.overlayBag(string(id), prior, old, c.completed(got.Properties, old)))
}

// ImportResourceState implements [tfprotov6.ProviderServer].
func (s *Server) ImportResourceState(
	ctx context.Context, req *tfprotov6.ImportResourceStateRequest,
) (*tfprotov6.ImportResourceStateResponse, error) {
	resp := &tfprotov6.ImportResourceStateResponse{}
	resp.Diagnostics = s.call(ctx, req.TypeName, func(c *call) error {
		if err := c.ready(); err != nil {
			return err
		}
		id := lumi.ID(req.ID)
		got, err := c.Get(c.ctx, &lumi.GetRequest{ID: id, Purpose: lumi.Import, URN: c.urn(id)})
		if err != nil {
			return err
		}
		state, err := c.dynamicValue(c.encodeBag(req.ID, got.Properties))
		resp.ImportedResources = []*tfprotov6.ImportedResource{{TypeName: req.TypeName, State: state}}
		return err
	})
	return resp, nil
}

// storedBag returns the properties in a state. Values that are not nested attributes have the form of the configuration, without the
// defaults within.
func (t *resourceType) storedBag(state tftypes.Value) lumi.Bag {
	stored := t.decodeBag(state).Struct()
	t.addDefaults(structpb.NewStructValue(stored), false)
	return lumi.BagOf(stored)
}

// addDefaults adds the defaults of properties that are absent from objects in v, if whole is set, or from objects that are not nested
// attributes.
func (s *shape) addDefaults(v *structpb.Value, whole bool) {
	if v = bridge.Reveal(v); bridge.IsNull(v) {
		return
	}
	whole = whole || s.kind == jsonText || s.typ.Is(tftypes.DynamicPseudoType)
	fields := v.GetStructValue().GetFields()
	switch s.kind {
	case jsonText:
		s.elem.addDefaults(v, whole)
	case list:
		for _, element := range v.GetListValue().GetValues() {
			s.elem.addDefaults(element, whole)
		}
	case mapping:
		for _, element := range fields {
			s.elem.addDefaults(element, whole)
		}
	case object:
		for _, a := range s.attributes {
			if d, err := structpb.NewValue(a.property.Default); whole && fields != nil && bridge.IsNull(fields[a.wire]) && err == nil && !bridge.IsNull(d) {
				fields[a.wire] = d
			}
			a.addDefaults(fields[a.wire], whole)
		}
	}
}
