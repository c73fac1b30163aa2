// Package tfserve serves the providers of a plugin to OpenTofu and Terraform.
//
//	func main() {
//		tfserve.Main(storage.Plugin(), lumischema.JSON, tfserve.Address("acme/storage"))
//	}
//
// The binary must be named terraform-provider-storage. docs/engines.md describes how resource types look in OpenTofu.
package tfserve

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/lumi-idl/lumi/adapter/internal/bridge"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Option is an option of [Main] and [New].
type Option func(*Server)

// Address sets the provider's address in a registry, such as "acme/storage" or "registry.example.com/acme/storage". By default, it
// is the package's name after "lumi/".
func Address(address string) Option { return func(s *Server) { s.address = address } }

// LocalName sets the name with which resource types start and by which configurations refer to the provider. By default, it is the
// last part of the address. If it contains an underscore, each resource in a configuration must name its provider, since OpenTofu
// derives that from the part of the type before the first one.
func LocalName(name string) Option { return func(s *Server) { s.local = name } }

// Server is a provider for OpenTofu and Terraform. It implements protocol 6.
type Server struct {
	unsupported
	*bridge.Provider
	address, local string
	schemaJSON     string
	names          *names

	// deferred is set if the configuration of the provider is unknown.
	deferred atomic.Bool

	mu    sync.Mutex
	types map[string]*resourceType
}

// resourceType is a resource type as OpenTofu sees it.
type resourceType struct {
	*bridge.Resource
	*shape
}

// Main serves the plugin until the engine that started the process stops it, then exits. The schema is the constant of the generated
// package lumischema. Call Main last in main; it does not return.
func Main(p serve.Plugin, schemaJSON string, options ...Option) {
	if err := run(p, schemaJSON, options); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", path.Base(os.Args[0]), err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(p serve.Plugin, schemaJSON string, options []Option) error {
	s, err := New(p, schemaJSON, options...)
	if err != nil {
		return err
	}
	slog.SetDefault(slog.New(slog.NewTextHandler(s.Masked(os.Stderr), nil)))
	if err := tf6server.Serve(s.address, func() tfprotov6.ProviderServer { return s }); err != nil {
		return err
	}
	return s.Close()
}

// New returns a server for the types of the schema that the plugin serves. The error lists types that would have the same name in
// OpenTofu.
func New(p serve.Plugin, schemaJSON string, options ...Option) (*Server, error) {
	provider, err := bridge.New(p, schemaJSON)
	if err != nil {
		return nil, err
	}
	s := &Server{
		Provider: provider, schemaJSON: schemaJSON, address: "lumi/" + path.Base(p.Package), types: map[string]*resourceType{},
	}
	for _, option := range options {
		option(s)
	}
	if s.local == "" {
		s.local = path.Base(s.address)
	}
	served := slices.DeleteFunc(provider.Types.Tokens("resource"), func(token string) bool { return p.Resources[tokens.Type(token)] == nil })
	s.names, err = typeNames(s.local, served)
	return s, err
}

// resource returns the resource type with a name in OpenTofu. Types are read when first needed.
func (s *Server) resource(name string) (*resourceType, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.types[name]; t != nil {
		return t, nil
	}
	token, ok := s.names.tokens[name]
	if !ok {
		return nil, fmt.Errorf("the provider has no resource type %s%s", name, suggest.DidYouMean(name, s.names.list()))
	}
	r, err := s.Resource(token)
	if err != nil {
		return nil, err
	}
	b := newShapes(s.names)
	t := &resourceType{r, b.resource(r.Schema)}
	if err := b.err(); err != nil {
		return nil, err
	}
	s.types[name] = t
	return t, nil
}

var capabilities = &tfprotov6.ServerCapabilities{GetProviderSchemaOptional: true, MoveResourceState: true, PlanDestroy: true}

// GetMetadata implements [tfprotov6.ProviderServer].
func (s *Server) GetMetadata(context.Context, *tfprotov6.GetMetadataRequest) (*tfprotov6.GetMetadataResponse, error) {
	resp := &tfprotov6.GetMetadataResponse{ServerCapabilities: capabilities}
	for _, name := range s.names.list() {
		resp.Resources = append(resp.Resources, tfprotov6.ResourceMetadata{TypeName: name})
	}
	return resp, nil
}

// GetProviderSchema implements [tfprotov6.ProviderServer].
func (s *Server) GetProviderSchema(context.Context, *tfprotov6.GetProviderSchemaRequest) (*tfprotov6.GetProviderSchemaResponse, error) {
	resp := &tfprotov6.GetProviderSchemaResponse{ServerCapabilities: capabilities}
	var err error
	resp.Provider, resp.ResourceSchemas, err = s.schemas()
	resp.Diagnostics = diagnose(err, nil)
	return resp, nil
}

// schemas returns the schemas of the provider's configuration and of all resource types.
func (s *Server) schemas() (config *tfprotov6.Schema, resources map[string]*tfprotov6.Schema, err error) {
	pkg, err := schema.Read(strings.NewReader(s.schemaJSON))
	if err != nil {
		return nil, nil, err
	}
	config, resources = &tfprotov6.Schema{Block: &tfprotov6.SchemaBlock{}}, make(map[string]*tfprotov6.Schema, len(s.names.of))
	b := newShapes(s.names)
	for d := range pkg.Decls() {
		switch d := d.(type) {
		case *schema.Config:
			config.Block = blockOf(d, b.config(d), settings)
		case *schema.Resource:
			if name, served := s.names.of[tokens.Type(d.Token)]; served {
				resources[name] = b.resourceSchema(d)
			}
		}
	}
	return config, resources, b.err()
}
