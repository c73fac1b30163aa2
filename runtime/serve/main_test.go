package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/content"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// This file contains the plugins under test. A plugin is the test binary itself, started with an environment variable that
// selects the plugin.

const (
	roleVariable     = "LUMI_TEST_ROLE"
	lifelineVariable = "LUMI_TEST_LIFELINE"
)

func TestMain(m *testing.M) {
	role, ok := os.LookupEnv(roleVariable)
	if !ok {
		os.Exit(m.Run())
	}
	play(role)
	os.Exit(0)
}

func play(role string) {
	switch role {
	case "plugin", "configurable":
		Main(pluginOf(role))
	case "misregistered":
		p := pluginOf("plugin")
		p.Resources[thingToken] = nil
		Main(p)
	case "provisioner":
		MainProvisioner("tool", "2.0.0", tool{})
	case "misnamed provisioner":
		MainProvisioner("Tool", "", tool{})
	case "no provisioner":
		MainProvisioner("tool", "", (*tool)(nil))
	case "newer provisioner":
		beForeign(func(s *grpc.Server) { lumirpc.RegisterProvisionerServer(s, newerTool{}) })
	case "no plugin":
		beForeign(func(*grpc.Server) {})
	case "parent":
		beParent()
	case "parent of silent":
		_, err := plugin.Start(context.Background(), plugin.Command{Path: os.Args[0], Env: env("silent")})
		panic(err)
	case "parent of silent provisioner":
		_, err := plugin.StartProvisioner(context.Background(), plugin.Command{Path: os.Args[0], Env: env("silent")})
		panic(err)
	case "newer":
		beForeign((&foreign{version: lumirpc.ProtocolVersion + 1}).register)
	case "foreign":
		beForeign((&foreign{version: lumirpc.ProtocolVersion}).register)
	case "talkative":
		fmt.Println("hello")
		select {}
	case "silent":
		mark("silent")
		select {}
	case "stuck":
		child := exec.Command(os.Args[0])
		child.Env, child.Stdout, child.Stderr = env("silent"), os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			panic(err)
		}
		fmt.Fprintln(os.Stderr, "waiting for a license")
		select {}
	case "stuck server":
		beForeign((&foreign{version: lumirpc.ProtocolVersion, stuck: true}).register)
	case "stuck events":
		beForeign((&foreign{version: lumirpc.ProtocolVersion, stuckEvents: true}).register)
	case "failing":
		fmt.Fprintln(os.Stderr, "no such luck")
		os.Exit(3)
	}
}

// pluginOf returns the plugin with the role "plugin" or "configurable".
func pluginOf(role string) Plugin {
	p := Plugin{Package: "test", Version: "1.2.3", Resources: resources(), Functions: functions()}
	if role == "plugin" {
		return p
	}
	p.Configure = Configure(func(ctx context.Context, c *config) error {
		switch c.Region {
		case "nowhere":
			return lumi.Faultf("region", "there is nothing")
		case "panic":
			panic("no region")
		}
		switch c.Region {
		case "log":
			lumi.Log(ctx).Info("configuring", "password", c.Password)
			return nil
		case "leak":
			slog.Info("configuring", "password", c.Password)
			return fmt.Errorf("no account with %q", c.Password)
		case "leaking fault":
			return lumi.Faultf("password", "%q is wrong", c.Password)
		}
		mark("configured " + c.Region + " " + c.Password)
		configured = c.Password
		return nil
	})
	return p
}

// beParent starts a plugin, makes a call that never returns, and waits to be killed.
func beParent() {
	p, err := plugin.Start(context.Background(), plugin.Command{
		Path: os.Args[0], Env: env("plugin"), Events: func(lumi.Event) {},
	})
	if err != nil {
		panic(err)
	}
	things, err := p.Resource(thingToken)
	if err != nil {
		panic(err)
	}
	_, err = things.Create(context.Background(), &lumi.CreateRequest{URN: thingURN, Properties: lumi.BagOf(thingBag("tidy"))})
	panic(err)
}

// foreign is a plugin with mistakes, implemented without this package.
type foreign struct {
	lumirpc.UnimplementedResourceProviderServer
	version            int32
	stuck, stuckEvents bool
}

func (f *foreign) register(s *grpc.Server) { lumirpc.RegisterResourceProviderServer(s, f) }

func beForeign(register func(*grpc.Server)) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	server := grpc.NewServer()
	register(server)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		server.Stop()
	}()
	if err := server.Serve(listener); err != nil {
		panic(err)
	}
}

