package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/provisioner"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// tool is a provisioner whose behavior is selected by the module of a change, or by the token.
type tool struct{}

func (tool) Plan(_ context.Context, c *provisioner.Change) (*provisioner.Plan, error) {
	switch c.Module {
	case "nothing":
		return nil, nil
	case "fail":
		return nil, errors.New("failed")
	case "long":
		return &provisioner.Plan{Text: strings.Repeat("create a\n", 100_000) + "\xff " + told(c)}, nil
	}
	r := c.New[0]
	return &provisioner.Plan{
		Text:  fmt.Sprintln(c.Environment, c.Module, r.Key, r.URN.Name(), r.Type, r.Properties["size"], told(c)),
		Tasks: []string{"migrate", "backfill"},
	}, nil
}

// told returns all secrets in a change returned by secretChange.
func told(c *provisioner.Change) string {
	var all []string
	for _, r := range []*provisioner.Resource{c.New[0], c.Old[0], c.Context[0]} {
		for _, properties := range []provisioner.Properties{r.Properties, r.Metadata} {
			secret, _ := properties["password"].(provisioner.Secret)
			all = append(all, fmt.Sprint(secret.Value))
		}
	}
	return strings.Join(all, " ")
}

func (tool) Provision(ctx context.Context, c *provisioner.Change) (string, error) {
	switch c.Module {
	case "none":
		return "", nil
	case "fail":
		return "", fmt.Errorf("Error: cannot use %s", told(c))
	case "retry":
		return "", &lumi.RetryError{Err: errors.New("it is locked"), After: 3 * time.Second}
	case "panic":
		panic("no luck with " + told(c))
	case "exit":
		runtime.Goexit()
	case "die":
		return "", syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "large":
		return strings.Repeat("x", lumirpc.MaxToken+1), nil
	case "limit":
		return strings.Repeat("x", lumirpc.MaxToken), nil
	case "bytes":
		return "\xff", nil
	case "log":
		slog.Info("using", "secrets", told(c))
		lumi.Log(ctx).Warn("slow", "secrets", told(c))
		lumi.Progress(ctx, "%s: 1 of 2", c.New[0].URN.Name())
	case "wait":
		mark("waiting")
		<-ctx.Done()
		mark("canceled")
		return "half", nil
	}
	return "status " + c.Task, nil
}

func (tool) Status(_ context.Context, token string) (*provisioner.Status, error) {
	done := func(metadata any) (*provisioner.Status, error) {
		return &provisioner.Status{
			State: provisioner.Done, Metadata: map[string]provisioner.Properties{"k": {"a": []any{true, metadata}}},
		}, nil
	}
	switch token {
	case "none":
		return nil, nil
	case "running":
		return &provisioner.Status{State: provisioner.Running, Message: "waits for a review \xff"}, nil
	case "stateless":
		return &provisioner.Status{}, nil
	case "confused":
		return &provisioner.Status{State: "finished"}, nil
	case "typed":
		return done(struct {
			Secrets []provisioner.Secret `json:"secrets"`
			Count   int
		}{[]provisioner.Secret{{Value: "hidden"}}, 3})
	case "NaN":
		return done(math.NaN())
	case "channel":
		return done(map[string]any{"b c": make(chan int)})
	case "text":
		return done("\xff")
	case "key":
		return done(map[string]any{"\xff": 1})
	case "resource":
		return &provisioner.Status{State: provisioner.Done, Metadata: map[string]provisioner.Properties{"\xff": nil}}, nil
	case "telling":
		s, err := done(provisioner.Secret{Value: "made-by-the-tool"})
		s.Message = "the password is made-by-the-tool"
		return s, err
	}
	return nil, fmt.Errorf("token %q: %w", token, lumi.ErrNotFound)
}

// newerTool is a provisioner plugin with a newer protocol version.
type newerTool struct {
	lumirpc.UnimplementedProvisionerServer
}

func (newerTool) Handshake(
	context.Context, *lumirpc.ProvisionerHandshakeRequest,
) (*lumirpc.ProvisionerHandshakeResponse, error) {
	return &lumirpc.ProvisionerHandshakeResponse{ProtocolVersion: lumirpc.ProtocolVersion + 1}, nil
}

// provisionerChild is a provisioner plugin under test.
type provisionerChild struct {
	*plugin.Provisioner
	*marks
	log *buffer
}

