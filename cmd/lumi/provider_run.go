package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// providerTest is one run of 'lumi provider test'.
type providerTest struct {
	env        *environment
	name, file string // of the plugin and of the fixture
	run        *regexp.Regexp
	timeout    time.Duration
	allCalls   bool
	// environment is a part of URNs.
	environment string

	fixture   *fixture
	harness   *providertest.Harness
	resources map[*lumigl.Vertex]*providertest.Resource
	report    providerReport
}

// startTime limits how long a plugin may take to start and to be configured.
const startTime = time.Minute

// trial is a test that is not one of Go's. The functions of a test run in goroutines of their own, one at a time, so that
// FailNow can end them.
type trial struct {
	name     string
	ctx      context.Context
	failed   bool
	stopped  bool // by FailNow, in the part that was run last
	report   func(text string)
	log      func(text string)
	cleanups []func()
}

// Helper implements [providertest.TB], like the methods that follow.
func (t *trial) Helper()                         {}
func (t *trial) Name() string                    { return t.name }
func (t *trial) Context() context.Context        { return t.ctx }
func (t *trial) Cleanup(f func())                { t.cleanups = append(t.cleanups, f) }
func (t *trial) Failed() bool                    { return t.failed }
func (t *trial) Logf(format string, args ...any) { t.log(fmt.Sprintf(format, args...)) }
func (t *trial) Errorf(format string, args ...any) {
	t.failed = true
	t.report(fmt.Sprintf(format, args...))
}
func (t *trial) FailNow() { t.failed, t.stopped = true, true; runtime.Goexit() }

// do runs a part of the test, and reports whether it was not stopped by FailNow.
func (t *trial) do(part func()) bool {
	t.stopped = false
	done := make(chan struct{})
	go func() {
		defer close(done)
		part()
	}()
	<-done
	return !t.stopped
}

// end runs the cleanups.
func (t *trial) end() {
	for _, cleanup := range slices.Backward(t.cleanups) {
		t.do(cleanup)
	}
}

// test tests the plugin.
func (p *providerTest) test(ctx context.Context) error {
	var err error
	if p.fixture, err = p.env.readFixture(p.file); err != nil {
		return err
	}
	chosen := slices.DeleteFunc(slices.Clone(p.fixture.resources), func(s *fixtureResource) bool { return !p.run.MatchString(s.Key()) })
	if len(chosen) == 0 {
		return fmt.Errorf("no resource in %s matches --run=%s", p.fixture.name, p.run)
	}
	path, err := findPlugin(p.name)
	if err != nil {
		return err
	}
	ctx, release := p.env.interruptible(ctx)
	defer release()
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	root := &trial{name: p.name, ctx: ctx, report: p.report.outside, log: p.report.logged}
	defer root.end() // if the plugin cannot be tested
	if err := p.start(ctx, root, path); err != nil {
		return err
	}
	p.begin(chosen)
	p.tests(ctx, root, chosen)
	root.end()
	root.cleanups = nil
	return p.finish(ctx)
}

// isEnvironmentName reports whether a name can be a part of a URN.
func isEnvironmentName(name string) bool {
	_, err := urn.Format(urn.Parts{Environment: name, Package: "a", Module: "b", Type: "a:b:C", Name: "d"})
	return err == nil
}

// fixtureTerm returns what a part of the test kit is called on the command line, in a fixture or in the protocol.
func fixtureTerm(name string) string {
	switch name {
	case "AllCalls":
		return "--all-calls"
	case "lumi.ErrNotFound":
		return "NOT_FOUND"
	}
	return strings.ToLower(name[:1]) + name[1:]
}

// start starts the plugin, and sees that it serves what the fixture is about.
func (p *providerTest) start(ctx context.Context, root *trial, path string) error {
	limited, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	root.ctx = limited
	options := []providertest.HarnessOption{
		providertest.OnStep(p.report.step), providertest.Terms(fixtureTerm), providertest.Environment(p.environment), providertest.CleanupTime(p.timeout),
	}
	if p.fixture.configuration.Exists() {
		configuration, err := p.properties(p.fixture.configuration)
		if err != nil {
			return err
		}
		options = append(options, providertest.Config(configuration))
	}
	if p.allCalls {
		options = append(options, providertest.AllCalls())
	}
	// Relative paths of assets start from the fixture.
	command := plugin.Command{Path: path, Dir: filepath.Dir(p.fixture.name)}
	p.env.doing("starting %s", p.name)
	if !root.do(func() { p.harness = providertest.Binary(root, command, options...) }) {
		timeout := fmt.Sprintf("timeout after %s", min(startTime, p.timeout))
		return errors.New(strings.ReplaceAll(strings.Join(p.report.Failures, "; "), context.DeadlineExceeded.Error(), timeout))
	}
	return p.fits(limited)
}

