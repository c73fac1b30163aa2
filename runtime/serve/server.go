package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/content"
	"github.com/lumi-idl/lumi/runtime/internal/bagrpc"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// server handles calls. Its methods return errors of the providers or refusals.
type server struct {
	bagrpc.UnimplementedResourceProviderServer
	plugin Plugin
	events *events
	stop   context.CancelCauseFunc

	turn
	// configuring is held while the provider is being configured.
	configuring sync.Mutex
	// configured is set once calls on resources are allowed.
	configured atomic.Bool
	// limit is the maximum size of a response.
	limit int
}

func newServer(p Plugin, e *events, stop context.CancelCauseFunc) *server {
	s := &server{plugin: p, events: e, stop: stop, limit: lumirpc.MaxMessageSize}
	s.configured.Store(p.Configure == nil)
	return s
}

// Handshake implements [bagrpc.ResourceProviderServer].
func (s *server) Handshake(_ context.Context, req *lumirpc.HandshakeRequest) (*lumirpc.HandshakeResponse, error) {
	if err := s.greet(req.GetProtocolVersion()); err != nil {
		return nil, err
	}
	resp := &lumirpc.HandshakeResponse{
		ProtocolVersion: lumirpc.ProtocolVersion,
		Package:         s.plugin.Package,
		Version:         s.plugin.Version,
		Configurable:    s.plugin.Configure != nil,
	}
	resp.Types, resp.Functions = sorted(s.plugin.Resources), sorted(s.plugin.Functions)
	return resp, nil
}

// sorted returns the tokens of what a plugin serves, sorted.
func sorted[V any](served map[tokens.Type]V) []string {
	var all []string
	for _, token := range slices.Sorted(maps.Keys(served)) {
		all = append(all, string(token))
	}
	return all
}

// Events implements [bagrpc.ResourceProviderServer]. Unlike other calls, it bypasses calls.intercept, since it does not call
// the author's code.
func (s *server) Events(_ *lumirpc.EventsRequest, stream grpc.ServerStreamingServer[lumirpc.Event]) error {
	return s.serveEvents(s.events, stream)
}

func (s *server) Configure(ctx context.Context, req *bagrpc.ConfigureRequest) (*lumirpc.ConfigureResponse, error) {
	in, err := receive(ctx, req)
	if err != nil {
		return nil, err
	}
	if s.plugin.Configure == nil {
		if len(in.properties.Object().Fields()) > 0 {
			return nil, &lumi.InvalidError{Faults: []lumi.Fault{{Message: "the provider takes no configuration: its serve.Plugin has no Configure"}}}
		}
		return &lumirpc.ConfigureResponse{}, nil
	}
	s.configuring.Lock()
	defer s.configuring.Unlock()
	if s.configured.Load() {
		return nil, refuse(codes.FailedPrecondition, "the provider is already configured")
	}
	if err := s.plugin.Configure(ctx, in.properties); err != nil {
		return nil, err
	}
	s.configured.Store(true)
	return &lumirpc.ConfigureResponse{}, nil
}

func (s *server) Check(ctx context.Context, req *bagrpc.CheckRequest) (*bagrpc.CheckResponse, error) {
	in, err := s.named(ctx, req)
	if err != nil {
		return nil, err
	}
	properties, err := content.Stamp(ctx, in.properties)
	if err != nil {
		return nil, withOthers(ctx, err, in.provider, in.properties)
	}
	resp, err := in.provider.Check(ctx, &lumi.CheckRequest{
		URN: in.urn, Properties: properties, Old: in.old, Seed: req.GetSeed(), References: in.references,
	})
	if err != nil {
		return nil, err
	}
	return &bagrpc.CheckResponse{Properties: bagrpc.Encode(resp.Properties)}, nil
}

// Validator is an optional interface of providers and functions for validating properties against the IDL. Generated ones
// implement it.
type Validator interface {
	// Validate returns a *[lumi.InvalidError] with all faults, including those in found, or nil if there are none.
	Validate(ctx context.Context, properties lumi.Bag, found ...lumi.Fault) error
}

// withOthers returns an error with the faults of assets and archives in err and all other faults of the properties. It does
// not call the provider's Check, which may require that files exist.
func withOthers(ctx context.Context, err error, p any, properties lumi.Bag) error {
	var missing *lumi.InvalidError
	if v, ok := p.(Validator); ok && errors.As(err, &missing) {
		return cmp.Or(v.Validate(ctx, properties, missing.Faults...), err)
	}
	return err
}

