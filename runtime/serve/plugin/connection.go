package plugin

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/internal/client"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// connection is a connection to a plugin. Its process is nil if it was created by [Connect].
type connection struct {
	closed  atomic.Bool
	process *process
	conn    *grpc.ClientConn
	events  *events
}

// start starts a process, connects to it, and calls introduce to perform the handshake. On failure, it kills the process.
func (c *connection) start(ctx context.Context, command Command, introduce func(context.Context) error) error {
	secret := rand.Text()
	var err error
	if c.process, err = startProcess(command, newOutput(command), secret); err != nil {
		return err
	}
	if sink := c.events.sink; sink != nil {
		c.events.sink = func(e lumi.Event) {
			if c.process.log.event() {
				sink(e)
			}
		}
	}
	limit := cmp.Or(command.StartTime, defaultStart)
	starting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	missing := "printed no port"
	port, err := c.process.port(starting)
	if err == nil {
		missing = "did not answer the handshake"
		err = c.connect(dialOnce(port), grpc.WithPerRPCCredentials(credential(secret)))
	}
	if err == nil {
		err = introduce(starting)
	}
	if err != nil && starting.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("the plugin %s within %v", missing, limit)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", command.Path, c.abort(err))
	}
	return nil
}

func (c *connection) connect(dial func(context.Context, string) (net.Conn, error), options ...grpc.DialOption) (err error) {
	c.conn, err = grpc.NewClient("passthrough:///plugin", append(options,
		grpc.WithContextDialer(dial),
		grpc.WithTransportCredentials(insecure.NewCredentials()), // The connection is local or in memory.
		grpc.WithIdleTimeout(0),                                  // The connection cannot be replaced, so keep it.
		grpc.WithNoProxy(),
		grpc.WithDisableServiceConfig(),
		grpc.WithUnaryInterceptor(c.intercept),
		grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(lumirpc.MaxMessageSize), grpc.MaxCallSendMsgSize(lumirpc.MaxMessageSize),
		),
	)...)
	return err
}

// agree returns an error if version, the plugin's protocol version, is not supported.
func agree(version int32) error {
	if version != lumirpc.ProtocolVersion {
		return fmt.Errorf("the plugin speaks protocol version %d, this program speaks version %d: update the older one",
			version, lumirpc.ProtocolVersion)
	}
	return nil
}

// mistaken returns a better error for a failed handshake if the plugin is a provider instead of a provisioner, or vice versa,
// and otherwise err.
func (c *connection) mistaken(ctx context.Context, err error) error {
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	const version = lumirpc.ProtocolVersion
	provider, failed := lumirpc.NewResourceProviderClient(c.conn).Handshake(ctx, &lumirpc.HandshakeRequest{ProtocolVersion: version})
	if failed == nil {
		return fmt.Errorf("the plugin is the provider of package %q, not a provisioner: install it as"+
			" lumi-resource-%s and put a provisioner in its place", provider.GetPackage(), strings.ReplaceAll(provider.GetPackage(), "/", "_"))
	}
	tool, failed := lumirpc.NewProvisionerClient(c.conn).Handshake(ctx, &lumirpc.ProvisionerHandshakeRequest{ProtocolVersion: version})
	if failed == nil {
		return fmt.Errorf("the plugin is the provisioner %q, not a provider: install it as %s%s and put a provider in its place",
			tool.GetName(), lumirpc.ProvisionerPrefix, tool.GetName())
	}
	return err
}

// intercept makes a call and waits until its events have been received. [Plugin.Resource] documents its errors.
func (c *connection) intercept(
	ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, call grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	if c.closed.Load() { // gRPC's error would be Canceled.
		return &Error{Code: codes.FailedPrecondition, Message: "the plugin is closed"}
	}
	if c.process != nil {
		c.process.log.begin(wire.SecretsOf(ctx))
		defer c.process.log.report(false)
	}
	var trailer metadata.MD
	var to peer.Peer
	err := call(ctx, method, req, reply, conn, append(options, grpc.Trailer(&trailer), grpc.Peer(&to))...)
	c.events.await(ctx, trailer)
	err = c.explain(ctx, err)
	if sent := to != (peer.Peer{}); sent {
		return client.Outcome(method, err)
	}
	return err
}

// dialOnce returns a function that connects to the port once. Further calls fail, since another process may have obtained
// the port after the plugin exited, and must not receive the secret.
func dialOnce(port uint16) func(context.Context, string) (net.Conn, error) {
	var used atomic.Bool
	return func(ctx context.Context, _ string) (net.Conn, error) {
		if used.Swap(true) {
			return nil, errors.New("the connection to the plugin was lost")
		}
		return new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))))
	}
}

// credential is the secret, which is added to every call.
type credential string

// GetRequestMetadata implements [credentials.PerRPCCredentials].
func (c credential) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{lumirpc.SecretHeader: string(c)}, nil
}

// RequireTransportSecurity implements [credentials.PerRPCCredentials].
func (credential) RequireTransportSecurity() bool { return false }

// Done returns a channel that is closed when the process has exited, or nil if there is no process.
func (c *connection) Done() <-chan struct{} {
	if c.process == nil {
		return nil
	}
	return c.process.ended
}

// Close stops the plugin by closing its standard input, which cancels all calls, and waits for it to exit. If it does not
// exit within the grace period, Close kills it and returns an error. Close also returns an error if the plugin does not exit
// cleanly. Further calls return the same error.
func (c *connection) Close() error {
	c.closed.Store(true)
	var err error
	if c.process != nil {
		err = c.process.stop()
	}
	_ = c.conn.Close() // It fails only if already closed.
	c.events.end()
	return err
}

// abort kills a plugin that failed to start, and returns an error with err and the plugin's output.
func (c *connection) abort(err error) error {
	if c.conn != nil {
		_ = c.conn.Close() // It fails only if already closed.
	}
	if c.process == nil {
		return err
	}
	c.process.kill()
	if said := c.process.said.String(); said != "" {
		return fmt.Errorf("%w\nThe plugin wrote:\n%s", err, said)
	}
	return err
}

// environment returns the plugin's environment, including the secret.
func (c *Command) environment(secret string) []string {
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	return append(slices.Clip(env), lumirpc.SecretVariable+"="+secret)
}
