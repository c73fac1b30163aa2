package providertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// TB is the subset of testing.TB that the kit uses. *testing.T implements it. FailNow must end the calling goroutine.
// Functions passed to Cleanup must be called after the test, in last added, first called order. If a TB has a method
// Deadline, like *testing.T, calls end early enough to delete remaining resources and report which call hung.
type TB interface {
	Helper()
	Context() context.Context
	Cleanup(f func())
	Errorf(format string, args ...any)
	FailNow()
	Failed() bool
	Logf(format string, args ...any)
}

func fatalf(t TB, format string, args ...any) {
	t.Helper()
	t.Errorf(format, args...)
	t.FailNow()
}

// Harness runs a provider under test and holds the environment of its resources. When the test that created it ends, it
// deletes remaining resources and stops the provider.
type Harness struct {
	t TB
	setting
	secrets
	plugin *plugin.Plugin
	types  map[tokens.Type]*lumi.Description
	log    *buffer
	calls  transcript
	watch  watch
	// deadline is the deadline of calls in steps, and cleanupEnd is the deadline of the cleanup. They are zero if the test
	// has no deadline.
	deadline, cleanupEnd time.Time

	mu sync.Mutex
	// resources maps the URNs of declared resources to the resources.
	resources map[urn.URN]*Resource
	// unnamed is the number of resources declared by Unnamed, by type.
	unnamed map[tokens.Type]int
	// living lists the existing resources in order of creation.
	living []living
}

// living is an existing resource, which is deleted at the end.
type living struct {
	r     *Resource
	id    lumi.ID
	state *structpb.Struct
}

// A HarnessOption is an option of [InProcess] and [Binary].
type HarnessOption func(*setting)

type setting struct {
	config      Properties
	environment string
	allCalls    bool
	onStep      func(r *Resource, step string) // nil to ignore steps
	cleanupTime time.Duration
	term        func(name string) string
}

// Config sets the provider's configuration.
func Config(properties Properties) HarnessOption { return func(s *setting) { s.config = properties } }

// Environment sets the environment in all URNs. The default is "test". Tokens and seeds are derived from it, so use a
// different one for each run if the cloud remembers the tokens of earlier runs.
func Environment(name string) HarnessOption { return func(s *setting) { s.environment = name } }

// AllCalls lists all calls if the test fails, not only the calls of failed steps.
func AllCalls() HarnessOption { return func(s *setting) { s.allCalls = true } }

// Resources returns a plugin with the given generated providers, which must belong to one package and need no
// configuration. It panics if a provider is nil, or if two have the same type.
func Resources(providers ...interface {
	lumi.ResourceProvider
	Token() tokens.Type
}) serve.Plugin {
	p := serve.Plugin{Resources: map[tokens.Type]lumi.ResourceProvider{}}
	for i, r := range providers {
		if r == nil {
			panic(fmt.Sprintf("providertest: provider %d is nil", i+1))
		}
		if _, twice := p.Resources[r.Token()]; twice {
			panic(fmt.Sprintf("providertest: two providers for type %s", r.Token()))
		}
		p.Package = r.Token().Package()
		p.Resources[r.Token()] = r
	}
	return p
}

// InProcess serves a plugin in the test process, which makes it easy to debug. Calls use gRPC over an in-memory
// connection. In addition to the checks made with [Binary], the kit checks that providers do not modify requests.
func InProcess(t TB, p serve.Plugin, options ...HarnessOption) *Harness {
	t.Helper()
	h := newHarness(t, options)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	listener := bufconn.Listen(1 << 20)
	log := slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: noTime}))
	served := make(chan error, 1)
	go func() { served <- serve.Serve(ctx, h.watch.provider(p), listener, log) }()
	var err error
	h.plugin, err = plugin.Connect(t.Context(), func(ctx context.Context) (net.Conn, error) {
		return listener.DialContext(ctx)
	}, h.calls.event)
	if err != nil {
		cancel()
		if reason := <-served; reason != nil {
			err = reason
		}
		fatalf(t, "cannot serve the provider: %v", err)
	}
	t.Cleanup(func() {
		_ = h.plugin.Close() // It cannot fail without a process.
		cancel()
		if err := <-served; err != nil {
			h.calls.fail()
			t.Errorf("cannot stop the provider: %v", err)
		}
	})
	h.begin()
	return h
}

// noTime removes the time from log records, to make logs deterministic.
func noTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// Binary starts a plugin in any language, like an engine. Use [Build] to build one from Go source. Unless c.Log is set, the
// plugin's log is shown if the test fails.
func Binary(t TB, c plugin.Command, options ...HarnessOption) *Harness {
	t.Helper()
	h := newHarness(t, options)
	if c.Raw = true; c.Log == nil {
		c.Log = h.log
	}
	if events := c.Events; events != nil {
		c.Events = func(e lumi.Event) { h.calls.event(e); events(e) }
	} else {
		c.Events = h.calls.event
	}
	var err error
	if h.plugin, err = plugin.Start(t.Context(), c); err != nil {
		fatalf(t, "cannot start the plugin: %v", err)
	}
	t.Cleanup(func() {
		if err := h.plugin.Close(); err != nil {
			h.calls.fail()
			t.Errorf("cannot stop the plugin: %v", err)
		}
	})
	h.begin()
	return h
}

