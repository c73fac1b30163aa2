// Package plugin starts provider plugins and calls them. It is the client of package serve.
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
	"github.com/lumi-idl/lumi/runtime/internal/bagrpc"
	"github.com/lumi-idl/lumi/runtime/internal/client"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Command describes how to start a plugin.
type Command struct {
	// Path is the path of the executable, or a name to look up in $PATH.
	Path string
	// Args holds the command-line arguments, not including the command name.
	Args []string
	// Dir is the working directory. The default is the working directory of this process. Engines set it to the
	// program's folder, which relative paths of assets are resolved against.
	Dir string
	// Env is the environment. If it is nil, the environment of this process is used.
	Env []string
	// JSON is set if the plugin is a provisioner that speaks JSON instead of gRPC: it is started for each call, reads a
	// request from standard input, and writes an answer to standard output. See docs/protocol.md.
	JSON bool
	// Log receives the plugin's standard error, and its standard output after the port. The default is os.Stderr.
	// Log is called sequentially with one line at a time. Each call is limited to 1,000 lines of at most 28 KiB, 1 MiB
	// in total, and 1,000 events, unless the environment variable LUMI_PLUGIN_LOG is "all"; a final line reports the
	// amount of dropped output. Secrets passed in a call's context by wire.WithSecrets are masked.
	Log io.Writer
	// Raw copies the plugin's output to Log without limits or masking, for tests that search it for secrets.
	Raw bool
	// Events is called with each log and progress event, one at a time. A call returns after Events has returned for all
	// of its events, unless one takes longer than 5 seconds. Events is not called after Close has returned. It must not
	// block, since calls wait for it, or call the plugin, which would deadlock. If it is nil, or the plugin does not
	// support events, they are written to Log.
	Events func(lumi.Event)
	// StartTime is the maximum time for the plugin to print its port and answer the handshake. The default is 30
	// seconds.
	StartTime time.Duration
	// Grace is the time that Close waits for the plugin to exit before it kills the plugin. The default is 15 seconds.
	Grace time.Duration
}

// Plugin is a running plugin. Its methods are safe for concurrent use.
type Plugin struct {
	// Package is the package that the plugin serves.
	Package string
	// Version is the version of the plugin, for display. It may be empty.
	Version string
	// Types lists the resource types that the plugin serves, sorted.
	Types []tokens.Type
	// Functions lists the functions that the plugin serves, sorted.
	Functions []tokens.Type
	// Configurable is set if Configure must be called before any call on a resource or of a function.
	Configurable bool

	connection
	client bagrpc.ResourceProviderClient
}

// Start starts a plugin and performs the handshake. ctx applies only to the start. If it fails, Start kills the process and
// returns an error with the end of its standard error.
func Start(ctx context.Context, c Command) (*Plugin, error) {
	p := &Plugin{connection: connection{events: newEvents(c.Events)}}
	if err := p.start(ctx, c, p.introduce); err != nil {
		return nil, err
	}
	return p, nil
}

// Connect connects to a provider that does not run in its own process, such as one served by serve.Serve, and performs the
// handshake. It calls dial once. sink is called like Events of [Command]. Close closes only the connection, and Done returns
// nil.
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

func (p *Plugin) introduce(ctx context.Context) error {
	p.client = bagrpc.NewClient(p.conn)
	resp, err := p.client.Handshake(ctx, &lumirpc.HandshakeRequest{ProtocolVersion: lumirpc.ProtocolVersion})
	if err != nil {
		return p.mistaken(ctx, err)
	}
	if err := agree(resp.GetProtocolVersion()); err != nil {
		return err
	}
	p.Package, p.Version, p.Configurable = resp.GetPackage(), resp.GetVersion(), resp.GetConfigurable()
	if p.Types, err = parse("type", resp.GetTypes()); err != nil {
		return err
	}
	if p.Functions, err = parse("function", resp.GetFunctions()); err != nil {
		return err
	}
	return p.explain(ctx, p.events.start(ctx, p.client))
}

