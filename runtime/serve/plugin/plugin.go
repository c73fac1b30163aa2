// Package plugin starts the plugins of providers and calls them: it is the engine's side of package serve.
//
//	p, err := plugin.Start(ctx, plugin.Command{Path: "lumi-resource-aws"})
//	if err != nil {
//		return err
//	}
//	defer p.Close()
//	if err := p.Configure(ctx, configuration); err != nil {
//		return err
//	}
//	vpcs, err := p.Resource("aws:ec2:VPC") // a lumi.ResourceProvider
package plugin

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Command says how to start a plugin.
type Command struct {
	// Path is the binary: a path, or a name that is looked for on $PATH.
	Path string
	// Args are its arguments, without its name.
	Args []string
	// Dir is its working directory, that of this process if empty. An engine gives the program's folder, since that is
	// where relative paths of assets start from.
	Dir string
	// Env is its environment, that of this process if nil.
	Env []string
	// Log receives what the plugin writes to standard error, and to standard output after the port. It is os.Stderr if
	// nil. Writes come one at a time.
	Log io.Writer
	// Events receives what providers log and report as progress, one event at a time. It has received all events of a call
	// when the call returns, unless one takes longer than 5 seconds, and is not called after Close has returned. Calls wait
	// for it, so it should be fast, and it must not call the plugin, which would wait for itself. If it is nil, or the
	// plugin has no events, they go to Log.
	Events func(lumi.Event)
	// Grace is how long Close waits for the plugin to end by itself, 15 seconds if it is 0.
	Grace time.Duration
}

// Plugin is a running plugin. Its methods may be called concurrently.
type Plugin struct {
	// Package is the package that the plugin serves.
	Package string
	// Version is the plugin's own version, for people. It may be empty.
	Version string
	// Types are the types that it serves, sorted.
	Types []tokens.Type
	// Configurable says that Configure must come before any call about a resource.
	Configurable bool

	closed  atomic.Bool
	process *process // nil for one that Connect made
	conn    *grpc.ClientConn
	client  lumirpc.ResourceProviderClient
	events  *events
}

// Start starts a plugin and introduces itself to it. The context is about the start alone. If the plugin does not come
// up, the error tells the end of what it wrote to standard error, and no process is left behind.
func Start(ctx context.Context, c Command) (*Plugin, error) {
	secret := rand.Text()
	started, err := startProcess(c, secret)
	if err != nil {
		return nil, err
	}
	p := &Plugin{process: started, events: newEvents(c.Events)}
	if err := p.connect(ctx, secret); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Path, p.abort(err))
	}
	return p, nil
}

// Connect introduces itself to a provider that is served by other means than a process of its own, such as serve.Serve.
// Dial is called once, and sink receives events as in [Command]. Close closes the connection and nothing else, and Done
// returns nil.
func Connect(
	ctx context.Context, dial func(context.Context) (net.Conn, error), sink func(lumi.Event),
) (*Plugin, error) {
	p := &Plugin{events: newEvents(sink)}
	if err := p.introduce(ctx, func(ctx context.Context, _ string) (net.Conn, error) { return dial(ctx) }); err != nil {
		return nil, p.abort(err)
	}
	return p, nil
}

func (p *Plugin) connect(ctx context.Context, secret string) error {
	port, err := p.process.port(ctx)
	if err != nil {
		return err
	}
	return p.introduce(ctx, dialOnce(port), grpc.WithPerRPCCredentials(credential(secret)))
}

// introduce connects, and learns whom it is talking to.
func (p *Plugin) introduce(
	ctx context.Context, dial func(context.Context, string) (net.Conn, error), options ...grpc.DialOption,
) error {
	var err error
	p.conn, err = grpc.NewClient("passthrough:///plugin", append(options,
		grpc.WithContextDialer(dial),
		grpc.WithTransportCredentials(insecure.NewCredentials()), // it is the loopback interface, or memory
		grpc.WithIdleTimeout(0),                                  // an idle connection must stay, since there is only one
		grpc.WithNoProxy(),
		grpc.WithDisableServiceConfig(),
		grpc.WithUnaryInterceptor(p.intercept),
		grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(lumirpc.MaxMessageSize), grpc.MaxCallSendMsgSize(lumirpc.MaxMessageSize),
		),
	)...)
	if err != nil {
		return err
	}
	p.client = lumirpc.NewResourceProviderClient(p.conn)
	resp, err := p.client.Handshake(ctx, &lumirpc.HandshakeRequest{ProtocolVersion: lumirpc.ProtocolVersion})
	if err != nil {
		return err
	}
	if v := resp.GetProtocolVersion(); v != lumirpc.ProtocolVersion {
		return fmt.Errorf("the plugin speaks version %d of the protocol, and this program version %d: update the older"+
			" of the two", v, lumirpc.ProtocolVersion)
	}
	p.Package, p.Version, p.Configurable = resp.GetPackage(), resp.GetVersion(), resp.GetConfigurable()
	for _, s := range resp.GetTypes() {
		token, err := tokens.Parse(s)
		if err != nil {
			return fmt.Errorf("the plugin says that it serves a type %w", err)
		}
		p.Types = append(p.Types, token)
	}
	return p.explain(p.events.start(p.client))
}

// intercept makes a call and returns after its events were received. Its errors are those of [Plugin.Resource].
func (p *Plugin) intercept(
	ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, call grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	if p.closed.Load() { // gRPC would report this as cancelled by the caller.
		return &Error{Code: codes.FailedPrecondition, Message: "the plugin is closed"}
	}
	var trailer metadata.MD
	var to peer.Peer
	err := call(ctx, method, req, reply, conn, append(options, grpc.Trailer(&trailer), grpc.Peer(&to))...)
	p.events.await(ctx, trailer)
	err = p.explain(err)
	if sent := to != (peer.Peer{}); sent && slices.Contains(changing, method) {
		return outcome(err)
	}
	return err
}

