package serve

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// patience is the timeout for anything that must happen. No test depends on its value.
const patience = 2 * time.Minute

// child is a plugin under test.
type child struct {
	*plugin.Plugin
	*marks
	log *buffer
}

// start starts the test binary with the given role.
func start(t *testing.T, role string) *child {
	t.Helper()
	return startFor(t, role, nil)
}

// startFor is like start, but with a sink for events.
func startFor(t *testing.T, role string, sink func(lumi.Event)) *child {
	t.Helper()
	c := &child{marks: newMarks(t), log: new(buffer)}
	c.Plugin = must.Get(plugin.Start(within(t), plugin.Command{
		Path: os.Args[0], Env: append(env(role), c.variable), Log: c.log, Grace: patience, Events: sink,
	}))(t)
	t.Cleanup(func() {
		_ = c.Close() // Tests of its exit have already called it.
		if t.Failed() {
			t.Logf("the plugin logged:\n%s", c.log)
		}
	})
	return c
}

// called is a plugin in a process of its own or a [Local].
type called interface {
	Configure(ctx context.Context, properties lumi.Bag) error
	Resource(token tokens.Type) (lumi.ResourceProvider, error)
	Function(token tokens.Type) (lumi.Function, error)
}

// both runs a test with the plugin of a role over gRPC and in this process. process is nil in this process.
func both(t *testing.T, role string, test func(t *testing.T, p called, process *child)) {
	t.Helper()
	t.Run("gRPC", func(t *testing.T) {
		c := start(t, role)
		test(t, c, c)
	})
	t.Run("Local", func(t *testing.T) { test(t, local(t, role), nil) })
}

// local returns the plugin of a role in this process.
func local(t *testing.T, role string) *Local {
	t.Helper()
	l := must.Get(NewLocal(pluginOf(role)))(t)
	t.Cleanup(func() { must.Do(t, l.Close()) })
	return l
}

// bothThings is like both for the provider of things.
func bothThings(t *testing.T, test func(t *testing.T, things lumi.ResourceProvider)) {
	t.Helper()
	both(t, "plugin", func(t *testing.T, p called, _ *child) { test(t, must.Get(p.Resource(thingToken))(t)) })
}

func (c *child) resource(t *testing.T, token tokens.Type) lumi.ResourceProvider {
	t.Helper()
	return must.Get(c.Resource(token))(t)
}

// within returns a context that ends after patience.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// marks receives the messages that a process sends over its lifeline.
type marks struct {
	variable string
	lines    chan string // closed when the process has exited
}

func newMarks(t *testing.T) *marks {
	t.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { listener.Close() })
	m := &marks{variable: lifelineVariable + "=" + listener.Addr().String(), lines: make(chan string, 100)}
	go func() {
		defer close(m.lines)
		conn, err := listener.Accept()
		if err != nil {
			return // The process has sent no message.
		}
		defer conn.Close()
		for lines := bufio.NewScanner(conn); lines.Scan(); {
			m.lines <- lines.Text()
		}
	}()
	return m
}

// expect waits for a message. It fails the test if it is not want.
func (m *marks) expect(t *testing.T, want string) {
	t.Helper()
	select {
	case got, ok := <-m.lines:
		if !ok || got != want {
			t.Fatalf("mark = %q, %v, want %q, true", got, ok, want)
		}
	case <-time.After(patience):
		t.Fatalf("mark %q did not arrive", want)
	}
}

// expectEnd waits for the process to exit.
func (m *marks) expectEnd(t *testing.T) {
	t.Helper()
	for {
		select {
		case _, ok := <-m.lines:
			if !ok {
				return
			}
		case <-time.After(patience):
			t.Fatal("the process is running after the timeout, want it to exit")
		}
	}
}

// buffer is a bytes.Buffer that is safe for concurrent use.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(data)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// thingBag returns the properties of a thing with the given behavior.
func thingBag(do string, more ...string) *structpb.Struct {
	bag := &structpb.Struct{Fields: map[string]*structpb.Value{
		"name": structpb.NewStringValue("a"), "do": structpb.NewStringValue(do),
	}}
	for i := 0; i < len(more); i += 2 {
		bag.Fields[more[i]] = structpb.NewStringValue(more[i+1])
	}
	return bag
}

// jsonBag decodes properties from JSON with short names for signatures.
func jsonBag(t *testing.T, json string) *structpb.Struct {
	t.Helper()
	json = strings.NewReplacer(
		"$sig", wire.Signature, "$secret", wire.Secret, "$asset", wire.Asset,
	).Replace(json)
	s := &structpb.Struct{}
	must.Do(t, protojson.Unmarshal([]byte(json), s))
	return s
}

func TestHandshake(t *testing.T) {
	p := start(t, "plugin")
	if p.Package != "test" || p.Version != "1.2.3" || p.Configurable || len(p.Types) != 2 || p.Types[0] != thingToken {
		t.Errorf("Start = %+v, want package test, version 1.2.3, 2 types", p.Plugin)
	}
	_, err := p.Resource("test:index:Nothing")
	if want := `the plugin for package "test" does not serve type "test:index:Nothing"`; err == nil || err.Error() != want {
		t.Errorf("Resource error = %v, want %s", err, want)
	}
	former := must.Get(p.Resource("test:index:Former"))(t)
	must.Get(former.Delete(within(t), &lumi.DeleteRequest{
		URN: "urn:lumi:dev::app:index::test:index:Former::a", ID: "t-1", Properties: lumi.BagOf(thingBag("nothing")),
	}))(t)
	must.Do(t, p.Close())
}

func TestValidate(t *testing.T) {
	good := resources()[thingToken]
	empty := &thingProvider{}
	for _, test := range []struct {
		pkg   string
		token tokens.Type
		r     lumi.ResourceProvider
		want  string
	}{
		{"test", thingToken, good, ""},
		{"Test", "Test:index:Thing", good, `package "Test": a package name must be words that start with a lowercase letter,` +
			" joined by /\n" + `type "Test:index:Thing": a package name must be words that start with a lowercase letter,` +
			" joined by /"},
		{"test", "test:Thing", good, `type "test:Thing": a type token must have three parts, package:module:Type`},
		{"test", "aws:ec2:VPC", good, `aws:ec2:VPC: the type is not of package "test"`},
		{"test", thingToken, nil, "test:index:Thing: the provider is nil"},
		{"test", thingToken, (*thingProvider)(nil), "test:index:Thing: the provider is nil"},
		{"test", thingToken, empty, "test:index:Thing: the provider has no operations; make it with NewThingProvider"},
		{"test", otherToken, good, "test:sub/module:Other: the provider is for type test:index:Thing"},
	} {
		p := Plugin{Package: test.pkg, Resources: map[tokens.Type]lumi.ResourceProvider{test.token: test.r}}
		got := ""
		if err := p.validate(); err != nil {
			got = strings.TrimPrefix(err.Error(), "invalid resources:\n")
		}
		if got != test.want {
			t.Errorf("validate of %s = %q, want %q", test.token, got, test.want)
		}
	}
	if err := (&Plugin{Package: "test"}).validate(); err == nil {
		t.Error("validate of a plugin without resources returned nil, want an error")
	}
}

// thingProvider is like a generated provider.
type thingProvider struct{ lumi.Provider }