func (f *foreign) Handshake(ctx context.Context, _ *lumirpc.HandshakeRequest) (*lumirpc.HandshakeResponse, error) {
	if f.stuck { // Notice the deadline before the caller, which may happen on a busy machine.
		deadline, _ := ctx.Deadline()
		time.Sleep(time.Until(deadline) - 100*time.Millisecond)
		return nil, status.Error(codes.DeadlineExceeded, context.DeadlineExceeded.Error())
	}
	return &lumirpc.HandshakeResponse{
		ProtocolVersion: f.version, Package: "test", Types: []string{string(thingToken)},
	}, nil
}

func (f *foreign) Events(r *lumirpc.EventsRequest, s grpc.ServerStreamingServer[lumirpc.Event]) error {
	if f.stuckEvents {
		<-s.Context().Done()
	}
	return f.UnimplementedResourceProviderServer.Events(r, s)
}

func (*foreign) Create(context.Context, *lumirpc.CreateRequest) (*lumirpc.CreateResponse, error) {
	return &lumirpc.CreateResponse{Id: "t-1", Failure: &spb.Status{}}, nil
}

func (*foreign) InspectChange(
	context.Context, *lumirpc.InspectChangeRequest,
) (*lumirpc.InspectChangeResponse, error) {
	return &lumirpc.InspectChangeResponse{Changes: []*lumirpc.Change{{Path: "x"}}}, nil
}

func (*foreign) Get(context.Context, *lumirpc.GetRequest) (*lumirpc.GetResponse, error) {
	return &lumirpc.GetResponse{}, nil
}

func (*foreign) Check(context.Context, *lumirpc.CheckRequest) (*lumirpc.CheckResponse, error) {
	return nil, status.Error(codes.FailedPrecondition, "no details")
}

// env returns the environment of a process with the given role. It includes the lifeline's variable.
func env(role string) []string {
	// By default, the race detector sleeps for a second before the process exits.
	return append(os.Environ(), roleVariable+"="+role, "GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE"))
}

// mark sends a message to the test over the lifeline, a connection that closes when the process exits.
func mark(what string) {
	conn, err := lifeline()
	if err == nil && conn != nil {
		_, err = fmt.Fprintln(conn, what)
	}
	if err != nil {
		panic(err)
	}
}

var lifeline = sync.OnceValues(func() (net.Conn, error) {
	address := os.Getenv(lifelineVariable)
	if address == "" {
		return nil, nil
	}
	return net.Dial("tcp", address)
})

// config is like a generated struct of a configuration.
type config struct {
	Region   string
	Password string
}

func (c *config) Lumi(p *lumi.Props) {
	lumi.Required(p, "region", &c.Region, lumi.String)
	lumi.Required(p, "password", &c.Password, lumi.String, lumi.Secret)
}

var configured string

const (
	thingToken tokens.Type = "test:index:Thing"
	otherToken tokens.Type = "test:sub/module:Other"
	thingURN               = "urn:lumi:dev::app:index::test:index:Thing::a"
	otherURN               = "urn:lumi:dev::app:index::test:sub/module:Other::#1"
)

func resources() map[tokens.Type]lumi.ResourceProvider {
	empty := func() *thing { return new(thing) }
	named, unnamed := lumi.NewNamedProvider(thingToken, empty, finder{}).NameScope("fixed"), lumi.NewProvider(otherToken, empty, ops{}).Formerly("test:index:Former")
	return map[tokens.Type]lumi.ResourceProvider{thingToken: &named, otherToken: &unnamed}
}

// thing is like a generated struct of a resource. The property "do" selects the provider's behavior.
type thing struct {
	Name   string
	Do     string
	Fixed  *string
	Secret *string
	// Vault contains secrets, including Password, which is set by the provider.
	Vault    map[string]vault
	Password *string
	List     []string
	Code     *lumi.Archive
	// Attachments are assets in various places.
	Attachments map[string][]attachment
	Result      *string
}

// vault has properties whose names may be equal to secrets.
type vault struct {
	Password *string
	Anything any
}

func (s *vault) Lumi(p *lumi.Props) {
	lumi.Optional(p, "password", &s.Password, lumi.String, lumi.Secret)
	lumi.Nilable(p, "anything", &s.Anything, lumi.Any)
}

type attachment struct {
	Title *string
	Asset *lumi.Asset
}

func (s *attachment) Lumi(p *lumi.Props) {
	lumi.Optional(p, "asset", &s.Asset, lumi.AssetValue)
	lumi.Optional(p, "title", &s.Title, lumi.String)
}