func startProvisioner(t *testing.T, sink func(lumi.Event)) *provisionerChild {
	t.Helper()
	c := &provisionerChild{marks: newMarks(t), log: new(buffer)}
	c.Provisioner = must.Get(plugin.StartProvisioner(within(t), plugin.Command{
		Path: os.Args[0], Env: append(env("provisioner"), c.variable), Log: c.log, Grace: patience, Events: sink,
	}))(t)
	t.Cleanup(func() { _ = c.Close() }) // Tests of its exit have already called it.
	return c
}

// secretChange returns a change with a secret in each place that may contain one.
func secretChange(do string) *provisioner.Change {
	one := func(where string) []*provisioner.Resource {
		return []*provisioner.Resource{{
			Key: "app:test:index:Thing::a:1", URN: thingURN, Type: thingToken,
			Properties: provisioner.Properties{"size": 1.5, "password": provisioner.Secret{Value: "property-" + where}},
			Metadata:   provisioner.Properties{"password": provisioner.Secret{Value: "metadata-" + where}},
		}}
	}
	return &provisioner.Change{
		Environment: "dev", Module: do, New: one("new"), Old: one("old"), Context: one("context"), Task: "migrate",
	}
}

const masks = "(secret) (secret) (secret) (secret) (secret) (secret)"

func TestProvisioner(t *testing.T) {
	p := startProvisioner(t, nil)
	if p.Name != "tool" || p.Version != "2.0.0" {
		t.Errorf("name = %q, version = %q, want \"tool\", \"2.0.0\"", p.Name, p.Version)
	}
	for do, want := range map[string]*provisioner.Plan{
		"app": {
			Text:  "dev app app:test:index:Thing::a:1 a test:index:Thing 1.5 " + masks + "\n",
			Tasks: []string{"migrate", "backfill"},
		},
		"long":    {Text: strings.Repeat("create a\n", 100_000) + "� " + masks},
		"nothing": {},
	} {
		got, err := p.Plan(within(t), secretChange(do))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("Plan of %s: error = %v (-want +got):\n%s", do, err, diff)
		}
	}
	for do, want := range map[string]string{
		"app": "status migrate", "none": "", "limit": strings.Repeat("x", lumirpc.MaxToken),
	} {
		if got, err := p.Provision(within(t), secretChange(do)); got != want || err != nil {
			t.Errorf("Provision of %s = %q, %v, want %q", do, got, err, want)
		}
	}
	metadata := func(v any) map[string]provisioner.Properties {
		return map[string]provisioner.Properties{"k": {"a": []any{true, v}}}
	}
	for token, want := range map[string]*provisioner.Status{
		"running": {State: provisioner.Running, Message: "waits for a review �"},
		"typed": {State: provisioner.Done, Metadata: metadata(
			map[string]any{"secrets": []any{provisioner.Secret{Value: "hidden"}}, "Count": 3.0})},
		"telling": {
			State: provisioner.Done, Message: "the password is (secret)",
			Metadata: metadata(provisioner.Secret{Value: "made-by-the-tool"}),
		},
	} {
		got, err := p.Status(within(t), token)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("Status of %s: error = %v (-want +got):\n%s", token, err, diff)
		}
	}
	must.Do(t, p.Close())
	var e *plugin.Error
	if _, err := p.Status(within(t), "running"); !errors.As(err, &e) || e.Error() != "the plugin is closed" {
		t.Errorf("Status after Close returned %v, want a closed plugin", err)
	}
}

