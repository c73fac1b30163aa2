package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/content"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// server answers calls. The errors that it returns are those of providers, or refusals.
type server struct {
	lumirpc.UnimplementedResourceProviderServer
	plugin Plugin
	stop   context.CancelCauseFunc

	// greeted says that there was a handshake.
	greeted atomic.Bool
	// configuring is held while the provider is being configured.
	configuring sync.Mutex
	// configured says that calls about resources are welcome.
	configured atomic.Bool
	// limit is how large an answer may be.
	limit int
}

func newServer(p Plugin, stop context.CancelCauseFunc) *server {
	s := &server{plugin: p, stop: stop, limit: lumirpc.MaxMessageSize}
	s.configured.Store(p.Configure == nil)
	return s
}

// Handshake implements [lumirpc.ResourceProviderServer], as do all methods that follow.
func (s *server) Handshake(_ context.Context, req *lumirpc.HandshakeRequest) (*lumirpc.HandshakeResponse, error) {
	if v := req.GetProtocolVersion(); v != lumirpc.ProtocolVersion {
		return nil, refuse(codes.FailedPrecondition,
			"the engine speaks version %d of the protocol, and the plugin version %d: update the older of the two",
			v, lumirpc.ProtocolVersion)
	}
	resp := &lumirpc.HandshakeResponse{
		ProtocolVersion: lumirpc.ProtocolVersion,
		Package:         s.plugin.Package,
		Version:         s.plugin.Version,
		Configurable:    s.plugin.Configure != nil,
	}
	for _, token := range slices.Sorted(maps.Keys(s.plugin.Resources)) {
		resp.Types = append(resp.Types, string(token))
	}
	s.greeted.Store(true)
	return resp, nil
}

// inTurn refuses calls before the handshake.
func (s *server) inTurn(
	ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler,
) (any, error) {
	if !s.greeted.Load() && info.FullMethod != lumirpc.ResourceProvider_Handshake_FullMethodName {
		return nil, refuse(codes.FailedPrecondition, "%s was called before Handshake, which must come first",
			path.Base(info.FullMethod))
	}
	return handler(ctx, req)
}

func (s *server) Configure(ctx context.Context, req *lumirpc.ConfigureRequest) (*lumirpc.ConfigureResponse, error) {
	if s.plugin.Configure == nil {
		if len(req.GetProperties().GetFields()) > 0 {
			return nil, &lumi.InvalidError{Faults: []lumi.Fault{{Message: "the provider takes no configuration: its serve.Plugin has no Configure"}}}
		}
		return &lumirpc.ConfigureResponse{}, nil
	}
	s.configuring.Lock()
	defer s.configuring.Unlock()
	if s.configured.Load() {
		return nil, refuse(codes.FailedPrecondition, "the provider is configured already")
	}
	if err := s.plugin.Configure(ctx, req.GetProperties()); err != nil {
		return nil, err
	}
	s.configured.Store(true)
	return &lumirpc.ConfigureResponse{}, nil
}

func (s *server) Check(ctx context.Context, req *lumirpc.CheckRequest) (*lumirpc.CheckResponse, error) {
	p, u, err := s.named(req)
	if err != nil {
		return nil, err
	}
	properties, err := content.Stamp(ctx, req.GetProperties())
	if err != nil {
		return nil, withOthers(ctx, err, p, req.GetProperties())
	}
	resp, err := p.Check(ctx, &lumi.CheckRequest{
		URN: u, Properties: properties, References: references(req.GetReferences()),
	})
	if err != nil {
		return nil, err
	}
	return &lumirpc.CheckResponse{Properties: resp.Properties}, nil
}

// Validator is a provider that knows what else is wrong with properties. Generated providers implement it.
type Validator interface {
	// Validate returns a *[lumi.InvalidError] with what is wrong, the faults that were found before among it.
	Validate(ctx context.Context, properties *structpb.Struct, found ...lumi.Fault) error
}