func (s *thing) Lumi(p *lumi.Props) {
	lumi.Required(p, "name", &s.Name, lumi.With(lumi.String, lumi.MinLength(1), lumi.MaxLength(63), lumi.Pattern("^[^ ]")), lumi.Replaces)
	lumi.Required(p, "do", &s.Do, lumi.String)
	lumi.Optional(p, "fixed", &s.Fixed, lumi.String, lumi.Replaces)
	lumi.Optional(p, "secret", &s.Secret, lumi.String, lumi.Secret)
	lumi.Nilable(p, "list", &s.List, lumi.List(lumi.String))
	lumi.Optional(p, "code", &s.Code, lumi.ArchiveValue)
	lumi.Nilable(p, "vault", &s.Vault, lumi.Map(lumi.Struct[*vault]()))
	lumi.Optional(p, "password", &s.Password, lumi.String, lumi.Secret, lumi.Out)
	lumi.Nilable(p, "attachments", &s.Attachments, lumi.Map(lumi.List(lumi.Struct[*attachment]())))
	lumi.Optional(p, "result", &s.Result, lumi.String, lumi.Out)
}

type ops struct{}

type state = lumi.State[*thing]

// do implements the behavior selected by the property "do".
func (o ops) do(ctx context.Context, s *state) error {
	switch verb, object, _ := strings.Cut(s.Properties.Do, " "); verb {
	case "leak":
		return leak(object, s)
	case "log":
		return logs(ctx, object, s)
	case "wrap":
		s.Properties.Do = object
		return fmt.Errorf("around %w here", o.do(ctx, s))
	case "replace":
		return &lumi.ReplaceError{Paths: []lumi.Path{"list"}}
	case "output":
		return &lumi.OutputError{Faults: []lumi.Fault{{Path: "result", Message: "is wrong"}}}
	case "uncertain":
		return lumi.Uncertain(errors.New("no answer"))
	case "die":
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "token":
		s.Properties.Result = &s.Token
		if object == "fails" {
			return errors.New(s.Token)
		}
	case "defaults":
		s.Properties.Fixed = new(s.Seed.Name("n-", 8, lumi.LowerAlphanumeric))
		if s.Old != nil {
			s.Properties.List = []string{s.Old.Do}
		}
	case "fault":
		return errors.Join(lumi.Faultf("do", "is a fault"), lumi.Faultf("list[0]", "is another"))
	case "wrapped": // in every possible way
		return fmt.Errorf("in all: %w", errors.Join(
			fmt.Errorf("at first: %w (which is bad)", lumi.Faultf("do", "is a fault")),
			errors.New("something else"),
			fmt.Errorf("%w after %w", lumi.Faultf("list[0]", "is another"), errors.New("the failure")),
			&lumi.InvalidError{Faults: []lumi.Fault{{Path: "x", Message: "is the third"}, {Message: "is the fourth"}}},
		))
	case "retry-fault":
		return fmt.Errorf("later: %w", &lumi.RetryError{Err: lumi.Faultf("do", "is a fault")})
	case "zero-retry":
		return &lumi.RetryError{}
	case "zero-invalid":
		return fmt.Errorf("oh: %w", &lumi.InvalidError{})
	case "zero-output":
		return &lumi.OutputError{}
	case "exists":
		return fmt.Errorf("w: %w", &lumi.PartialError{ID: lumi.ID(object), Err: lumi.Faultf("do", "bad")})
	case "half-gone":
		return errors.Join(lumi.ErrNotFound, errors.New("could not delete bucket"))
	case "nil-fault":
		return (*lumi.Fault)(nil)
	case "nil-retry":
		return (*lumi.RetryError)(nil)
	case "nil-invalid":
		return (*lumi.InvalidError)(nil)
	case "nil-output":
		return (*lumi.OutputError)(nil)
	case "nil-replace":
		return (*lumi.ReplaceError)(nil)
	case "nil-partial":
		return (*lumi.PartialError)(nil)
	case "unsupported": // as for links on some file systems
		return fmt.Errorf("link: %w", errors.ErrUnsupported)
	case "fail":
		return errors.New("failed")
	case "retry":
		return fmt.Errorf("slow down: %w", &lumi.RetryError{Err: errors.New("too fast"), After: 3 * time.Second})
	case "inner":
		return fmt.Errorf("the cloud: %w", context.DeadlineExceeded)
	case "missing":
		return fmt.Errorf("%s: %w", object, lumi.ErrNotFound)
	case "unsendable":
		s.Properties.Result = new("\xff")
	case "faults":
		var all []error
		for i := range 100_000 {
			all = append(all, lumi.Faultf(lumi.Path("list").Index(i), "is wrong"))
		}
		return errors.Join(all...)
	case "long":
		return errors.New(strings.Repeat("ä", 1<<20) + "\xff")
	case "garbled":
		return errors.New("not text: \xff")
	case "malformed":
		return &lumi.PartialError{ID: "t-1", Properties: lumi.BagOf(thingBag("\xff"))}
	case "panic":
		_ = s.Properties.List[7]
	case "crash":
		go panic("in a goroutine of the author's")
		<-ctx.Done()
	case "flood":
		part := bytes.Repeat([]byte("x"), 1<<20)
		for range 64 {
			_, _ = os.Stderr.Write(part)
		}
		_, _ = os.Stderr.WriteString(strings.Repeat("\nmore", 2000) + "\n")
	case "wait":
		mark("waiting")
		<-ctx.Done()
		lumi.Log(ctx).Info("giving up")
		mark("canceled")
		return ctx.Err()
	case "tidy":
		mark("waiting")
		<-ctx.Done()
		fmt.Fprintln(os.Stderr, "I was canceled, and tidy up")
		fmt.Println("So I do.")
		mark("tidied up")
	case "exit":
		runtime.Goexit()
	case "hang":
		mark("hanging")
		select {}
	case "environment":
		s.Properties.Result = new(strings.Join(os.Environ(), "\n"))
	case "deadline":
		_, ok := ctx.Deadline()
		s.Properties.Result = new(fmt.Sprint(ok))
	case "read":
		var names []string
		err := content.Walk(ctx, *s.Properties.Code, func(f content.File) error {
			data, err := io.ReadAll(f.Content)
			names = append(names, f.Name+"="+string(data))
			return err
		})
		s.Properties.Result = new(strings.Join(names, " "))
		return err
	case "print":
		fmt.Println(object)
	case "reference":
		ref, _ := s.Refs.Resolve(otherURN)
		s.Properties.Result = new(string(ref.ID) + " " + ref.Properties.Struct().GetFields()["name"].GetStringValue())
	case "length":
		if s.Properties.Fixed != nil {
			s.Properties.Result = s.Properties.Fixed
		}
	}
	return nil
}

