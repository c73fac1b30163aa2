package serve

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// bare is a plugin started without package plugin.
type bare struct {
	*marks
	cmd     *exec.Cmd
	stdin   io.Closer
	address string
}

const bareSecret = "open sesame"

// startBare starts a plugin with bareSecret and reads its port.
func startBare(t *testing.T, options ...func(cmd *exec.Cmd)) *bare {
	t.Helper()
	b := &bare{marks: newMarks(t), cmd: exec.Command(os.Args[0])}
	b.cmd.Env = append(env("plugin"), b.variable, lumirpc.SecretVariable+"="+bareSecret)
	b.cmd.Stderr = os.Stderr
	for _, option := range options {
		option(b.cmd)
	}
	b.stdin = must.Get(b.cmd.StdinPipe())(t)
	stdout := must.Get(b.cmd.StdoutPipe())(t)
	must.Do(t, b.cmd.Start())
	t.Cleanup(func() {
		_ = b.cmd.Process.Kill() // It fails if the process has already exited.
		_ = b.cmd.Wait()
	})
	b.address = "127.0.0.1:" + strings.TrimSpace(must.Get(bufio.NewReader(stdout).ReadString('\n'))(t))
	return b
}

// dial opens another connection to the plugin.
func (b *bare) dial(t *testing.T) (lumirpc.ResourceProviderClient, *grpc.ClientConn) {
	t.Helper()
	conn := must.Get(grpc.NewClient(b.address, grpc.WithTransportCredentials(insecure.NewCredentials())))(t)
	t.Cleanup(func() { conn.Close() })
	return lumirpc.NewResourceProviderClient(conn), conn
}

// with returns a context for calls with the given secrets.
func with(ctx context.Context, secrets ...string) context.Context {
	for _, s := range secrets {
		ctx = metadata.AppendToOutgoingContext(ctx, lumirpc.SecretHeader, s)
	}
	return ctx
}

// greet performs the handshake, which must succeed.
func (b *bare) greet(t *testing.T, client lumirpc.ResourceProviderClient) {
	t.Helper()
	must.Get(client.Handshake(with(within(t), bareSecret), hello()))(t)
}

func hello() *lumirpc.HandshakeRequest {
	return &lumirpc.HandshakeRequest{ProtocolVersion: lumirpc.ProtocolVersion}
}

// background starts a Create with the given behavior and returns a channel that receives its error.
func background(ctx context.Context, p lumi.ResourceProvider, do string) chan error {
	result := make(chan error, 1)
	go func() {
		_, err := p.Create(ctx, &lumi.CreateRequest{URN: thingURN, Properties: lumi.BagOf(thingBag(do))})
		result <- err
	}()
	return result
}

// await waits for the error of a background call.
func await(t *testing.T, result chan error) error {
	t.Helper()
	select {
	case err := <-result:
		return err
	case <-time.After(patience):
		t.Fatal("no response after the timeout")
		return nil
	}
}

func TestCanceledCall(t *testing.T) {
	p := start(t, "plugin")
	things := p.resource(t, thingToken)
	ctx, cancel := context.WithCancel(within(t))
	result := background(ctx, things, "wait")
	p.expect(t, "waiting")
	cancel()
	p.expect(t, "canceled")
	if err := await(t, result); !errors.Is(err, context.Canceled) {
		t.Errorf("call error = %v, want context.Canceled", err)
	}
	must.Get(check(thingBag("nothing"))(within(t), things))(t)
}

