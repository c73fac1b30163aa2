package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"strings"
	"unicode/utf8"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/internal/provisioning"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/provisioner"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// MainProvisioner is like [Main], but serves a provisioner. Call it last in main; it does not return. The executable must be
// named lumi-provisioner-NAME. version is the version of the plugin, for display; it may be empty. Messages of lumi.Log and
// lumi.Progress are shown during a deployment.
func MainProvisioner(name, version string, p provisioner.Provisioner) {
	os.Exit(run(&provisionerService{name: name, version: version, provisioner: p}))
}

// provisionerService is a [service] for a provisioner.
type provisionerService struct {
	name, version string
	provisioner   provisioner.Provisioner
}

func (s *provisionerService) executable() string { return lumirpc.ProvisionerPrefix + s.name }

func (s *provisionerService) label() slog.Attr { return slog.String("provisioner", s.name) }

func (s *provisionerService) ownVersion() string { return s.version }

func (s *provisionerService) about() string {
	return fmt.Sprintf("provisioner %q. It changes resources with another tool on\nbehalf of an engine such as lumi.", s.name)
}

func (s *provisionerService) validate() error {
	if !lumirpc.IsProvisionerName(s.name) {
		return fmt.Errorf("invalid name %q: must start with a lowercase letter, followed by lowercase letters, digits, - and _", s.name)
	}
	if v := reflect.ValueOf(s.provisioner); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return errors.New("the provisioner is nil")
	}
	return nil
}

func (s *provisionerService) server(e *events, _ context.CancelCauseFunc) (func(grpc.ServiceRegistrar), grpc.UnaryServerInterceptor) {
	server := &provisionerServer{service: s, events: e}
	return func(to grpc.ServiceRegistrar) { lumirpc.RegisterProvisionerServer(to, server) }, server.inTurn
}

// provisionerServer handles calls. Its methods return errors of the provisioner or refusals.
type provisionerServer struct {
	lumirpc.UnimplementedProvisionerServer
	turn
	service *provisionerService
	events  *events
}

// Handshake implements [lumirpc.ProvisionerServer].
func (s *provisionerServer) Handshake(
	_ context.Context, req *lumirpc.ProvisionerHandshakeRequest,
) (*lumirpc.ProvisionerHandshakeResponse, error) {
	if err := s.greet(req.GetProtocolVersion()); err != nil {
		return nil, err
	}
	return &lumirpc.ProvisionerHandshakeResponse{
		ProtocolVersion: lumirpc.ProtocolVersion, Name: s.service.name, Version: s.service.version,
	}, nil
}

func (s *provisionerServer) Plan(ctx context.Context, req *lumirpc.PlanRequest) (*lumirpc.PlanResponse, error) {
	p, err := s.service.provisioner.Plan(ctx, provisioning.Decode(req.GetChange()))
	if err != nil || p == nil {
		return &lumirpc.PlanResponse{}, err
	}
	return &lumirpc.PlanResponse{Text: text(ctx, p.Text), Tasks: p.Tasks}, nil
}

func (s *provisionerServer) Provision(ctx context.Context, req *lumirpc.ProvisionRequest) (*lumirpc.ProvisionResponse, error) {
	token, err := s.service.provisioner.Provision(ctx, provisioning.Decode(req.GetChange()))
	if err != nil {
		return nil, err
	}
	if len(token) > lumirpc.MaxToken {
		return nil, refuse(codes.Internal, "the provisioner returned a token of %d bytes: at most %d are allowed", len(token), lumirpc.MaxToken)
	}
	if !utf8.ValidString(token) {
		return nil, refuse(codes.Internal, "the provisioner returned a token that is not UTF-8: encode it, such as in base64")
	}
	return &lumirpc.ProvisionResponse{Token: token}, nil
}

func (s *provisionerServer) Status(ctx context.Context, req *lumirpc.StatusRequest) (*lumirpc.StatusResponse, error) {
	status, err := s.service.provisioner.Status(ctx, req.GetToken())
	if err != nil {
		return nil, err
	}
	if status == nil {
		return nil, refuse(codes.Internal, "the provisioner returned neither a status nor an error")
	}
	resp, err := provisioning.EncodeStatus(status)
	if err != nil {
		return nil, refuse(codes.Internal, "the provisioner returned a status that cannot be sent: %v", err)
	}
	for _, metadata := range resp.GetMetadata() {
		lumi.NoteSecrets(ctx, lumi.BagOf(metadata))
	}
	resp.Message = text(ctx, resp.GetMessage())
	return resp, nil
}

// text returns text with secrets masked and invalid UTF-8 replaced. Unlike masked, it does not truncate the text, since a
// tool's plan may be longer than [maxMessage].
func text(ctx context.Context, text string) string {
	return wire.Mask(strings.ToValidUTF8(text, string(utf8.RuneError)), wire.SecretsOf(ctx))
}

func (s *provisionerServer) Events(_ *lumirpc.EventsRequest, stream grpc.ServerStreamingServer[lumirpc.Event]) error {
	return s.serveEvents(s.events, stream)
}
