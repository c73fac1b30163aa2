package serve

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"path"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/internal/bagrpc"
	"github.com/lumi-idl/lumi/runtime/internal/client"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Local calls the providers of a plugin in this process, for adapters to other engines. Calls are handled as by [Main]: panics
// become errors, secrets are masked in errors and events, assets are checked and hashed, and no call shares data with its
// caller. Their errors are those of package plugin, so they can be told apart with [errors.As] and [errors.Is]. Methods are safe
// for concurrent use, but calls for the same resource must be sequential.
//
// A call returns once the author's code has returned, even if its context is done, so that no result is lost. Its events are
// passed to the function set by [lumi.WithEvents] in its context, if any, and to [slog.Default] otherwise.
type Local struct {
	server *server
	calls  *calls
	stop   context.CancelCauseFunc
	client bagrpc.ResourceProviderClient
}

// NewLocal returns a Local for the plugin. The error lists all mistakes in its definition.
func NewLocal(p Plugin) (*Local, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancelCause(context.Background())
	calls := newCalls(ctx, slog.Default().With(p.label()), newSecrets())
	calls.of = p.label().Key
	l := &Local{server: newServer(p, calls.events, stop), calls: calls, stop: stop}
	l.client = bagrpc.NewClient(direct{l})
	return l, nil
}

// Configure configures the provider. It must succeed before calls of resources and functions if the plugin has a Configure, and
// may be repeated until it does. If the configuration is invalid, it returns a *[lumi.InvalidError].
func (l *Local) Configure(ctx context.Context, properties lumi.Bag) error {
	_, err := l.client.Configure(ctx, &bagrpc.ConfigureRequest{Properties: bagrpc.Encode(properties)})
	return err
}

// Resource returns the provider of a resource type, or an error if the plugin does not serve the type. The provider returns the
// errors documented by [lumi.ResourceProvider]. Any other error of a Create, Update, or Delete after which the resource may
// have changed, such as a panic, is a *[lumi.UncertainError].
func (l *Local) Resource(token tokens.Type) (lumi.ResourceProvider, error) {
	if _, err := l.server.served(string(token)); err != nil {
		return nil, err
	}
	return &client.Resource{Client: l.client, Type: token, Descriptions: l.Describe}, nil
}

// Function returns a function, or an error if the plugin does not serve it.
func (l *Local) Function(token tokens.Type) (lumi.Function, error) {
	if _, err := l.server.function(string(token)); err != nil {
		return nil, err
	}
	return &client.Resource{Client: l.client, Type: token, Descriptions: l.Describe}, nil
}

// Describe returns the descriptions of the given resource types and functions, or of all if there are no arguments. It may be
// called before Configure.
func (l *Local) Describe(ctx context.Context, types ...tokens.Type) ([]*lumi.Description, error) {
	if len(types) == 0 {
		for _, token := range l.server.tokens() {
			types = append(types, tokens.Type(token))
		}
	}
	var all []*lumi.Description
	for _, token := range types {
		d, err := offline(ctx, l, "Describe", token, lumi.Bag{}, described.Describe)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

// Validate checks the properties of a resource, or the arguments of a function, against the IDL, as Check and Call do before they
// call the author's code. It calls none of that code, does not look for the files of assets and archives, and may be called
// before Configure. Values may be unknown. If they are invalid, it returns a *[lumi.InvalidError], and for a provider that is not
// a [Validator] an error that wraps [errors.ErrUnsupported].
func (l *Local) Validate(ctx context.Context, token tokens.Type, properties lumi.Bag) error {
	_, err := offline(ctx, l, "Validate", token, properties, func(served described, ctx context.Context) (any, error) {
		if v, ok := served.(Validator); ok {
			return nil, v.Validate(ctx, properties)
		}
		return nil, refuse(codes.Unimplemented, "the provider of %s cannot validate properties", token)
	})
	return err
}

// Upgrade converts all stored properties of a resource, which may have been written under an older IDL, to the current one, as
// [lumi.Provider.Upgrade] does. It may be called before Configure. Of the author's operations, it calls only Upgrade, and only if
// the properties do not fit. For a provider without such a method, it returns an error that wraps [errors.ErrUnsupported].
func (l *Local) Upgrade(ctx context.Context, token tokens.Type, stored lumi.Bag) (lumi.Bag, error) {
	return offline(ctx, l, "Upgrade", token, stored, func(served described, ctx context.Context) (lumi.Bag, error) {
		if u, ok := served.(interface {
			Upgrade(ctx context.Context, stored lumi.Bag) (lumi.Bag, error)
		}); ok {
			return u.Upgrade(ctx, stored)
		}
		return lumi.Bag{}, refuse(codes.Unimplemented, "the provider of %s cannot upgrade properties", token)
	})
}

// Masked returns a writer that masks the secrets of the configuration and of calls in flight and then writes to w. Pass slog's
// output through it.
func (l *Local) Masked(w io.Writer) io.Writer { return maskedLog{l.calls.secrets, w} }

// Close makes further calls fail, cancels those in flight, and waits until they have returned. It returns an error if one has
// not returned after 10 seconds.
func (l *Local) Close() error {
	l.stop(errors.New("the provider was closed"))
	select {
	case <-l.calls.idle:
		return nil
	case <-time.After(grace):
		return errHanging
	}
}

// offline makes a call that the protocol lacks, on what the plugin serves under a token. bag holds its properties.
func offline[R any](
	ctx context.Context, l *Local, call string, token tokens.Type, bag lumi.Bag, f func(described, context.Context) (R, error),
) (result R, err error) {
	req := &bagrpc.CheckRequest{Type: string(token)}
	resp, err := l.calls.intercept(ctx, req, &grpc.UnaryServerInfo{FullMethod: call}, func(ctx context.Context, _ any) (any, error) {
		lumi.NoteSecrets(ctx, bag)
		served, err := l.server.described(string(token))
		if err != nil {
			return nil, err
		}
		return f(served, ctx)
	})
	result, _ = resp.(R)
	return result, client.ErrorOf(status.Convert(err))
}

// direct is a [grpc.ClientConnInterface] that calls the server's methods with copies of the messages.
type direct struct{ *Local }

// Invoke implements [grpc.ClientConnInterface].
func (d direct) Invoke(ctx context.Context, method string, req, reply any, _ ...grpc.CallOption) error {
	if err := ctx.Err(); err != nil { // Even a call with side effects has changed nothing.
		return client.ErrorOf(status.FromContextError(err))
	}
	methods := bagrpc.ResourceProvider_ServiceDesc.Methods
	i := slices.IndexFunc(methods, func(m grpc.MethodDesc) bool { return m.MethodName == path.Base(method) })
	resp, err := methods[i].Handler(d.server, ctx, func(sent any) error {
		proto.Merge(sent.(proto.Message), req.(proto.Message))
		return nil
	}, d.calls.intercept)
	if err != nil {
		return client.Outcome(method, client.ErrorOf(status.Convert(err)))
	}
	proto.Merge(reply.(proto.Message), resp.(proto.Message))
	return nil
}

// NewStream implements [grpc.ClientConnInterface].
func (direct) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, errors.ErrUnsupported
}
