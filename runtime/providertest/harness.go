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
	"github.com/lumi-idl/lumi/runtime/internal/signed"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// TB is the part of testing.TB that the kit uses. *testing.T implements it. FailNow must end the goroutine. Functions
// passed to Cleanup must be called after the test, last added first. If the TB has a method Deadline, as *testing.T
// does, calls end early enough to delete existing resources and report what hung.
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

// Harness is a provider under test and the environment of its resources. It belongs to the test that created it: when
// the test ends, remaining resources are deleted and the provider is stopped.
type Harness struct {
	t TB
	setting
	secrets
	plugin *plugin.Plugin
	types  map[tokens.Type]*lumi.Description
	log    *buffer
	calls  transcript
	watch  watch
	// deadline limits calls in steps, and cleanupEnd limits the cleanup. Both are zero if the test has no deadline.
	deadline, cleanupEnd time.Time

	mu sync.Mutex
	// resources holds the resources that others can refer to.
	resources map[urn.URN]*Resource
	// unnamed counts the resources created by Unnamed, by type.
	unnamed map[tokens.Type]int
	// living lists existing resources in order of creation.
	living []living
}

// living is a resource to delete at the end.
type living struct {
	r     *Resource
	id    lumi.ID
	state *structpb.Struct
}

// A HarnessOption configures a harness.
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

// Environment sets the environment in all URNs, "test" by default. Tokens and seeds are derived from it, so each run
// needs a different one if the cloud remembers the tokens of earlier runs.
func Environment(name string) HarnessOption { return func(s *setting) { s.environment = name } }

// AllCalls lists all calls of a failed test, not only the calls of failed steps.
func AllCalls() HarnessOption { return func(s *setting) { s.allCalls = true } }

// Resources returns a plugin of generated providers that need no configuration. All must belong to one package. It
// panics if one is nil or two have the same type.
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

// InProcess serves a provider within the test process, so that a debugger can be used. It is called like a plugin,
// through gRPC, but over an in-memory connection. In addition to the checks of a plugin, the kit checks that the
// provider does not modify requests.
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
		_ = h.plugin.Close() // There is no process that could fail.
		cancel()
		if err := <-served; err != nil {
			h.calls.fail()
			t.Errorf("cannot stop the provider: %v", err)
		}
	})
	h.begin()
	return h
}

// noTime drops the time from log records, to make the log comparable.
func noTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// Binary starts a plugin in any language, as an engine does. Use [Build] to build one from Go source. Its log is shown
// if the test fails.
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
	// Cleanups run in reverse order, so this one runs after the provider has stopped, which may log something.
	t.Cleanup(h.report)
	return h
}

// limit ends calls, and then the cleanup, before go test would kill the process without a report or cleanup.
func (h *Harness) limit(end time.Time, limited bool) {
	if !limited {
		return
	}
	reserve := min(time.Until(end)/3, time.Minute)
	h.deadline, h.cleanupEnd = end.Add(-reserve), end.Add(-reserve*2/3)
}

// begin describes and configures the provider. Resources are deleted before it is stopped.
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
	// The transcript cannot show the configuration, since it is unknown which parts are secret.
	for _, found := range h.calls.add(&call{name: "Configure", err: err}) {
		h.t.Errorf("%s", found)
	}
	if err != nil {
		h.fatalf("the provider rejects its configuration: %v", h.mask(err.Error()))
	}
}

// report shows logs and calls if the test failed.
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

// deleteAll deletes remaining resources in reverse order, since later ones may depend on earlier ones.
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

// remove deletes a remaining resource and checks that it is gone. It takes at most half of the remaining time, so that
// others are deleted even if it hangs.
func (r *Resource) remove(ctx context.Context, l living) error {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
	}
	if err := r.callDelete(ctx, l.id, l.state); err != nil {
		return fmt.Errorf("Delete failed: %s", explain(err))
	}
	if _, err := r.callGet(ctx, lumi.Import, l.id, nil); !errors.Is(err, lumi.ErrNotFound) {
		return errors.New("Delete succeeded, but Get still finds it")
	}
	return nil
}

// track records an existing resource, to be deleted at the end.
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

// Resource declares a resource of the test, which does not exist until it is created. name is a program's name for it
// and must be unique for its type. For types whose resources programs do not name, use [Harness.Unnamed].
func (h *Harness) Resource(token tokens.Type, name string) *Resource {
	h.t.Helper()
	if name == "" {
		h.fatalf("%s: the name is empty: pass a name as a program would, or use Unnamed if programs do not name"+
			" resources of this type", token)
	}
	return h.served(token, name)
}

// Unnamed declares a resource of a type whose resources programs do not name. Its name is #1, #2 and so on until it is
// created, as in an engine, and then the result of the provider's Name.
func (h *Harness) Unnamed(token tokens.Type) *Resource {
	h.t.Helper()
	h.mu.Lock()
	h.unnamed[token]++
	name := fmt.Sprintf("#%d", h.unnamed[token])
	h.mu.Unlock()
	return h.served(token, name)
}

// served returns a resource that the provider under test serves.
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

// fatalf ends the test for a reason unrelated to the calls so far.
func (h *Harness) fatalf(format string, args ...any) {
	h.t.Helper()
	h.calls.fail()
	fatalf(h.t, format, args...)
}

// Given declares an existing resource of another test or provider that other resources can refer to. The kit does not
// call its provider. name is the last part of its URN, even if the provider chose it.
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

// references returns the existing resources that the bags refer to, as an engine would send them.
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

// secrets are masked in reports, and must not appear in the provider's output.
type secrets struct{ known *wire.Secrets }

func newSecrets() secrets { return secrets{wire.NewSecrets(nil)} }

// noteSecrets records the secret strings in a bag. Keys in secret objects may be property names, and are not recorded.
func (s secrets) noteSecrets(bag *structpb.Struct) {
	parts("", structpb.NewStructValue(bag), func(_ lumi.Path, v *structpb.Value) bool {
		if !signed.IsSecret(v) {
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