func TestProvisionerErrors(t *testing.T) {
	p := startProvisioner(t, nil)
	for _, test := range []struct {
		do, want string
		code     codes.Code
	}{
		{"fail", "Error: cannot use " + masks, codes.Unknown},
		{"panic", "the provisioner panicked: no luck with " + masks, codes.Internal},
		{"exit", "the provisioner ended its goroutine, as runtime.Goexit and testing.T.FailNow do", codes.Internal},
		{"large", "the provisioner returned a token of 65537 bytes: at most 65536 are allowed", codes.Internal},
		{"bytes", "the provisioner returned a token that is not UTF-8: encode it, such as in base64", codes.Internal},
	} {
		var e *plugin.Error
		if _, err := p.Provision(within(t), secretChange(test.do)); !errors.As(err, &e) || e.Code != test.code || e.Message != test.want {
			t.Errorf("Provision of %s returned %v, want code %v, %s", test.do, err, test.code, test.want)
		}
	}
	const unsendable = "the provisioner returned a status that cannot be sent: "
	for token, want := range map[string]string{
		"none":      "the provisioner returned neither a status nor an error",
		"stateless": unsendable + `invalid state "": it must be running, failed or done`,
		"confused":  unsendable + `invalid state "finished": it must be running, failed or done`,
		"NaN":       unsendable + "metadata of k: a[1]: NaN is not a JSON number",
		"channel":   unsendable + `metadata of k: a[1]["b c"]: json: unsupported type: chan int`,
		"text":      unsendable + "metadata of k: a[1]: the string is not UTF-8",
		"key":       unsendable + `metadata of k: a[1]["\xff"]: the key is not UTF-8`,
		"resource":  unsendable + `metadata of "\xff": the key is not UTF-8`,
	} {
		var e *plugin.Error
		if _, err := p.Status(within(t), token); !errors.As(err, &e) || e.Code != codes.Internal || e.Message != want {
			t.Errorf("Status of %s returned %v, want code Internal, %s", token, err, want)
		}
	}
	if _, err := p.Status(within(t), "x"); !errors.Is(err, lumi.ErrNotFound) || err.Error() != `token "x": no such resource` {
		t.Errorf("Status error = %v, want ErrNotFound", err)
	}
	if _, err := p.Plan(within(t), secretChange("fail")); err == nil || err.Error() != "failed" {
		t.Errorf("Plan error = %v, want failed", err)
	}
	var retry *lumi.RetryError
	if _, err := p.Provision(within(t), secretChange("retry")); !errors.As(err, &retry) || retry.After != 3*time.Second ||
		err.Error() != "it is locked" {
		t.Errorf("Provision error = %v, want a *RetryError after 3s", err)
	}
	c := secretChange("app")
	c.New[0].Properties["list"] = []any{map[string]any{"x": math.Inf(1)}}
	want := "properties of app:test:index:Thing::a:1: list[0].x: +Inf is not a JSON number"
	if _, err := p.Provision(within(t), c); err == nil || err.Error() != want {
		t.Errorf("Provision error = %v, want %s", err, want)
	}
	c = secretChange("app")
	c.Old[0].Metadata["x"] = make(chan int)
	want = "metadata of app:test:index:Thing::a:1: x: json: unsupported type: chan int"
	if _, err := p.Plan(within(t), c); err == nil || err.Error() != want {
		t.Errorf("Plan error = %v, want %s", err, want)
	}
	// The plugin survives all of these calls.
	must.Get(p.Provision(within(t), secretChange("app")))(t)
}

func TestProvisionerEvents(t *testing.T) {
	var got recorder
	p := startProvisioner(t, got.sink)
	must.Get(p.Provision(within(t), secretChange("log")))(t)
	want := []lumi.Event{
		{Level: slog.LevelWarn, Message: `slow secrets="` + masks + `"`},
		{Level: slog.LevelInfo, Message: "a: 1 of 2", Progress: true},
	}
	if diff := cmp.Diff(want, got.all()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	must.Do(t, p.Close())
	log := p.log.String()
	if want := `level=INFO msg=using provisioner=tool secrets="` + masks + "\"\n"; !strings.HasSuffix(log, want) || strings.Count(log, "\n") != 1 {
		t.Errorf("log = %s, want one line ending in %s", log, want)
	}
}

func TestProvisionerCrash(t *testing.T) {
	p := startProvisioner(t, nil)
	var e *plugin.Error
	_, err := p.Provision(within(t), secretChange("die"))
	if !errors.As(err, &e) || e.Code != codes.Unavailable || !strings.HasPrefix(e.Message, "the plugin is gone (signal: killed): ") {
		t.Errorf("Provision error = %v, want a killed plugin", err)
	}
	if err := p.Close(); err == nil || err.Error() != "the plugin did not exit cleanly: signal: killed" {
		t.Errorf("Close error = %v, want a killed plugin", err)
	}
}

// asProvisioner is an option of startBare that starts a provisioner.
func asProvisioner(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, roleVariable+"=provisioner") }