func (o ops) Check(ctx context.Context, want *state) error { return o.do(ctx, want) }

func (o ops) Name(ctx context.Context, want *state) (string, error) {
	return "named " + want.Properties.Do, o.do(ctx, want)
}

func (o ops) Create(ctx context.Context, want *state) (lumi.ID, error) {
	if verb, rest, _ := strings.Cut(want.Properties.Do, " "); verb == "partly" {
		want.Properties.Do = rest
		want.Properties.Result = new("half")
		want.Done("secret", "fixed")
		return "t-half", o.do(ctx, want)
	}
	if want.Properties.Do == "nonsense" {
		return "\xff", nil
	}
	if err := o.do(ctx, want); err != nil {
		return "", err
	}
	return "t-1", nil
}

func (o ops) Get(ctx context.Context, id lumi.ID, old *state) (*thing, error) {
	got := &thing{Name: "a", Do: string(id), Secret: new("hush")}
	if old != nil {
		ref, _ := old.Refs.Resolve(otherURN)
		got.List = []string{string(old.URN), string(old.ID), old.Properties.Do, string(ref.ID)}
	}
	return got, o.do(ctx, &state{Properties: got})
}

func (o ops) InspectChange(ctx context.Context, _, want *state, diff *lumi.Diff) error {
	diff.Replace("list")
	switch want.Properties.Do {
	case "ignore":
		diff.Ignore("do")
		diff.Ignore("secret")
	case "delete first":
		diff.DeleteBeforeReplace()
	}
	return o.do(ctx, want)
}

func (o ops) Update(ctx context.Context, _, want *state, _ *lumi.Diff) error {
	if verb, rest, _ := strings.Cut(want.Properties.Do, " "); verb == "partly" {
		want.Properties.Do = rest
		want.Done("do")
		return o.do(ctx, want)
	}
	want.Properties.Result = new("updated")
	return o.do(ctx, want)
}

// finder is ops with the optional operations.
type finder struct{ ops }

func (finder) IdempotentCreate() bool { return true }

func (finder) RepeatableChange() bool { return true }

func (f finder) Find(ctx context.Context, want *state) (lumi.ID, error) {
	if want.Properties.Do == "nonsense" {
		return "\xff", nil
	}
	return lumi.ID("t-" + want.Token), f.do(ctx, want)
}

func (o ops) Delete(ctx context.Context, old *state) error { return o.do(ctx, old) }