func parse(what string, sent []string) ([]tokens.Type, error) {
	var all []tokens.Type
	for _, s := range sent {
		token, err := tokens.Parse(s)
		if err != nil {
			return nil, fmt.Errorf("the plugin serves an invalid %s %w", what, err)
		}
		all = append(all, token)
	}
	return all, nil
}

// Configure configures the provider. If the configuration is invalid, it returns a *[lumi.InvalidError], and may be called
// again.
func (p *Plugin) Configure(ctx context.Context, properties lumi.Bag) error {
	_, err := p.client.Configure(ctx, &bagrpc.ConfigureRequest{Properties: bagrpc.Encode(properties)})
	return err
}

// Describe returns the descriptions of the given resource types and functions, or of all if there are no arguments. It may be
// called before Configure.
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
			IdempotentCreate: described.GetIdempotentCreate(), RepeatableChange: described.GetRepeatableChange(),
			Function: described.GetFunction(),
		}
		equality := equalities(described.GetEqualities())
		for _, p := range described.GetProperties() {
			d.Properties = append(d.Properties, lumi.Property{
				Name: p.GetName(), Kind: cmp.Or(kinds[p.GetKind()], lumi.KindAny), Flags: flags(p), Required: p.GetRequired(),
				Was: p.GetWas(), Equality: equality(p.GetEquality()),
			})
		}
		if n := described.GetNameRules(); n != nil {
			d.Name = lumi.NameRules{
				MinLength: int(n.GetMinLength()), MaxLength: int(n.GetMaxLength()), Pattern: n.GetPattern(), Scope: n.GetScope(),
			}
		}
		all = append(all, d)
	}
	return all, nil
}

// equalities returns a function that returns equalities by number.
func equalities(list []*lumirpc.Equality) func(number int32) *lumi.Equality {
	all := make([]*lumi.Equality, len(list))
	for i, e := range list {
		all[i] = &lumi.Equality{As: e.GetAs()}
	}
	at := func(number int32) *lumi.Equality {
		if number < 1 || int(number) > len(all) {
			return nil
		}
		return all[number-1]
	}
	for i, e := range list {
		all[i].Elements = at(e.GetElements())
		for name, number := range e.GetProperties() {
			if all[i].Properties == nil {
				all[i].Properties = map[string]*lumi.Equality{}
			}
			all[i].Properties[name] = at(number)
		}
	}
	return at
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
		lumi.Computed: p.GetComputed(), lumi.Fixed: p.GetFixed(),
	} {
		if is {
			all |= flag
		}
	}
	return all
}

// Function returns a function, or an error if the plugin does not serve it. The function returns the errors documented by
// [lumi.Function] or an *[Error].
func (p *Plugin) Function(token tokens.Type) (lumi.Function, error) {
	if !slices.Contains(p.Functions, token) {
		return nil, fmt.Errorf("the plugin for package %q does not serve function %q", p.Package, token)
	}
	return &client.Resource{Client: p.client, Type: token, Descriptions: p.Describe}, nil
}

// Resource returns the provider of a resource type, or an error if the plugin does not serve the type. The provider returns
// the errors documented by [lumi.ResourceProvider] or an *[Error]. If a Create, Update, or Delete was sent and its outcome
// is unknown, for instance because the plugin crashed or the context was done, the error is a *[lumi.UncertainError].
func (p *Plugin) Resource(token tokens.Type) (lumi.ResourceProvider, error) {
	r := &client.Resource{Client: p.client, Type: token, Descriptions: p.Describe}
	if slices.Contains(p.Types, token) {
		return r, nil
	}
	// State and other modules may still use a former token of a type.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if d, err := r.Describe(ctx); err != nil || d.Function {
		return nil, fmt.Errorf("the plugin for package %q does not serve type %q", p.Package, token)
	}
	return r, nil
}

// Cancel tells the plugin to cancel all calls and stop. Unlike canceling the context of a call, it lets each call return a
// response that reports the resource's state. Close must still be called.
func (p *Plugin) Cancel(ctx context.Context) error {
	_, err := p.client.Cancel(ctx, &lumirpc.CancelRequest{})
	return err
}