func (s *server) Name(ctx context.Context, req *bagrpc.NameRequest) (*lumirpc.NameResponse, error) {
	in, err := s.named(ctx, req)
	if err != nil {
		return nil, err
	}
	resp, err := in.provider.Name(ctx, &lumi.NameRequest{
		URN: in.urn, Properties: in.properties, References: in.references,
	})
	if err != nil {
		return nil, err
	}
	if err := urn.CheckName(resp.Name); err != nil {
		return nil, output("the name " + err.Error())
	}
	return &lumirpc.NameResponse{Name: resp.Name}, nil
}

func (s *server) Create(ctx context.Context, req *bagrpc.CreateRequest) (*bagrpc.CreateResponse, error) {
	in, err := s.named(ctx, req)
	if err != nil {
		return nil, err
	}
	resp, err := in.provider.Create(ctx, &lumi.CreateRequest{
		URN: in.urn, Properties: in.properties, Token: req.GetToken(), References: in.references,
	})
	out := &bagrpc.CreateResponse{}
	if partial, ok := lumi.Meaning(err).(*lumi.PartialError); ok { //nolint:errorlint // A meaning is not wrapped.
		resp = &lumi.CreateResponse{ID: partial.ID, Properties: partial.Properties}
		err = inside(err, partial)
		out.Failure = statusOf(ctx, err).Proto()
	} else if err != nil {
		return nil, err
	}
	if problem := checkID(resp.ID); problem != "" { // The resource exists, but its id is unknown.
		return nil, errors.Join(lumi.Uncertain(output(problem)), err)
	}
	out.Id, out.Properties = string(resp.ID), bagrpc.Encode(resp.Properties)
	if err := s.fit(out, out.Failure); err != nil { // Omit the properties, but send the id.
		out.Properties, out.Failure = nil, statusOf(ctx, err).Proto()
	}
	return out, nil
}

// inside returns the cause of partial. If err wraps partial with a text, the result wraps the cause with the same text.
func inside(err error, partial *lumi.PartialError) error {
	before, after, ok := strings.Cut(wire.TextOf(err), wire.TextOf(partial))
	if partial.Err == nil || !ok || before == "" && after == "" {
		return partial.Err
	}
	return fmt.Errorf("%s%w%s", before, partial.Err, after)
}

// fit returns an error if a response is too large to send. The error includes failure, the failure of the call, if it is not
// nil. It is a *[lumi.UncertainError], since a created or updated resource then exists with unknown properties.
func (s *server) fit(resp proto.Message, failure *spb.Status) error {
	size := proto.Size(resp)
	if size <= s.limit {
		return nil
	}
	err := output(fmt.Sprintf("the response has %d bytes, more than the limit of %d", size, s.limit))
	if failure != nil {
		err = fmt.Errorf("%s\n%w", failure.GetMessage(), err)
	}
	return lumi.Uncertain(err)
}

func (s *server) Find(ctx context.Context, req *bagrpc.FindRequest) (*lumirpc.FindResponse, error) {
	in, err := s.named(ctx, req)
	if err != nil {
		return nil, err
	}
	resp, err := in.provider.Find(ctx, &lumi.FindRequest{
		URN: in.urn, Properties: in.properties, Token: req.GetToken(), References: in.references,
	})
	// Do not check for errors.ErrUnsupported, which an author's Find may return for other reasons, such as an unsupported
	// file system operation.
	if d, failed := in.provider.Describe(ctx); err != nil && failed == nil && !d.CanFind {
		return nil, refuse(codes.Unimplemented, "%s", masked(ctx, wire.TextOf(err)))
	}
	if err != nil {
		return nil, err
	}
	if problem := checkID(resp.ID); problem != "" {
		return nil, output(problem)
	}
	return &lumirpc.FindResponse{Id: string(resp.ID)}, nil
}

func (s *server) Get(ctx context.Context, req *bagrpc.GetRequest) (*bagrpc.GetResponse, error) {
	in, err := receive(ctx, req)
	if err == nil {
		in.provider, err = s.resource(req.GetType())
	}
	if err == nil && (req.GetUrn() != "" || req.GetPurpose() == lumirpc.GetRequest_REFRESH) {
		err = s.name(in, req)
	}
	if err != nil {
		return nil, err
	}
	get := &lumi.GetRequest{ID: lumi.ID(req.GetId()), URN: in.urn, References: in.references}
	if req.GetId() == "" {
		return nil, errNoID
	}
	switch purpose := req.GetPurpose(); {
	case purpose == lumirpc.GetRequest_IMPORT && in.old.IsZero():
		get.Purpose = lumi.Import
	case purpose == lumirpc.GetRequest_REFRESH && !in.old.IsZero():
		get.Purpose, get.Old = lumi.Refresh, in.old
	case purpose == lumirpc.GetRequest_IMPORT:
		return nil, errImportOld
	case purpose == lumirpc.GetRequest_REFRESH:
		return nil, errRefreshOld
	default:
		return nil, refuse(codes.InvalidArgument, "the request's purpose must be REFRESH or IMPORT, found %v", purpose)
	}
	resp, err := in.provider.Get(ctx, get)
	if err != nil {
		return nil, err
	}
	return &bagrpc.GetResponse{Properties: bagrpc.Encode(resp.Properties)}, nil
}