func newHarness(t TB, options []HarnessOption) *Harness {
	h := &Harness{
		t: t, log: &buffer{}, types: map[tokens.Type]*lumi.Description{},
		resources: map[urn.URN]*Resource{}, unnamed: map[tokens.Type]int{}, secrets: newSecrets(),
		setting: setting{
			environment: environment, cleanupTime: 10 * time.Minute, term: func(name string) string { return name },
		},
	}
	h.calls.h, h.calls.events = h, map[urn.URN][]lumi.Event{}
	for _, option := range options {
		option(&h.setting)
	}
	if limited, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		h.limit(limited.Deadline())
	}
	// Cleanups run in reverse order, so the report includes logs written while the provider stops.
	t.Cleanup(h.report)
	return h
}

// limit sets the deadlines of calls and of the cleanup to end before the test's own deadline, at which go test kills the
// process without a cleanup or report. limited is false if the test has no deadline.
func (h *Harness) limit(end time.Time, limited bool) {
	if !limited {
		return
	}
	reserve := min(time.Until(end)/3, time.Minute)
	h.deadline, h.cleanupEnd = end.Add(-reserve), end.Add(-reserve*2/3)
}

// begin reads the provider's descriptions and configures it. It registers the deletion of resources, which runs before the
// provider is stopped.
func (h *Harness) begin() {
	h.t.Helper()
	h.t.Cleanup(h.deleteAll)
	described, err := h.plugin.Describe(h.t.Context())
	if err != nil {
		h.fatalf("the provider cannot describe its types: %v", err)
	}
	for _, d := range described {
		h.types[d.Type] = d
	}
	if h.config == nil && !h.plugin.Configurable {
		return
	}
	properties, err := h.config.encode()
	if err != nil {
		h.fatalf("cannot encode the configuration:\n%s", indent(err.Error()))
	}
	err = h.plugin.Configure(h.t.Context(), lumi.BagOf(properties))
	h.noteSecrets(properties)
	// The transcript omits the configuration, since its secrets are not known.
	for _, found := range h.calls.add(&call{name: "Configure", err: err}) {
		h.t.Errorf("%s", found)
	}
	if err != nil {
		h.fatalf("the provider rejects its configuration: %v", h.mask(err.Error()))
	}
}

// report logs the provider's log and the calls if the test failed. It fails the test if the log contains a secret.
func (h *Harness) report() {
	log := h.log.String()
	if shown := h.mask(log); shown != log {
		h.calls.fail()
		h.t.Errorf("the provider's log contains a secret:\n%s", indent(shown))
	} else if log != "" && h.t.Failed() {
		h.t.Logf("the provider logged:\n%s", indent(log))
	}
	if calls := h.calls.String(); calls != "" && h.t.Failed() {
		h.t.Logf("%s", calls)
	}
}

// deleteAll deletes the remaining resources in reverse order of creation, since later ones may depend on earlier ones.
func (h *Harness) deleteAll() {
	h.mu.Lock()
	left := slices.Clone(h.living)
	h.mu.Unlock()
	end := time.Now().Add(h.cleanupTime)
	if !h.cleanupEnd.IsZero() && h.cleanupEnd.Before(end) {
		end = h.cleanupEnd
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(h.t.Context()), end)
	defer cancel()
	for _, l := range slices.Backward(left) {
		l.r.doing, l.r.began = "clean up", h.calls.made()
		if err := l.r.remove(ctx, l); err != nil {
			h.calls.fail(stepKey{l.r, l.r.began})
			h.t.Errorf("%s: cannot clean up %s: %s", l.r, l.id, h.mask(err.Error()))
		} else if h.t.Failed() {
			h.t.Logf("%s: cleaned up %s", l.r, l.id)
		}
		h.untrack(l.id, l.r)
	}
}

// remove deletes a remaining resource and returns an error if the resource still exists. It takes at most half of the
// remaining time, so that others are deleted even if a call hangs.
func (r *Resource) remove(ctx context.Context, l living) error {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
	}
	if err := r.callDelete(ctx, r.newChange(l.id, l.state, nil)); err != nil {
		return fmt.Errorf("Delete failed: %s", explain(err))
	}
	if _, err := r.callGet(ctx, lumi.Import, l.id, nil); !errors.Is(err, lumi.ErrNotFound) {
		return errors.New("Delete succeeded, but Get still finds it")
	}
	return nil
}

// track records an existing resource and its state, for deletion at the end.
func (h *Harness) track(r *Resource, id lumi.ID, state *structpb.Struct) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.living, func(l living) bool { return l.r == r && l.id == id })
	if i < 0 {
		i = len(h.living)
		h.living = append(h.living, living{r: r, id: id})
	}
	h.living[i].state = state
}

func (h *Harness) untrack(id lumi.ID, r *Resource) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.living = slices.DeleteFunc(h.living, func(l living) bool { return l.r == r && l.id == id })
}

