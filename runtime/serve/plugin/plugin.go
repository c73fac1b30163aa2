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
	"fmt"
	"io"
	"net"
	"slices"
	"time"

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
	// nil. Writes come one at a time, each a line. Per call, 1,000 lines of at most 28 KiB, 1 MiB in all, and 1,000 events are
	// passed on, unless LUMI_PLUGIN_LOG is "all"; a line at its end tells how much was dropped. Secrets that the context of a
	// call has, by wire.WithSecrets, are masked in lines.
	Log io.Writer
	// Raw passes on to Log what the plugin writes as it is: tests look for secrets in it.
	Raw bool
	// Events receives what providers log and report as progress, one event at a time. It has received all events of a call
	// when the call returns, unless one takes longer than 5 seconds, and is not called after Close has returned. Calls wait
	// for it, so it should be fast, and it must not call the plugin, which would wait for itself. If it is nil, or the
	// plugin has no events, they go to Log.
	Events func(lumi.Event)
	// StartTime is how long the plugin may take to print its port and to answer the handshake, 30 seconds if it is 0.
	StartTime time.Duration
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

	connection
	client lumirpc.ResourceProviderClient
}

// Start starts a plugin and introduces itself to it. The context is about the start alone. If the plugin does not come
// up, the error tells the end of what it wrote to standard error, and no process is left behind.
func Start(ctx context.Context, c Command) (*Plugin, error) {
	p := &Plugin{connection: connection{events: newEvents(c.Events)}}
	if err := p.start(ctx, c, p.introduce); err != nil {
		return nil, err
	}
	return p, nil
}

// Connect introduces itself to a provider that is served by other means than a process of its own, such as serve.Serve.
// Dial is called once, and sink receives events as in [Command]. Close closes the connection and nothing else, and Done
// returns nil.
func Connect(
	ctx context.Context, dial func(context.Context) (net.Conn, error), sink func(lumi.Event),
) (*Plugin, error) {
	p := &Plugin{connection: connection{events: newEvents(sink)}}
	err := p.connect(func(ctx context.Context, _ string) (net.Conn, error) { return dial(ctx) })
	if err == nil {
		err = p.introduce(ctx)
	}
	if err != nil {
		return nil, p.abort(err)
	}
	return p, nil
}

// introduce learns whom it is talking to.
func (p *Plugin) introduce(ctx context.Context) error {
	p.client = lumirpc.NewResourceProviderClient(p.conn)
	resp, err := p.client.Handshake(ctx, &lumirpc.HandshakeRequest{ProtocolVersion: lumirpc.ProtocolVersion})
	if err != nil {
		return p.mistaken(ctx, err)
	}
	if err := agree(resp.GetProtocolVersion()); err != nil {
		return err
	}
	p.Package, p.Version, p.Configurable = resp.GetPackage(), resp.GetVersion(), resp.GetConfigurable()
	for _, s := range resp.GetTypes() {
		token, err := tokens.Parse(s)
		if err != nil {
			return fmt.Errorf("the plugin serves an invalid type %w", err)
		}
		p.Types = append(p.Types, token)
	}
	return p.explain(ctx, p.events.start(ctx, p.client))
}

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
				Was: p.GetWas(),
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
	r := &resource{plugin: p, token: string(token)}
	if slices.Contains(p.Types, token) {
		return r, nil
	}
	// It may be the former token of a type, which state and other modules still have.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if _, err := r.Describe(ctx); err != nil {
		return nil, fmt.Errorf("the plugin for package %q does not serve type %q", p.Package, token)
	}
	return r, nil
}

// Cancel has the plugin cancel all calls and end. In contrast to calls whose own contexts are canceled, these still
// answer, and say what exists. Close must still be called.
func (p *Plugin) Cancel(ctx context.Context) error {
	_, err := p.client.Cancel(ctx, &lumirpc.CancelRequest{})
	return err
}
