package tfserve

import (
	"context"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// ValidateProviderConfig implements [tfprotov6.ProviderServer].
func (s *Server) ValidateProviderConfig(
	_ context.Context, req *tfprotov6.ValidateProviderConfigRequest,
) (*tfprotov6.ValidateProviderConfigResponse, error) {
	return &tfprotov6.ValidateProviderConfigResponse{PreparedConfig: req.Config}, nil
}

// ConfigureProvider implements [tfprotov6.ProviderServer].
func (s *Server) ConfigureProvider(
	ctx context.Context, req *tfprotov6.ConfigureProviderRequest,
) (*tfprotov6.ConfigureProviderResponse, error) {
	c, err := s.Types.Config()
	if err != nil || c == nil {
		return &tfprotov6.ConfigureProviderResponse{Diagnostics: failure(err)}, nil
	}
	b := newShapes(s.names)
	shape := b.config(c)
	config, err := req.Config.Unmarshal(shape.typ)
	if err == nil {
		err = s.Configure(ctx, shape.decodeBag(config))
	}
	return &tfprotov6.ConfigureProviderResponse{Diagnostics: failure(err)}, nil
}

// StopProvider implements [tfprotov6.ProviderServer]. The server cancels the contexts of all calls.
func (s *Server) StopProvider(context.Context, *tfprotov6.StopProviderRequest) (*tfprotov6.StopProviderResponse, error) {
	return &tfprotov6.StopProviderResponse{}, nil
}

// failure returns the diagnostics of an error, which may be nil.
func failure(err error) []*tfprotov6.Diagnostic {
	if err == nil {
		return nil
	}
	return []*tfprotov6.Diagnostic{{Severity: tfprotov6.DiagnosticSeverityError, Summary: err.Error()}}
}
