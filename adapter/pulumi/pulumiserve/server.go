package pulumiserve

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync/atomic"

	"github.com/pulumi/pulumi/sdk/v3/proto/go"
	"golang.org/x/mod/semver"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/adapter/internal/bridge"
	"github.com/lumi-idl/lumi/gen/pulumischema"
	"github.com/lumi-idl/lumi/idl/schema"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// server implements Pulumi's provider protocol.
type server struct {
	pulumirpc.UnimplementedResourceProviderServer
	*bridge.Provider

	version, schemaJSON string
	configuration       []*schema.Property
	engine              atomic.Pointer[grpc.ClientConn] // nil until its address is known
	// unconfigured is set in previews in which the configuration is not known yet.
	unconfigured atomic.Bool
	// stopped is done when the engine has canceled everything.
	stopped context.Context
	stop    context.CancelFunc
}

// New returns a server of Pulumi's provider protocol for a plugin, to be called in this process. The schema is the constant of the
// generated package lumischema. The error lists all mistakes in the plugin's definition.
func New(p serve.Plugin, schemaJSON string) (pulumirpc.ResourceProviderServer, error) {
	return newServer(p, schemaJSON)
}

func newServer(p serve.Plugin, schemaJSON string) (*server, error) {
	b, err := bridge.New(p, schemaJSON)
	if err != nil {
		return nil, err
	}
	s := &server{Provider: b, version: strings.TrimPrefix(p.Version, "v"), schemaJSON: schemaJSON}
	if !semver.IsValid("v" + s.version) { // The engine refuses other versions.
		s.version = ""
	}
	config, err := b.Types.Config()
	if config != nil {
		s.configuration = config.Properties
	}
	s.stopped, s.stop = context.WithCancel(context.Background())
	return s, err
}

// call makes a call for the engine. It passes the call's events to the engine, and returns errors as statuses.
func call[R any](ctx context.Context, s *server, urn string, f func(context.Context) (R, error)) (resp R, err error) {
	if s.stopped.Err() != nil {
		return resp, status.Error(codes.Canceled, "the provider was canceled")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.stopped, cancel)()
	if e := s.engine.Load(); e != nil {
		ctx = lumi.WithEvents(ctx, log(ctx, e, urn))
	}
	resp, err = f(ctx)
	return resp, statusOf(err)
}

// Handshake implements [pulumirpc.ResourceProviderServer].
func (s *server) Handshake(_ context.Context, req *pulumirpc.ProviderHandshakeRequest) (*pulumirpc.ProviderHandshakeResponse, error) {
	return &pulumirpc.ProviderHandshakeResponse{AcceptSecrets: true, AcceptResources: true, AcceptOutputs: true}, s.connect(req.GetEngineAddress())
}

// Attach implements [pulumirpc.ResourceProviderServer].
func (s *server) Attach(_ context.Context, req *pulumirpc.PluginAttach) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.connect(req.GetAddress())
}

// GetPluginInfo implements [pulumirpc.ResourceProviderServer].
func (s *server) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: s.version}, nil
}

// Cancel implements [pulumirpc.ResourceProviderServer]. It does not wait for the calls in flight.
func (s *server) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	s.stop()
	return &emptypb.Empty{}, nil
}

// GetSchema implements [pulumirpc.ResourceProviderServer].
func (s *server) GetSchema(context.Context, *pulumirpc.GetSchemaRequest) (*pulumirpc.GetSchemaResponse, error) {
	pkg, err := schema.Read(strings.NewReader(s.schemaJSON))
	if err != nil {
		return nil, statusOf(err)
	}
	text, err := pulumischema.Of(pkg, s.version)
	return &pulumirpc.GetSchemaResponse{Schema: string(text)}, statusOf(err)
}

// CheckConfig implements [pulumirpc.ResourceProviderServer]. It marks secrets, so that the engine encrypts them. Configure checks the
// configuration.
func (s *server) CheckConfig(_ context.Context, req *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	inputs := maps.Clone(req.GetNews().GetFields())
	for _, p := range s.configuration {
		if v := inputs[p.Name]; v != nil && p.Secret {
			inputs[p.Name] = lumi.NewSecret(v)
		}
	}
	return &pulumirpc.CheckResponse{Inputs: &structpb.Struct{Fields: inputs}}, nil
}

// DiffConfig implements [pulumirpc.ResourceProviderServer]. No change of the configuration replaces the provider, and with it all of
// its resources.
func (s *server) DiffConfig(_ context.Context, req *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	changes := lumi.Compare(s.config(req.GetOldInputs()), s.config(req.GetNews())).Changes()
	return diffOf(&lumi.InspectChangeResponse{Changes: changes}), nil
}

// Configure implements [pulumirpc.ResourceProviderServer].
func (s *server) Configure(ctx context.Context, req *pulumirpc.ConfigureRequest) (*pulumirpc.ConfigureResponse, error) {
	return call(ctx, s, req.GetUrn(), func(ctx context.Context) (*pulumirpc.ConfigureResponse, error) {
		config := s.config(req.GetArgs())
		resp := &pulumirpc.ConfigureResponse{AcceptSecrets: true, SupportsPreview: true, AcceptResources: true, AcceptOutputs: true}
		unknown := strings.Contains(config.Struct().String(), wire.Unknown)
		if s.unconfigured.Store(unknown); unknown {
			return resp, nil
		}
		return resp, s.Local.Configure(ctx, config)
	})
}

// config returns a configuration without what the engine adds to it.
func (s *server) config(args *structpb.Struct) lumi.Bag {
	own := maps.Clone(args.GetFields())
	for _, name := range []string{"version", "pluginDownloadURL"} {
		if propertyOf(s.configuration, name) == nil {
			delete(own, name)
		}
	}
	d := s.decoder()
	d.isJSON = true
	return d.bag(s.configuration, &structpb.Struct{Fields: own})
}

// Invoke implements [pulumirpc.ResourceProviderServer].
func (s *server) Invoke(ctx context.Context, req *pulumirpc.InvokeRequest) (*pulumirpc.InvokeResponse, error) {
	return call(ctx, s, "", func(ctx context.Context) (*pulumirpc.InvokeResponse, error) {
		f, err := s.Function(tokens.Type(pulumischema.FromToken(s.Types.Name(), req.GetTok())))
		if err != nil {
			return nil, err
		}
		if s.unconfigured.Load() {
			return nil, errUnconfigured
		}
		args := s.decoder().bag(f.Schema.Properties, req.GetArgs())
		refs, err := s.References(ctx, args)
		if err != nil {
			return nil, err
		}
		resp, err := f.Call(ctx, &lumi.CallRequest{Arguments: args, References: refs})
		var invalid *lumi.InvalidError
		switch {
		case errors.As(err, &invalid):
			return &pulumirpc.InvokeResponse{Failures: failuresOf(invalid, f.Schema.Properties)}, nil
		case err != nil:
			return nil, err
		}
		return &pulumirpc.InvokeResponse{Return: encodeObject(f.Schema.Properties, resp.Results.Struct())}, nil
	})
}