// withOthers adds to faults of assets and archives what else is wrong with the properties. The provider's author is not
// asked, whose code may rely on it that files are there.
func withOthers(ctx context.Context, err error, p lumi.ResourceProvider, properties *structpb.Struct) error {
	var missing *lumi.InvalidError
	if v, ok := p.(Validator); ok && errors.As(err, &missing) {
		return cmp.Or(v.Validate(ctx, properties, missing.Faults...), err)
	}
	return err
}

func (s *server) Name(ctx context.Context, req *lumirpc.NameRequest) (*lumirpc.NameResponse, error) {
	p, u, err := s.named(req)
	if err != nil {
		return nil, err
	}
	resp, err := p.Name(ctx, &lumi.NameRequest{
		URN: u, Properties: req.GetProperties(), References: references(req.GetReferences()),
	})
	if err != nil {
		return nil, err
	}
	if err := urn.CheckName(resp.Name); err != nil {
		return nil, output("the name " + err.Error())
	}
	return &lumirpc.NameResponse{Name: resp.Name}, nil
}

func (s *server) Create(ctx context.Context, req *lumirpc.CreateRequest) (*lumirpc.CreateResponse, error) {
	p, u, err := s.named(req)
	if err != nil {
		return nil, err
	}
	resp, err := p.Create(ctx, &lumi.CreateRequest{
		URN: u, Properties: req.GetProperties(), References: references(req.GetReferences()),
	})
	out := &lumirpc.CreateResponse{}
	if partial, ok := lumi.Meaning(err).(*lumi.PartialError); ok { //nolint:errorlint // A meaning is not wrapped.
		resp = &lumi.CreateResponse{ID: partial.ID, Properties: partial.Properties}
		out.Failure, err = statusOf(ctx, partial.Err).Proto(), partial.Err
	} else if err != nil {
		return nil, err
	}
	if problem := checkID(resp.ID); problem != nil {
		return nil, errors.Join(problem, err)
	}
	out.Id, out.Properties = string(resp.ID), resp.Properties
	s.fit(ctx, out, &out.Properties, &out.Failure)
	return out, nil
}

// fit takes the properties out of an answer that is too large to be sent with them. What was created or updated is so
// none the less, and the engine must learn of it.
func (s *server) fit(ctx context.Context, resp proto.Message, properties **structpb.Struct, failure **spb.Status) {
	size := proto.Size(resp)
	if size <= s.limit {
		return
	}
	*properties = nil
	if *failure == nil {
		err := output(fmt.Sprintf("they come to %d bytes, and an answer can have %d", size, s.limit))
		*failure = statusOf(ctx, err).Proto()
	}
}

func (s *server) Get(ctx context.Context, req *lumirpc.GetRequest) (*lumirpc.GetResponse, error) {
	p, err := s.resource(req.GetType())
	if err != nil {
		return nil, err
	}
	if req.GetId() == "" {
		return nil, errNoID
	}
	resp, err := p.Get(ctx, &lumi.GetRequest{ID: lumi.ID(req.GetId())})
	if err != nil {
		return nil, err
	}
	return &lumirpc.GetResponse{Properties: resp.Properties}, nil
}