// Resource declares a resource, which does not exist until the test creates it. name is the program's name for the resource
// and must be unique for the type. If programs do not name resources of the type, use [Harness.Unnamed].
func (h *Harness) Resource(token tokens.Type, name string) *Resource {
	h.t.Helper()
	if name == "" {
		h.fatalf("%s: the name is empty: pass a name as a program would, or use Unnamed if programs do not name"+
			" resources of this type", token)
	}
	return h.served(token, name)
}

// Unnamed declares a resource of a type whose resources programs do not name. As in an engine, its name is a placeholder,
// such as #1, until it is created, and then the name returned by the provider.
func (h *Harness) Unnamed(token tokens.Type) *Resource {
	h.t.Helper()
	h.mu.Lock()
	h.unnamed[token]++
	name := fmt.Sprintf("#%d", h.unnamed[token])
	h.mu.Unlock()
	return h.served(token, name)
}

// served declares a resource of a type served by the provider under test. It ends the test if the type is not served.
func (h *Harness) served(token tokens.Type, name string) *Resource {
	h.t.Helper()
	r := h.newResource(token, name)
	var err error
	if r.provider, err = h.plugin.Resource(token); err != nil {
		h.fatalf("%v", err)
	}
	if r.described = h.types[token]; r.described == nil {
		h.fatalf("the provider serves type %q but does not describe it", token)
	}
	return r
}

// fatalf ends the test because of a failure unrelated to the calls so far.
func (h *Harness) fatalf(format string, args ...any) {
	h.t.Helper()
	h.calls.fail()
	fatalf(h.t, format, args...)
}

// Given declares an existing resource of another test or provider, which other resources can refer to. The kit does not call
// its provider. name is the last part of its URN, even if programs do not name resources of the type.
func (h *Harness) Given(token tokens.Type, name string, id lumi.ID, properties Properties) *Resource {
	h.t.Helper()
	if name == "" {
		h.fatalf("%s: the name is empty: pass the last part of the resource's URN, any name if it does not matter", token)
	}
	r := h.newResource(token, name)
	bag, err := properties.encode()
	if err != nil {
		h.fatalf("%s: cannot encode the properties:\n%s", r, indent(err.Error()))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	r.id, r.state = id, bag
	return r
}

func (h *Harness) newResource(token tokens.Type, name string) *Resource {
	h.t.Helper()
	if _, err := tokens.Parse(string(token)); err != nil {
		h.fatalf("type %v", err)
	}
	r := &Resource{h: h, token: token, name: name, described: &lumi.Description{}}
	u, err := r.format(name)
	if err != nil {
		h.fatalf("%v", err)
	}
	r.first = u
	h.mu.Lock()
	_, taken := h.resources[u]
	h.mu.Unlock()
	if taken {
		h.fatalf("resource %s already exists: choose another name", r)
	}
	h.rename(r, u)
	return r
}

func (h *Harness) rename(r *Resource, u urn.URN) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.resources[r.urn] == r {
		delete(h.resources, r.urn)
	}
	r.urn = u
	h.resources[u] = r
}

// references returns the references in bags to existing resources, as sent by an engine.
func (h *Harness) references(bags ...*structpb.Struct) lumi.References {
	h.mu.Lock()
	defer h.mu.Unlock()
	refs := lumi.References{}
	for _, bag := range bags {
		for s := range texts(structpb.NewStructValue(bag)) {
			if r := h.resources[urn.URN(s)]; r != nil && r.id != "" {
				refs[r.urn] = lumi.Reference{ID: r.id, Properties: lumi.BagOf(clone(r.state))}
			}
		}
	}
	return refs
}

// resolved returns the answer of Get with references by id changed to the URNs of the harness's resources.
func (h *Harness) resolved(bag *structpb.Struct) *structpb.Struct {
	h.mu.Lock()
	defer h.mu.Unlock()
	bag = clone(bag)
	parts("", structpb.NewStructValue(bag), func(_ lumi.Path, v *structpb.Value) bool {
		u := urn.URN(v.GetStringValue())
		if id, isByID := u.ID(); isByID {
			for _, r := range h.resources {
				if r.token == u.Type() && string(r.id) == id {
					v.Kind = &structpb.Value_StringValue{StringValue: string(r.urn)}
				}
			}
		}
		return true
	})
	return bag
}

// secrets holds secrets, which are masked in reports and must not appear in the provider's output.
type secrets struct{ known *wire.Secrets }

func newSecrets() secrets { return secrets{wire.NewSecrets(nil)} }

// noteSecrets records the secret strings in a bag. It does not record keys of secret objects, which may be property names.
func (s secrets) noteSecrets(bag *structpb.Struct) {
	parts("", structpb.NewStructValue(bag), func(_ lumi.Path, v *structpb.Value) bool {
		if !isSecret(v) {
			return true
		}
		for text := range texts(reveal(v)) {
			if text != wire.Unknown {
				s.known.AddValue(text)
			}
		}
		return false
	})
}

func (s secrets) mask(text string) string { return wire.Mask(text, s.known) }

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