func TestDeadline(t *testing.T) {
	things := start(t, "plugin").resource(t, thingToken)
	for want, ctx := range map[string]context.Context{"true": within(t), "false": t.Context()} {
		resp := must.Get(create(thingBag("deadline"), nil)(ctx, things))(t)
		if got := resp.(*lumi.CreateResponse).Properties.Get("result"); got != want {
			t.Errorf("deadline = %s, want %s", got, want)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := check(thingBag("wait"))(ctx, things); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Check error = %v, want context.DeadlineExceeded", err)
	}
}

func TestDisconnected(t *testing.T) {
	b := startBare(t)
	client, conn := b.dial(t)
	b.greet(t, client)
	result := make(chan error, 1)
	go func() {
		_, err := client.Create(with(within(t), bareSecret), &lumirpc.CreateRequest{
			Type: string(thingToken), Urn: thingURN, Properties: thingBag("wait"),
		})
		result <- err
	}()
	b.expect(t, "waiting")
	conn.Close()
	b.expect(t, "canceled")
	if err := await(t, result); err == nil {
		t.Error("call on a lost connection returned nil, want an error")
	}
	again, _ := b.dial(t)
	must.Get(again.Handshake(with(within(t), bareSecret), hello()))(t)
}

// However a plugin is stopped, it cancels the calls in flight and still sends their events and responses.
func TestStop(t *testing.T) {
	for name, stop := range map[string]func(t *testing.T, b *bare, client lumirpc.ResourceProviderClient){
		"standard input": func(_ *testing.T, b *bare, _ lumirpc.ResourceProviderClient) { b.stdin.Close() },
		"SIGTERM": func(t *testing.T, b *bare, _ lumirpc.ResourceProviderClient) {
			must.Do(t, b.cmd.Process.Signal(syscall.SIGTERM))
		},
		"Cancel": func(t *testing.T, _ *bare, client lumirpc.ResourceProviderClient) {
			must.Get(client.Cancel(with(within(t), bareSecret), &lumirpc.CancelRequest{}))(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := startBare(t)
			client, _ := b.dial(t)
			b.greet(t, client)
			events := b.open(t, client)
			var resp *lumirpc.CreateResponse
			result := make(chan error, 1)
			go func() {
				var err error
				resp, err = client.Create(with(within(t), bareSecret), &lumirpc.CreateRequest{
					Type: string(thingToken), Urn: thingURN, Properties: thingBag("partly wait"),
				})
				result <- err
			}()
			b.expect(t, "waiting")
			began := time.Now()
			stop(t, b, client)
			b.expect(t, "canceled")
			must.Do(t, await(t, result))
			if resp.GetId() != "t-half" || resp.GetFailure().GetCode() != int32(codes.Aborted) {
				t.Errorf("Create = %v, want t-half with code Aborted", resp)
			}
			if got := drain(t, events); len(got) != 1 || got[0] != "giving up" {
				t.Errorf("events = %q, want \"giving up\"", got)
			}
			if err := b.cmd.Wait(); err != nil || time.Since(began) > grace/2 {
				t.Errorf("the plugin exited after %v: %v, want a clean exit within %v", time.Since(began), err, grace/2)
			}
		})
	}
}

func TestCancelAll(t *testing.T) {
	p := start(t, "plugin")
	result := background(within(t), p.resource(t, thingToken), "partly wait")
	p.expect(t, "waiting")
	must.Do(t, p.Cancel(within(t)))
	p.expect(t, "canceled")
	var partial *lumi.PartialError
	var uncertain *lumi.UncertainError
	if err := await(t, result); !errors.As(err, &partial) || partial.ID != "t-half" || !errors.As(err, &uncertain) ||
		err.Error() != "partially done: context canceled" {
		t.Errorf("Create error = %v, want an uncertain *PartialError for t-half", err)
	}
	must.Do(t, p.Close())
	if err := p.Close(); err != nil {
		t.Errorf("second Close returned %v, want nil", err)
	}
}

// The error of a call to a closed plugin is not Canceled.
func TestClosed(t *testing.T) {
	p := start(t, "plugin")
	things := p.resource(t, thingToken)
	must.Do(t, p.Close())
	_, err := things.Get(within(t), &lumi.GetRequest{ID: "t-1", Purpose: lumi.Import})
	var e *plugin.Error
	if !errors.As(err, &e) || e.Code != codes.FailedPrecondition || e.Message != "the plugin is closed" {
		t.Errorf("call after Close returned %v, want FailedPrecondition", err)
	}
}

// A plugin exits even if an abandoned call ignores its context.
func TestAbandoned(t *testing.T) {
	b := startBare(t)
	client, _ := b.dial(t)
	b.greet(t, client)
	ctx, cancel := context.WithCancel(with(within(t), bareSecret))
	result := make(chan error, 1)
	go func() {
		_, err := client.Create(ctx, &lumirpc.CreateRequest{
			Type: string(thingToken), Urn: thingURN, Properties: thingBag("hang"),
		})
		result <- err
	}()
	b.expect(t, "hanging")
	cancel()
	if err := await(t, result); status.Code(err) != codes.Canceled {
		t.Errorf("call error = %v, want Canceled", err)
	}
	b.stdin.Close()
	var exit *exec.ExitError
	if err := b.cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitFailed {
		t.Errorf("the plugin exited with %v, want exit code %d", err, exitFailed)
	}
}

// The plugin ignores interrupts and hangups of the terminal, which the parent handles.
func TestInterrupt(t *testing.T) {
	b := startBare(t)
	client, _ := b.dial(t)
	must.Get(client.Handshake(with(within(t), bareSecret), hello()))(t)
	for _, sign := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		must.Do(t, b.cmd.Process.Signal(sign))
		if _, err := client.Handshake(with(within(t), bareSecret), hello()); err != nil {
			t.Errorf("Handshake after %v returned %v, want nil", sign, err)
		}
	}
	b.stdin.Close()
	if err := b.cmd.Wait(); err != nil {
		t.Errorf("the plugin exited with %v, want nil", err)
	}
}