func (s *server) InspectChange(
	ctx context.Context, req *lumirpc.InspectChangeRequest,
) (*lumirpc.InspectChangeResponse, error) {
	p, u, err := s.existing(req)
	if err != nil {
		return nil, err
	}
	resp, err := p.InspectChange(ctx, &lumi.InspectChangeRequest{
		URN: u, ID: lumi.ID(req.GetId()), Old: req.GetOld(), New: req.GetNew(),
		References: references(req.GetReferences()),
	})
	if err != nil {
		return nil, err
	}
	out := &lumirpc.InspectChangeResponse{}
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

func (s *server) Update(ctx context.Context, req *lumirpc.UpdateRequest) (*lumirpc.UpdateResponse, error) {
	p, u, err := s.existing(req)
	if err != nil {
		return nil, err
	}
	resp, err := p.Update(ctx, &lumi.UpdateRequest{
		URN: u, ID: lumi.ID(req.GetId()), Old: req.GetOld(), New: req.GetNew(),
		References: references(req.GetReferences()),
	})
	out := &lumirpc.UpdateResponse{}
	if partial, ok := lumi.Meaning(err).(*lumi.PartialError); ok { //nolint:errorlint // A meaning is not wrapped.
		out.Properties, out.Failure = partial.Properties, statusOf(ctx, partial.Err).Proto()
	} else if err != nil {
		return nil, err
	} else {
		out.Properties = resp.Properties
	}
	s.fit(ctx, out, &out.Properties, &out.Failure)
	return out, nil
}

func (s *server) Delete(ctx context.Context, req *lumirpc.DeleteRequest) (*lumirpc.DeleteResponse, error) {
	p, u, err := s.existing(req)
	if err != nil {
		return nil, err
	}
	if _, err := p.Delete(ctx, &lumi.DeleteRequest{
		URN: u, ID: lumi.ID(req.GetId()), Properties: req.GetProperties(), References: references(req.GetReferences()),
	}); err != nil {
		return nil, err
	}
	return &lumirpc.DeleteResponse{}, nil
}

func (s *server) Cancel(context.Context, *lumirpc.CancelRequest) (*lumirpc.CancelResponse, error) {
	s.stop(errors.New("the parent cancelled everything"))
	return &lumirpc.CancelResponse{}, nil
}

// named is a request that names its resource.
type named interface {
	GetType() string
	GetUrn() string
}

// existing finds the provider for a request about a resource that exists.
func (s *server) existing(req interface {
	named
	GetId() string
}) (lumi.ResourceProvider, urn.URN, error) {
	p, u, err := s.named(req)
	if err == nil && req.GetId() == "" {
		err = errNoID
	}
	return p, u, err
}

var (
	errNoID  = refuse(codes.InvalidArgument, "the request has no id")
	errNoURN = refuse(codes.InvalidArgument, "the request has no URN")
)

// named finds the provider for a request that names its resource.
func (s *server) named(req named) (lumi.ResourceProvider, urn.URN, error) {
	p, err := s.resource(req.GetType())
	if err != nil {
		return nil, "", err
	}
	if req.GetUrn() == "" {
		return nil, "", errNoURN
	}
	u, err := urn.Parse(req.GetUrn())
	if err != nil {
		return nil, "", refuse(codes.InvalidArgument, "the request's URN is malformed: %v", err)
	}
	if string(u.Type()) != req.GetType() {
		return nil, "", refuse(codes.InvalidArgument, "the request is about type %s, and its URN is of type %s",
			req.GetType(), u.Type())
	}
	return p, u, nil
}

// resource finds the provider for a type.
func (s *server) resource(token string) (lumi.ResourceProvider, error) {
	if !s.configured.Load() {
		return nil, refuse(codes.FailedPrecondition, "the provider is not configured yet")
	}
	p, ok := s.plugin.Resources[tokens.Type(token)]
	if !ok {
		return nil, refuse(codes.Unimplemented, "the plugin for package %q does not serve type %q",
			s.plugin.Package, token)
	}
	return p, nil
}

var changeKinds = map[lumi.ChangeKind]lumirpc.Change_Kind{
	lumi.Added: lumirpc.Change_ADDED, lumi.Removed: lumirpc.Change_REMOVED, lumi.Modified: lumirpc.Change_MODIFIED,
}

func references(sent map[string]*lumirpc.Reference) lumi.References {
	if len(sent) == 0 {
		return nil
	}
	refs := make(lumi.References, len(sent))
	for u, r := range sent {
		refs[urn.URN(u)] = lumi.Reference{ID: lumi.ID(r.GetId()), Properties: r.GetProperties()}
	}
	return refs
}

// checkID is about ids that an author made without the help of the runtime, or of bytes that are not text.
func checkID(id lumi.ID) error {
	switch {
	case id == "":
		return output("the id is empty")
	case !utf8.ValidString(string(id)):
		return output("the id is not valid UTF-8: " + strconv.Quote(string(id)))
	}
	return nil
}

func output(message string) error {
	return &lumi.OutputError{Faults: []lumi.Fault{{Message: message}}}
}