func (s *server) InspectChange(
	ctx context.Context, req *bagrpc.InspectChangeRequest,
) (*bagrpc.InspectChangeResponse, error) {
	in, err := s.existing(ctx, req)
	if err != nil {
		return nil, err
	}
	resp, err := in.provider.InspectChange(ctx, &lumi.InspectChangeRequest{
		URN: in.urn, ID: lumi.ID(req.GetId()), Old: in.old, New: in.new, References: in.references,
	})
	if err != nil {
		return nil, err
	}
	out := &bagrpc.InspectChangeResponse{DeleteBeforeReplace: resp.DeleteBeforeReplace}
	if resp.Properties.Object() != in.new.Object() {
		out.Properties = bagrpc.Encode(resp.Properties)
	}
	for _, c := range resp.Changes {
		out.Changes = append(out.Changes, &lumirpc.Change{
			Kind: changeKinds[c.Kind], Path: string(c.Path), Old: c.Old, New: c.New, Unknown: c.Unknown, Secret: c.Secret,
		})
	}
	for _, p := range resp.Replaces {
		out.Replaces = append(out.Replaces, string(p))
	}
	return out, nil
}

func (s *server) Update(ctx context.Context, req *bagrpc.UpdateRequest) (*bagrpc.UpdateResponse, error) {
	in, err := s.existing(ctx, req)
	if err != nil {
		return nil, err
	}
	resp, err := in.provider.Update(ctx, &lumi.UpdateRequest{
		URN: in.urn, ID: lumi.ID(req.GetId()), Old: in.old, New: in.new, References: in.references, Token: req.GetToken(),
	})
	out := &bagrpc.UpdateResponse{}
	if partial, ok := lumi.Meaning(err).(*lumi.PartialError); ok { //nolint:errorlint // A meaning is not wrapped.
		out.Properties, out.Failure = bagrpc.Encode(partial.Properties), statusOf(ctx, inside(err, partial)).Proto()
	} else if err != nil {
		return nil, err
	} else {
		out.Properties = bagrpc.Encode(resp.Properties)
	}
	if err := s.fit(out, out.Failure); err != nil { // Omitted properties would mean that the resource has none.
		return nil, err
	}
	return out, nil
}

func (s *server) Delete(ctx context.Context, req *bagrpc.DeleteRequest) (*lumirpc.DeleteResponse, error) {
	in, err := s.existing(ctx, req)
	if err != nil {
		return nil, err
	}
	if _, err := in.provider.Delete(ctx, &lumi.DeleteRequest{
		URN: in.urn, ID: lumi.ID(req.GetId()), Properties: in.properties, References: in.references, Token: req.GetToken(),
	}); err != nil {
		return nil, err
	}
	return &lumirpc.DeleteResponse{}, nil
}

// Call implements [bagrpc.ResourceProviderServer].
func (s *server) Call(ctx context.Context, req *bagrpc.CallRequest) (*bagrpc.CallResponse, error) {
	if !s.configured.Load() {
		return nil, errNotConfigured
	}
	f, err := s.function(req.GetType())
	if err != nil {
		return nil, err
	}
	in, err := receive(ctx, req)
	if err != nil {
		return nil, err
	}
	arguments, err := content.Stamp(ctx, in.properties)
	if err != nil {
		return nil, withOthers(ctx, err, f, in.properties)
	}
	resp, err := f.Call(ctx, &lumi.CallRequest{Arguments: arguments, References: in.references})
	if err != nil {
		return nil, err
	}
	return &bagrpc.CallResponse{Properties: bagrpc.Encode(resp.Results)}, nil
}

func (s *server) Cancel(context.Context, *lumirpc.CancelRequest) (*lumirpc.CancelResponse, error) {
	s.stop(errors.New("the parent canceled everything"))
	return &lumirpc.CancelResponse{}, nil
}

// named is a request with a type and a URN.
type named interface {
	GetType() string
	GetUrn() string
}

// existing is like named, for a request on an existing resource.
func (s *server) existing(ctx context.Context, req interface {
	named
	GetId() string
}) (*received, error) {
	in, err := s.named(ctx, req)
	if err == nil && req.GetId() == "" {
		err = errNoID
	}
	return in, err
}

var (
	errNoID  = refuse(codes.InvalidArgument, "the request has no id")
	errNoURN = refuse(codes.InvalidArgument, "the request has no URN")

	errNotConfigured = refuse(codes.FailedPrecondition, "the provider is not configured yet")

	errImportOld  = refuse(codes.InvalidArgument, "an IMPORT request must not have old properties")
	errRefreshOld = refuse(codes.InvalidArgument, "a REFRESH request must have old properties")
)