// dialOnce connects to the port the first time, and never again: when the plugin is gone, another process may hold the
// port, which must not learn the secret.
func dialOnce(port uint16) func(context.Context, string) (net.Conn, error) {
	var used atomic.Bool
	return func(ctx context.Context, _ string) (net.Conn, error) {
		if used.Swap(true) {
			return nil, errors.New("the connection to the plugin is gone")
		}
		return new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))))
	}
}

// credential adds the secret to every call.
type credential string

// GetRequestMetadata implements [credentials.PerRPCCredentials].
func (c credential) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{lumirpc.SecretHeader: string(c)}, nil
}

// RequireTransportSecurity implements [credentials.PerRPCCredentials].
func (credential) RequireTransportSecurity() bool { return false }

// Configure tells the provider its configuration. The error is a *[lumi.InvalidError] if that is wrong; it may then be
// called again.
func (p *Plugin) Configure(ctx context.Context, properties lumi.Bag) error {
	_, err := p.client.Configure(ctx, &lumirpc.ConfigureRequest{Properties: properties.Struct()})
	return err
}

// Describe returns what the IDL and the provider say about types of resources, all that the plugin serves if none is
// given. It may be called before Configure.
func (p *Plugin) Describe(ctx context.Context, types ...tokens.Type) ([]*lumi.Description, error) {
	req := &lumirpc.DescribeRequest{}
	for _, token := range types {
		req.Types = append(req.Types, string(token))
	}
	resp, err := p.client.Describe(ctx, req)
	if err != nil {
		return nil, err
	}
	var all []*lumi.Description
	for _, described := range resp.GetTypes() {
		d := &lumi.Description{
			Type: tokens.Type(described.GetType()), Named: described.GetNamed(), CanFind: described.GetCanFind(),
			IdempotentCreate: described.GetIdempotentCreate(),
		}
		for _, p := range described.GetProperties() {
			d.Properties = append(d.Properties, lumi.Property{
				Name: p.GetName(), Kind: cmp.Or(kinds[p.GetKind()], lumi.KindAny), Flags: flags(p), Required: p.GetRequired(),
			})
		}
		all = append(all, d)
	}
	return all, nil
}

var kinds = map[lumirpc.Property_Kind]lumi.Kind{
	lumirpc.Property_BOOL: lumi.KindBool, lumirpc.Property_NUMBER: lumi.KindNumber,
	lumirpc.Property_STRING: lumi.KindString, lumirpc.Property_LIST: lumi.KindList, lumirpc.Property_MAP: lumi.KindMap,
	lumirpc.Property_OBJECT: lumi.KindObject, lumirpc.Property_ANY: lumi.KindAny, lumirpc.Property_ASSET: lumi.KindAsset,
	lumirpc.Property_ARCHIVE: lumi.KindArchive, lumirpc.Property_CAPABILITY: lumi.KindCapability,
}

func flags(p *lumirpc.Property) (all lumi.Flags) {
	for flag, is := range map[lumi.Flags]bool{
		lumi.Out: p.GetOut(), lumi.In: p.GetIn(), lumi.Replaces: p.GetReplaces(), lumi.Secret: p.GetSecret(),
	} {
		if is {
			all |= flag
		}
	}
	return all
}

// Resource returns the provider of one type of resource. Its errors are those that [lumi.ResourceProvider] lists, as
// far as they can be sent, or an *[Error]. If a Create, Update or Delete was sent and its outcome is unknown, such as when
// the plugin crashed or the context was done, the error is a *[lumi.UncertainError]. It fails if the plugin does not serve
// the type.
func (p *Plugin) Resource(token tokens.Type) (lumi.ResourceProvider, error) {
	if !slices.Contains(p.Types, token) {
		return nil, fmt.Errorf("the plugin for package %q does not serve type %q", p.Package, token)
	}
	return &resource{plugin: p, token: string(token)}, nil
}

// Cancel has the plugin cancel all calls and end. In contrast to calls whose own contexts are cancelled, these still
// answer, and say what exists. Close must still be called.
func (p *Plugin) Cancel(ctx context.Context) error {
	_, err := p.client.Cancel(ctx, &lumirpc.CancelRequest{})
	return err
}

// Done is closed when the process has ended.
func (p *Plugin) Done() <-chan struct{} {
	if p.process == nil {
		return nil
	}
	return p.process.ended
}

// Close ends the plugin and waits for it: by closing its standard input, which cancels all calls, and by force if it is
// still there after the grace period. The error says if that was so, or how else the process ended if not well. More
// calls of Close return the same.
func (p *Plugin) Close() error {
	p.closed.Store(true)
	var err error
	if p.process != nil {
		err = p.process.stop()
	}
	_ = p.conn.Close() // It fails only if it was closed already.
	p.events.end()
	return err
}

// abort ends a plugin that did not come up, and adds to the error what it said.
func (p *Plugin) abort(err error) error {
	if p.conn != nil {
		_ = p.conn.Close() // It fails only if it was closed already.
	}
	if p.process == nil {
		return err
	}
	p.process.kill()
	if said := p.process.said.String(); said != "" {
		return fmt.Errorf("%w\nThe plugin wrote:\n%s", err, said)
	}
	return err
}

// environment is that of the plugin.
func (c *Command) environment(secret string) []string {
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	return append(slices.Clip(env), lumirpc.SecretVariable+"="+secret)
}