func TestOrphan(t *testing.T) {
	m := newMarks(t)
	parent := exec.Command(os.Args[0])
	parent.Env = append(env("parent"), m.variable)
	parent.Stderr = os.Stderr
	must.Do(t, parent.Start())
	m.expect(t, "waiting")
	must.Do(t, parent.Process.Kill())
	_ = parent.Wait() // It was killed.
	m.expect(t, "tidied up")
	m.expectEnd(t)
}

func TestStart(t *testing.T) {
	for role, wants := range map[string][]string{
		"talkative": {`the plugin's first line on standard output is not a port: "hello"`},
		"failing":   {"the plugin exited before it was ready: exit status 3", "no such luck"},
		"newer":     {"the plugin speaks protocol version 2, this program speaks version 1"},
		"unknown":   {"the plugin exited before it was ready: exit status 0"},
	} {
		_, err := plugin.Start(within(t), plugin.Command{Path: os.Args[0], Env: env(role), Log: io.Discard})
		for _, want := range wants {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: Start error = %v, want %q in it", role, err, want)
			}
		}
	}
	_, err := plugin.Start(within(t), plugin.Command{Path: "lumi-resource-nowhere"})
	if !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("Start error = %v, want exec.ErrNotFound", err)
	}
}

func TestForeign(t *testing.T) {
	things := start(t, "foreign").resource(t, thingToken)
	var partial *lumi.PartialError
	if _, err := create(nil, nil)(within(t), things); !errors.As(err, &partial) || partial.ID != "t-1" ||
		partial.Error() != "partially done: the plugin gave no reason" {
		t.Errorf("Create error = %v, want a *PartialError for t-1", err)
	}
	if _, err := inspect(nil, nil)(within(t), things); err == nil || !strings.Contains(err.Error(), "unknown kind of change") {
		t.Errorf("InspectChange error = %v, want an unknown kind of change", err)
	}
	if resp, err := things.Get(within(t), &lumi.GetRequest{ID: "x", Purpose: lumi.Import}); err != nil || resp.Properties.IsZero() {
		t.Errorf("Get = %v, %v, want an empty, non-zero bag", resp, err)
	}
	var e *plugin.Error
	if _, err := check(nil)(within(t), things); !errors.As(err, &e) || e.Code != codes.FailedPrecondition {
		t.Errorf("Check error = %v, want FailedPrecondition", err)
	}
	if _, err := remove(nil)(within(t), things); !errors.As(err, &e) || e.Code != codes.Unimplemented {
		t.Errorf("Delete error = %v, want Unimplemented", err)
	}
}