func TestProvisionerOrder(t *testing.T) {
	b := startBare(t, asProvisioner)
	conn := must.Get(grpc.NewClient(b.address, grpc.WithTransportCredentials(insecure.NewCredentials())))(t)
	defer conn.Close()
	client := lumirpc.NewProvisionerClient(conn)
	good := &lumirpc.ProvisionerHandshakeRequest{ProtocolVersion: lumirpc.ProtocolVersion}
	for _, ctx := range []context.Context{within(t), with(within(t), "wrong"), with(within(t), bareSecret, "wrong")} {
		if _, err := client.Handshake(ctx, good); status.Code(err) != codes.Unauthenticated {
			t.Errorf("Handshake without the secret returned %v, want Unauthenticated", err)
		}
	}
	_, err := client.Handshake(with(within(t), bareSecret), &lumirpc.ProvisionerHandshakeRequest{ProtocolVersion: 2})
	want := "the engine speaks protocol version 2, the plugin speaks version 1: update the older one"
	if s := status.Convert(err); s.Code() != codes.FailedPrecondition || s.Message() != want {
		t.Errorf("Handshake error = %v, want %s", err, want)
	}
	for _, method := range lumirpc.Provisioner_ServiceDesc.Methods {
		if method.MethodName == "Handshake" {
			continue
		}
		full := "/" + lumirpc.Provisioner_ServiceDesc.ServiceName + "/" + method.MethodName
		err := conn.Invoke(with(within(t), bareSecret), full, &structpb.Struct{}, &structpb.Struct{})
		want := method.MethodName + " was called before Handshake"
		if s := status.Convert(err); s.Code() != codes.FailedPrecondition || s.Message() != want {
			t.Errorf("%s before Handshake returned %v, want %s", method.MethodName, err, want)
		}
	}
	stream := must.Get(client.Events(with(within(t), bareSecret), &lumirpc.EventsRequest{}))(t)
	want = "Events was called before Handshake"
	if _, err := stream.Recv(); status.Code(err) != codes.FailedPrecondition || status.Convert(err).Message() != want {
		t.Errorf("Events before Handshake returned %v, want %s", err, want)
	}
	must.Get(client.Handshake(with(within(t), bareSecret), good))(t)
	// A request without a change is equivalent to one with an empty change.
	resp, err := client.Provision(with(within(t), bareSecret), &lumirpc.ProvisionRequest{})
	if err != nil || resp.GetToken() != "status " {
		t.Errorf("Provision = %v, %v, want token \"status \"", resp, err)
	}
}

// Closing a provisioner's standard input cancels a call in flight. The call returns, and the process exits.
func TestProvisionerStop(t *testing.T) {
	p := startProvisioner(t, nil)
	var token string
	result := make(chan error, 1)
	go func() {
		var err error
		token, err = p.Provision(within(t), secretChange("wait"))
		result <- err
	}()
	p.expect(t, "waiting")
	must.Do(t, p.Close())
	p.expect(t, "canceled")
	if err := await(t, result); err != nil || token != "half" {
		t.Errorf("Provision = %q, %v, want \"half\"", token, err)
	}
	p.expectEnd(t)
}

func TestStartProvisioner(t *testing.T) {
	asProvider := func(ctx context.Context, c plugin.Command) error {
		_, err := plugin.Start(ctx, c)
		return err
	}
	asProvisioner := func(ctx context.Context, c plugin.Command) error {
		_, err := plugin.StartProvisioner(ctx, c)
		return err
	}
	for _, test := range []struct {
		role  string
		start func(context.Context, plugin.Command) error
		want  string
	}{
		{"talkative", asProvisioner, `the plugin's first line on standard output is not a port: "hello"`},
		{"failing", asProvisioner, "the plugin exited before it was ready: exit status 3\nThe plugin wrote:\nno such luck"},
		{"unknown", asProvisioner, "the plugin exited before it was ready: exit status 0"},
		{"newer provisioner", asProvisioner, "the plugin speaks protocol version 2, this program speaks version 1: update" +
			" the older one"},
		{"plugin", asProvisioner, `the plugin is the provider of package "test", not a provisioner: install it as` +
			" lumi-resource-test and put a provisioner in its place"},
		{"provisioner", asProvider, `the plugin is the provisioner "tool", not a provider: install it as` +
			" lumi-provisioner-tool and put a provider in its place"},
		{"no plugin", asProvisioner, "unknown service lumirpc.Provisioner"},
	} {
		err := test.start(within(t), plugin.Command{Path: os.Args[0], Env: env(test.role), Log: io.Discard})
		if err == nil || err.Error() != os.Args[0]+": "+test.want {
			t.Errorf("%s: start error = %v, want %s", test.role, err, test.want)
		}
	}
	_, err := plugin.StartProvisioner(within(t), plugin.Command{Path: "lumi-provisioner-nowhere"})
	if !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("StartProvisioner error = %v, want exec.ErrNotFound", err)
	}
}
