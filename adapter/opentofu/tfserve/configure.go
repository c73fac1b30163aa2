package tfserve

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// errDeferred is the error of calls that need a provider whose configuration is unknown.
var errDeferred = errors.New("the configuration of the provider depends on changes that are not applied yet: apply them first, for instance with -target")

// ValidateProviderConfig implements [tfprotov6.ProviderServer].
func (s *Server) ValidateProviderConfig(
	_ context.Context, req *tfprotov6.ValidateProviderConfigRequest,
) (*tfprotov6.ValidateProviderConfigResponse, error) {
	return &tfprotov6.ValidateProviderConfigResponse{PreparedConfig: req.Config}, nil
}

// ConfigureProvider implements [tfprotov6.ProviderServer]. If some of the configuration is unknown, the provider is not configured,
// and only resources that do not exist can be planned.
func (s *Server) ConfigureProvider(
	ctx context.Context, req *tfprotov6.ConfigureProviderRequest,
) (*tfprotov6.ConfigureProviderResponse, error) {
	c, err := s.Types.Config()
	if err != nil {
		return &tfprotov6.ConfigureProviderResponse{Diagnostics: diagnose(err, nil)}, nil
	}
	shape, properties := (*shape)(nil), lumi.Bag{}
	var config tftypes.Value
	if c != nil {
		shape = newShapes(s.names).config(c)
		if config, err = req.Config.Unmarshal(shape.typ); err != nil {
			return &tfprotov6.ConfigureProviderResponse{Diagnostics: diagnose(err, nil)}, nil
		}
		if !config.IsFullyKnown() {
			s.deferred.Store(true)
			return &tfprotov6.ConfigureProviderResponse{}, nil
		}
		properties = shape.decodeBag(config)
	}
	return &tfprotov6.ConfigureProviderResponse{Diagnostics: watched(ctx, func(ctx context.Context) []*tfprotov6.Diagnostic {
		return diagnose(s.Configure(ctx, properties), shape, config)
	})}, nil
}

// ready returns an error if the provider is not configured because its configuration is unknown.
func (s *Server) ready() error {
	if s.deferred.Load() {
		return errDeferred
	}
	return nil
}

// StopProvider implements [tfprotov6.ProviderServer]. Package tf6server then cancels the contexts of all calls.
func (s *Server) StopProvider(context.Context, *tfprotov6.StopProviderRequest) (*tfprotov6.StopProviderResponse, error) {
	return &tfprotov6.StopProviderResponse{}, nil
}