func TestStartCanceled(t *testing.T) {
	m := newMarks(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	result := make(chan error, 1)
	go func() {
		_, err := plugin.Start(ctx, plugin.Command{Path: os.Args[0], Env: append(env("silent"), m.variable)})
		result <- err
	}()
	m.expect(t, "silent")
	cancel()
	if err := await(t, result); !errors.Is(err, context.Canceled) {
		t.Errorf("Start error = %v, want context.Canceled", err)
	}
	m.expectEnd(t)
}

func TestStartTimeout(t *testing.T) {
	m := newMarks(t)
	var starts sync.WaitGroup
	for role, want := range map[string]string{
		"stuck":        "the plugin printed no port within 2s\nThe plugin wrote:\nwaiting for a license",
		"stuck server": "the plugin did not answer the handshake within 2s",
		"stuck events": "the plugin did not answer the handshake within 2s",
	} {
		starts.Go(func() {
			_, err := plugin.Start(within(t), plugin.Command{
				Path: os.Args[0], Env: append(env(role), m.variable), Log: io.Discard, StartTime: 2 * time.Second, Events: func(lumi.Event) {},
			})
			if err == nil || err.Error() != os.Args[0]+": "+want {
				t.Errorf("%s: Start error = %v, want %s", role, err, want)
			}
		})
	}
	starts.Wait()
	m.expect(t, "silent")
	m.expectEnd(t)
}

func TestFlood(t *testing.T) {
	var log buffer
	p := must.Get(plugin.Start(within(t), plugin.Command{Path: os.Args[0], Env: env("plugin"), Log: &log}))(t)
	things := must.Get(p.Resource(thingToken))(t)
	must.Get(check(thingBag("flood"))(within(t), things))(t)
	must.Do(t, p.Close())
	got := log.String()
	if lines := strings.Count(got, "\nmore"); lines != 999 || len(got) > 40<<10 || !strings.Contains(got, "LUMI_PLUGIN_LOG=all") {
		t.Errorf("log has %d lines, want 999, and %d bytes, want at most 40 KiB: …%s", lines, len(got), got[max(0, len(got)-200):])
	}
}

func TestKill(t *testing.T) {
	m := newMarks(t)
	p := must.Get(plugin.Start(within(t), plugin.Command{
		Path: os.Args[0], Env: append(env("plugin"), m.variable), Log: io.Discard, Grace: time.Millisecond,
	}))(t)
	things := must.Get(p.Resource(thingToken))(t)
	result := background(within(t), things, "hang")
	m.expect(t, "hanging")
	if err := p.Close(); err == nil || !strings.Contains(err.Error(), "was killed") {
		t.Errorf("Close error = %v, want a killed plugin", err)
	}
	var e *plugin.Error
	// The process may exit before or after the connection is closed.
	if err := await(t, result); !errors.As(err, &e) || e.Code != codes.Unavailable && e.Code != codes.Canceled {
		t.Errorf("call error = %v, want Unavailable or Canceled", err)
	}
	m.expectEnd(t)
	_, err := check(thingBag("nothing"))(within(t), things)
	if !errors.As(err, &e) || e.Code != codes.FailedPrecondition {
		t.Errorf("Check after Close returned %v, want FailedPrecondition", err)
	}
}

func TestCrash(t *testing.T) {
	p := start(t, "plugin")
	_, err := check(thingBag("crash"))(within(t), p.resource(t, thingToken))
	var e *plugin.Error
	if !errors.As(err, &e) || e.Code != codes.Unavailable {
		t.Errorf("call error = %v, want Unavailable", err)
	}
	select {
	case <-p.Done():
	case <-time.After(patience):
		t.Fatal("the process is running after the timeout, want it to exit")
	}
	_, err = check(thingBag("nothing"))(within(t), p.resource(t, thingToken))
	if !errors.As(err, &e) || !strings.Contains(e.Message, "the plugin is gone (exit status 2)") {
		t.Errorf("Check after a crash returned %v, want exit status 2", err)
	}
	if err := p.Close(); err == nil || !strings.Contains(err.Error(), "exit status 2") {
		t.Errorf("Close error = %v, want exit status 2", err)
	}
}