// received is a decoded request.
type received struct {
	provider             lumi.ResourceProvider
	urn                  urn.URN
	properties, old, new lumi.Bag
	references           lumi.References
}

// receive decodes the bags of a request and registers their secrets.
func receive(ctx context.Context, req any) (*received, error) {
	in := &received{}
	var errs [4]error
	if r, ok := req.(interface{ GetProperties() [][]byte }); ok {
		in.properties, errs[0] = bagrpc.Decode(r.GetProperties())
	}
	if r, ok := req.(interface{ GetOld() [][]byte }); ok {
		in.old, errs[1] = bagrpc.Decode(r.GetOld())
	}
	if r, ok := req.(interface{ GetNew() [][]byte }); ok {
		in.new, errs[2] = bagrpc.Decode(r.GetNew())
	}
	if r, ok := req.(interface {
		GetReferences() map[string]*bagrpc.Reference
	}); ok {
		in.references, errs[3] = bagrpc.DecodeReferences(r.GetReferences())
	}
	if err := cmp.Or(errs[:]...); err != nil {
		return nil, refuse(codes.Internal, "the request has %v", err)
	}
	for _, bag := range []lumi.Bag{in.properties, in.old, in.new} {
		lumi.NoteSecrets(ctx, bag)
	}
	for _, r := range in.references {
		lumi.NoteSecrets(ctx, r.Properties)
	}
	return in, nil
}

// named decodes a request on a resource. It returns a refusal if the type or URN is invalid.
func (s *server) named(ctx context.Context, req named) (*received, error) {
	in, err := receive(ctx, req)
	if err != nil {
		return nil, err
	}
	if in.provider, err = s.resource(req.GetType()); err != nil {
		return nil, err
	}
	return in, s.name(in, req)
}

// name sets the URN of a request. It returns a refusal if the URN is invalid.
func (s *server) name(in *received, req named) (err error) {
	if req.GetUrn() == "" {
		return errNoURN
	}
	if in.urn, err = urn.Parse(req.GetUrn()); err != nil {
		return refuse(codes.InvalidArgument, "the request's URN is malformed: %v", err)
	}
	if string(in.urn.Type()) != req.GetType() {
		return refuse(codes.InvalidArgument, "the request is for type %s, but its URN is of type %s",
			req.GetType(), in.urn.Type())
	}
	return nil
}

// resource returns the provider of a type. It returns a refusal if the plugin is not configured or does not serve the type.
func (s *server) resource(token string) (lumi.ResourceProvider, error) {
	if !s.configured.Load() {
		return nil, errNotConfigured
	}
	return s.served(token)
}

// served is like resource, but also works before the plugin is configured.
func (s *server) served(token string) (lumi.ResourceProvider, error) {
	p, ok := s.plugin.Resources[tokens.Type(token)]
	if !ok {
		p, ok = s.renamed(tokens.Type(token))
	}
	if !ok {
		return nil, refuse(codes.Unimplemented, "the plugin for package %q does not serve type %q",
			s.plugin.Package, token)
	}
	return p, nil
}

// function returns a function, or a refusal if the plugin does not serve it.
func (s *server) function(token string) (lumi.Function, error) {
	f, ok := s.plugin.Functions[tokens.Type(token)]
	if !ok {
		return nil, refuse(codes.Unimplemented, "the plugin for package %q does not serve function %q", s.plugin.Package, token)
	}
	return f, nil
}

// renamed returns the provider with the given former token, which state may still contain, and false if there is none.
func (s *server) renamed(token tokens.Type) (lumi.ResourceProvider, bool) {
	for _, now := range slices.Sorted(maps.Keys(s.plugin.Resources)) {
		p, ok := s.plugin.Resources[now].(interface{ FormerTokens() []tokens.Type })
		if ok && slices.Contains(p.FormerTokens(), token) {
			return s.plugin.Resources[now], true
		}
	}
	return nil, false
}

var changeKinds = map[lumi.ChangeKind]lumirpc.Change_Kind{
	lumi.Added: lumirpc.Change_ADDED, lumi.Removed: lumirpc.Change_REMOVED, lumi.Modified: lumirpc.Change_MODIFIED,
}

// checkID returns the reason an id is invalid, or "" if it is valid. Providers that do not use the runtime may return an
// invalid id.
func checkID(id lumi.ID) string {
	switch {
	case id == "":
		return "the id is empty"
	case !utf8.ValidString(string(id)):
		return "the id is not valid UTF-8: " + strconv.Quote(string(id))
	}
	return ""
}

func output(message string) error {
	return &lumi.OutputError{Faults: []lumi.Fault{{Message: message}}}
}