// fits sees that the plugin serves the types in the fixture, and that the fixture names what programs name.
func (p *providerTest) fits(ctx context.Context) error {
	served := p.harness.Plugin()
	described, err := served.Describe(ctx)
	if err != nil {
		return fmt.Errorf("%s does not describe its types: %w", p.name, err)
	}
	named := map[tokens.Type]bool{}
	var types []string
	for _, d := range described {
		named[d.Type] = d.Named
		types = append(types, string(d.Type))
	}
	r := fixtureReader{src: p.fixture.src}
	for _, s := range p.fixture.resources {
		isNamed, ok := named[s.token]
		switch near := suggest.Name(string(s.token), types); {
		case s.token.Package() != served.Package:
			r.at(lumigl.TypeFault, s.part("type"), "the plugin serves package %q, not %q", served.Package, s.token.Package())
		case !ok && near != "":
			r.at(lumigl.TypeFault, s.part("type"), "the plugin does not serve type %q; did you mean %q?", s.token, near)
		case !ok:
			r.at(lumigl.TypeFault, s.part("type"), "the plugin does not serve type %q; it serves %s", s.token, strings.Join(types, ", "))
		case isNamed && s.name == "":
			r.at(lumigl.ShapeFault, s.place(), `missing key "name": programs name resources of type %q`, s.token)
		case !isNamed && s.name != "":
			r.at(lumigl.ShapeFault, s.part("name"), `unexpected key "name": programs do not name resources of type %q`, s.token)
		}
	}
	return p.env.refuseFixture(p.fixture, r.faults)
}

// begin notes what is about to be tested.
func (p *providerTest) begin(chosen []*fixtureResource) {
	served := p.harness.Plugin()
	p.report.env = p.env
	p.report.Plugin, p.report.Package, p.report.Version, p.report.Types = p.name, served.Package, served.Version, served.Types
	p.report.Untested = []tokens.Type{}
	for _, token := range served.Types {
		if !slices.ContainsFunc(chosen, func(s *fixtureResource) bool { return s.token == token }) {
			p.report.Untested = append(p.report.Untested, token)
		}
	}
	p.report.header()
}

// tests tests the chosen resources, and deletes in the end what others needed.
func (p *providerTest) tests(ctx context.Context, root *trial, chosen []*fixtureResource) {
	p.resources = map[*lumigl.Vertex]*providertest.Resource{}
	needed := map[*fixtureResource]bool{}
	for _, s := range slices.Backward(p.fixture.resources) { // Those that need others come after them.
		for _, other := range s.needs {
			needed[other] = needed[other] || needed[s] || slices.Contains(chosen, s)
		}
	}
	for _, s := range p.fixture.resources {
		is := slices.Contains(chosen, s)
		if !is && !needed[s] {
			continue
		}
		p.report.resource(s)
		if reason := p.unable(ctx, s); reason != "" {
			p.report.skip(reason)
			continue
		}
		root.do(func() {
			if s.name == "" {
				p.resources[s.Vertex] = p.harness.Unnamed(s.token)
			} else {
				p.resources[s.Vertex] = p.harness.Resource(s.token, s.name)
			}
		})
		if p.resources[s.Vertex] == nil {
			p.report.skip("its name cannot be part of a URN, or another resource has it")
			continue
		}
		s.trial = &trial{name: s.Key(), ctx: ctx, log: p.report.logged, report: func(text string) {
			root.failed = true
			if reason := p.cut(ctx); reason != "" {
				text += "\n" + reason
			}
			p.report.fail(text)
		}}
		lived := !is || p.life(ctx, s)
		if needed[s] && lived && p.exists(s) == nil {
			p.part(ctx, s, "create for others", func(t *trial, r *providertest.Resource) { r.Create(t, p.bag(t, s.create)) })
		}
	}
	for _, s := range slices.Backward(p.fixture.resources) {
		if needed[s] && p.exists(s) != nil && p.stopped(ctx) == "" {
			p.report.resource(s)
			p.part(ctx, s, "", func(t *trial, r *providertest.Resource) { r.Delete(t) })
		}
	}
	p.report.end()
}

// exists returns the resource under test, nil if it does not exist.
func (p *providerTest) exists(s *fixtureResource) *providertest.Resource {
	if r := p.resources[s.Vertex]; r != nil && r.ID() != "" {
		return r
	}
	return nil
}

// stopped says why the test cannot go on, or nothing if it can.
func (p *providerTest) stopped(ctx context.Context) string {
	select {
	case <-p.harness.Plugin().Done():
		return "the plugin is gone"
	default:
		return p.cut(ctx)
	}
}

