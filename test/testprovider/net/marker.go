package net

import (
	"context"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// Name overrides the generated method and adds a prefix to its result.
func (p *MarkerProvider) Name(ctx context.Context, req *lumi.NameRequest) (*lumi.NameResponse, error) {
	resp, err := p.Provider.Name(ctx, req)
	if err != nil {
		return nil, err
	}
	return &lumi.NameResponse{Name: "the " + resp.Name}, nil
}