// cut says what ended the test early, or nothing. A plugin may notice a moment before this process that the time is up.
func (p *providerTest) cut(ctx context.Context) string {
	const moment = 100 * time.Millisecond
	deadline, _ := ctx.Deadline()
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return "interrupted"
	case time.Until(deadline) < moment:
		return fmt.Sprintf("timeout after %s", p.timeout)
	}
	return ""
}

// unable says why a resource cannot be tested, or nothing if it can.
func (p *providerTest) unable(ctx context.Context, s *fixtureResource) string {
	if reason := p.stopped(ctx); reason != "" {
		return reason
	}
	for _, other := range s.needs {
		if p.exists(other) == nil {
			return fmt.Sprintf("it refers to %q, which could not be created", other.Key())
		}
	}
	return ""
}

// life tests one resource. It reports whether that came to its end.
func (p *providerTest) life(ctx context.Context, s *fixtureResource) bool {
	for i, f := range s.faults {
		p.part(ctx, s, fmt.Sprintf("faults %d", i+1), func(t *trial, r *providertest.Resource) {
			r.Check(t, p.bag(t, s.create).With(p.bag(t, f.set)), providertest.WantFaults(f.faults...))
		})
	}
	return p.part(ctx, s, "", func(t *trial, r *providertest.Resource) {
		l := providertest.Life{
			Create: p.bag(t, s.create), Expect: p.bag(t, s.expect), Computed: s.computed,
			MayDiffer: s.mayDiffer, MayBeEmpty: s.mayBeEmpty, Known: s.known, Unknown: s.unknown,
		}
		for _, set := range s.ignores {
			l.Ignores = append(l.Ignores, p.bag(t, set))
		}
		for _, c := range s.updates {
			l.Updates = append(l.Updates, p.change(t, c))
		}
		for _, c := range s.replaces {
			l.Replaces = append(l.Replaces, providertest.Replacement{
				Set: p.bag(t, c.set), Because: c.because, Expect: p.bag(t, c.expect), DeleteFirst: c.deleteFirst,
			})
		}
		for _, c := range s.upgrades {
			l.Upgrades = append(l.Upgrades, providertest.Upgrade{Stored: p.bag(t, c.stored), Change: p.change(t, c)})
		}
		r.Life(t, l)
	})
}

func (p *providerTest) change(t *trial, c change) providertest.Change {
	return providertest.Change{Set: p.bag(t, c.set), Changes: c.changes, Expect: p.bag(t, c.expect)}
}

// part runs a part of the test of a resource, and reports whether that came to its end. If label is not empty, it takes
// the place of the step's own name.
func (p *providerTest) part(ctx context.Context, s *fixtureResource, label string, do func(*trial, *providertest.Resource)) bool {
	if p.stopped(ctx) != "" {
		return false
	}
	p.report.label = label
	defer p.report.end()
	return s.trial.do(func() { do(s.trial, p.resources[s.Vertex]) })
}

// bag makes properties of those in a fixture. It ends the test if they refer to an output that does not exist.
func (p *providerTest) bag(t *trial, v lumigl.Value) providertest.Properties {
	made, err := p.properties(v)
	if err != nil {
		t.Errorf("%s", err)
		t.FailNow()
	}
	return made
}

// properties makes properties of an object in a fixture. Those of null are nil.
func (p *providerTest) properties(v lumigl.Value) (providertest.Properties, error) {
	if !v.Exists() {
		return nil, nil
	}
	made := providertest.Properties{}
	for name, member := range v.Members() {
		value, err := p.value(member)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", lumi.Path("").Key(name), err)
		}
		made[name] = value
	}
	return made, nil
}

// value makes a value of a property.
func (p *providerTest) value(v lumigl.Value) (made any, err error) {
	made = v.Plain(func(part lumigl.Value) (made any, special bool) {
		var failed error
		if inner, ok := part.Secret(); ok {
			made, failed = p.value(inner)
			made, special = providertest.Secret(made), true
		} else if part.Kind() == lumigl.Reference {
			made, failed = p.reference(part)
			special = true
		}
		err = cmp.Or(err, failed)
		return made, special
	})
	return made, err
}

// reference makes a value of a reference: the resource, or one of its properties.
func (p *providerTest) reference(v lumigl.Value) (any, error) {
	target, property, _ := v.Target()
	r := p.resources[target]
	if property == "" {
		return r, nil
	}
	output := r.Output(lumi.Path("").Key(property))
	if output == nil {
		return nil, fmt.Errorf("%q has no property %q", target.Key(), property)
	}
	return output, nil
}
