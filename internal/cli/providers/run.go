package providers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/internal/fixture"
	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// providerTest is an invocation of 'lumi provider test'.
type providerTest struct {
	con        *console.Console
	name, file string // the names of the plugin and the fixture
	run        *regexp.Regexp
	timeout    time.Duration
	allCalls   bool
	// environment is the name of the environment used in URNs.
	environment string

	fixture   *fixtureFile
	harness   *providertest.Harness
	resources map[*lumigl.Vertex]*providertest.Resource
	functions map[*lumigl.Vertex]*providertest.Function // without those whose call failed
	trials    map[*fixture.Resource]*providertest.Trial
	report    providerReport
}

// startTime limits the time to start and configure a plugin.
const startTime = time.Minute

func (p *providerTest) test(ctx context.Context) error {
	var err error
	if p.fixture, err = readFixture(p.con, p.file); err != nil {
		return err
	}
	chosen := slices.DeleteFunc(slices.Clone(p.fixture.Resources), func(s *fixture.Resource) bool { return !p.run.MatchString(s.Key()) })
	if len(chosen) == 0 {
		return fmt.Errorf("no resource in %s matches --run=%s", p.fixture.Name, p.run)
	}
	path, err := workspace.FindPlugin(p.name)
	if err != nil {
		return err
	}
	ctx, release := p.con.Interruptible(ctx)
	defer release()
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	root := &providertest.Trial{Ctx: ctx, Report: p.report.outside, Log: p.report.logged}
	defer root.End() // in case of an early return
	if err := p.start(ctx, root, path); err != nil {
		return err
	}
	p.begin(chosen)
	p.tests(ctx, root, chosen)
	root.End()
	return p.finish(ctx)
}

// start starts the plugin and checks that it fits the fixture.
func (p *providerTest) start(ctx context.Context, root *providertest.Trial, path string) error {
	limited, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	root.Ctx = limited
	options := []providertest.HarnessOption{
		providertest.OnStep(p.report.step), providertest.Terms(fixture.Term), providertest.Environment(p.environment), providertest.CleanupTime(p.timeout),
	}
	if configuration := p.fixture.Configuration; configuration != nil {
		if err := p.resolve(configuration); err != nil {
			return err
		}
		options = append(options, providertest.Config(configuration))
	}
	if p.allCalls {
		options = append(options, providertest.AllCalls())
	}
	// Relative paths of assets refer to the folder of the fixture.
	command := plugin.Command{Path: path, Dir: filepath.Dir(p.fixture.Name)}
	p.con.Doing("starting %s", p.name)
	if !root.Do(func() { p.harness = providertest.Binary(root, command, options...) }) {
		timeout := fmt.Sprintf("timeout after %s", min(startTime, p.timeout))
		return errors.New(strings.ReplaceAll(strings.Join(p.report.Failures, "; "), context.DeadlineExceeded.Error(), timeout))
	}
	return p.fits(limited)
}

// fits returns an error unless the plugin serves the types and functions in the fixture, and each resource has a name if and
// only if programs name resources of its type.
func (p *providerTest) fits(ctx context.Context) error {
	served := p.harness.Plugin()
	described, err := served.Describe(ctx)
	if err != nil {
		return fmt.Errorf("%s cannot describe its types: %w", p.name, err)
	}
	byType := map[tokens.Type]*lumi.Description{}
	var types []string
	for _, d := range described {
		byType[d.Type] = d
		types = append(types, string(d.Type))
	}
	var faults []lumigl.Fault
	wrong := func(code lumigl.Code, at fixture.Place, format string, args ...any) {
		faults = append(faults, lumigl.Fault{Code: code, Offset: at.Offset(), Pointer: at.Pointer, Message: fmt.Sprintf(format, args...)})
	}
	for _, s := range p.fixture.Resources {
		d, ok := byType[s.Type]
		switch near := suggest.Name(string(s.Type), types); {
		case s.Type.Package() != served.Package:
			wrong(lumigl.TypeFault, s.Part("type"), "the plugin serves package %q, not %q", served.Package, s.Type.Package())
		case !ok && near != "":
			wrong(lumigl.TypeFault, s.Part("type"), "the plugin does not serve type %q; did you mean %q?", s.Type, near)
		case !ok:
			wrong(lumigl.TypeFault, s.Part("type"), "the plugin does not serve type %q; it serves %s", s.Type, strings.Join(types, ", "))
		case d.Function && s.Call == nil:
			wrong(lumigl.ShapeFault, s.Place(), `missing key "call": %q is a function`, s.Type)
		case d.Function:
		case s.Call != nil:
			wrong(lumigl.ShapeFault, s.Part("call"), `unexpected key "call": %q is not a function`, s.Type)
		case d.Named && s.Name == "":
			wrong(lumigl.ShapeFault, s.Place(), `missing key "name": programs name resources of type %q`, s.Type)
		case !d.Named && s.Name != "":
			wrong(lumigl.ShapeFault, s.Part("name"), `unexpected key "name": programs do not name resources of type %q`, s.Type)
		}
	}
	return refuseFixture(p.con, p.fixture, faults)
}

// begin completes the report's header and prints it.
func (p *providerTest) begin(chosen []*fixture.Resource) {
	served := p.harness.Plugin()
	p.report.con = p.con
	p.report.Plugin, p.report.Package, p.report.Version, p.report.Types = p.name, served.Package, served.Version, served.Types
	p.report.Functions, p.report.Untested = served.Functions, []tokens.Type{}
	for _, token := range slices.Concat(served.Types, served.Functions) {
		if !slices.ContainsFunc(chosen, func(s *fixture.Resource) bool { return s.Type == token }) {
			p.report.Untested = append(p.report.Untested, token)
		}
	}
	p.report.header()
}

// tests tests the selected resources and creates the resources they need, then deletes the remaining resources.
func (p *providerTest) tests(ctx context.Context, root *providertest.Trial, chosen []*fixture.Resource) {
	p.resources, p.functions = map[*lumigl.Vertex]*providertest.Resource{}, map[*lumigl.Vertex]*providertest.Function{}
	p.trials = map[*fixture.Resource]*providertest.Trial{}
	needed := map[*fixture.Resource]bool{}
	for _, s := range slices.Backward(p.fixture.Resources) { // dependents come later in the list
		for _, other := range s.Needs {
			needed[other] = needed[other] || needed[s] || slices.Contains(chosen, s)
		}
	}
	for _, s := range p.fixture.Resources {
		is := slices.Contains(chosen, s)
		if !is && !needed[s] {
			continue
		}
		p.report.resource(s)
		if reason := p.untestable(ctx, s); reason != "" {
			p.report.skip(reason)
			continue
		}
		root.Do(func() {
			switch {
			case s.Call != nil:
				p.functions[s.Vertex] = p.harness.Function(s.Type)
			case s.Name == "":
				p.resources[s.Vertex] = p.harness.Unnamed(s.Type)
			default:
				p.resources[s.Vertex] = p.harness.Resource(s.Type, string(s.Name))
			}
		})
		if p.resources[s.Vertex] == nil && p.functions[s.Vertex] == nil {
			p.report.skip("its name is invalid in a URN, or is not unique")
			continue
		}
		p.trials[s] = &providertest.Trial{Ctx: ctx, Log: p.report.logged, Report: func(text string) {
			root.Fail()
			if reason := p.cut(ctx); reason != "" {
				text += "\n" + reason
			}
			p.report.fail(text)
		}}
		if s.Call != nil {
			p.call(ctx, s)
			continue
		}
		lived := !is || p.life(ctx, s)
		if needed[s] && lived && p.exists(s) == nil {
			p.part(ctx, s, "create for others", func(t providertest.TB, r *providertest.Resource) {
				p.resolved(t, s.Create)
				r.Create(t, s.Create)
			})
		}
	}
	for _, s := range slices.Backward(p.fixture.Resources) {
		if needed[s] && p.exists(s) != nil && p.stopped(ctx) == "" {
			p.report.resource(s)
			p.part(ctx, s, "", func(t providertest.TB, r *providertest.Resource) { r.Delete(t) })
		}
	}
	p.report.end()
}

// exists returns the resource under test for s, or nil if it has not been created.
func (p *providerTest) exists(s *fixture.Resource) *providertest.Resource {
	if r := p.resources[s.Vertex]; r != nil && r.ID() != "" {
		return r
	}
	return nil
}

// stopped returns the reason why the test cannot continue, or "" if it can.
func (p *providerTest) stopped(ctx context.Context) string {
	select {
	case <-p.harness.Plugin().Done():
		return "the plugin is gone"
	default:
		return p.cut(ctx)
	}
}

// cut returns the reason why the test ended early, or "" if it did not. The plugin may notice a timeout slightly before
// this process does.
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

// untestable returns the reason why a resource cannot be tested, or "" if it can.
func (p *providerTest) untestable(ctx context.Context, s *fixture.Resource) string {
	if reason := p.stopped(ctx); reason != "" {
		return reason
	}
	for _, other := range s.Needs {
		switch {
		case other.Call != nil && p.functions[other.Vertex] == nil:
			return fmt.Sprintf("it refers to %q, which returned no results", other.Key())
		case other.Call == nil && p.exists(other) == nil:
			return fmt.Sprintf("it refers to %q, which could not be created", other.Key())
		}
	}
	return ""
}

// life tests a resource from its creation to its deletion. It reports whether all parts of the test ran.
func (p *providerTest) life(ctx context.Context, s *fixture.Resource) bool {
	for i, f := range s.Faults {
		p.part(ctx, s, fmt.Sprintf("faults %d", i+1), func(t providertest.TB, r *providertest.Resource) {
			p.resolved(t, s.Create, f.Set)
			r.Check(t, s.Create.With(f.Set), providertest.WantFaults(f.Expect...))
		})
	}
	return p.part(ctx, s, "", func(t providertest.TB, r *providertest.Resource) {
		p.resolved(t, s.Bags...)
		r.Life(t, s.Life)
	})
}

// call tests a call of a function.
func (p *providerTest) call(ctx context.Context, s *fixture.Resource) {
	function := p.functions[s.Vertex]
	for i, f := range s.Faults {
		p.part(ctx, s, fmt.Sprintf("faults %d", i+1), func(t providertest.TB, _ *providertest.Resource) {
			p.resolved(t, s.Call, f.Set)
			function.Call(t, providertest.Call{Arguments: s.Call.With(f.Set)}, providertest.WantFaults(f.Expect...))
		})
	}
	if !p.part(ctx, s, "", func(t providertest.TB, _ *providertest.Resource) {
		p.resolved(t, s.Call, s.Expect)
		function.Call(t, providertest.Call{Arguments: s.Call, Expect: s.Expect, Computed: s.Computed, MayBeEmpty: s.MayBeEmpty})
	}) {
		delete(p.functions, s.Vertex)
	}
}

// part runs a part of a resource's test and reports whether it completed. If label is not empty, it replaces the names
// of the steps.
func (p *providerTest) part(ctx context.Context, s *fixture.Resource, label string, do func(providertest.TB, *providertest.Resource)) bool {
	if p.stopped(ctx) != "" {
		return false
	}
	p.report.label = label
	defer p.report.end()
	return p.trials[s].Do(func() { do(p.trials[s], p.resources[s.Vertex]) })
}

// resolved calls resolve and aborts the test on errors.
func (p *providerTest) resolved(t providertest.TB, bags ...providertest.Properties) {
	if err := p.resolve(bags...); err != nil {
		t.Errorf("%s", err)
		t.FailNow()
	}
}

// resolve replaces the fixture values in bags with values for the test kit. Null becomes nil, and values that are
// already resolved are unchanged. It returns an error for a reference to a missing output.
func (p *providerTest) resolve(bags ...providertest.Properties) error {
	for _, bag := range bags {
		for _, name := range slices.Sorted(maps.Keys(bag)) {
			if v, ok := bag[name].(lumigl.Value); ok {
				value, err := p.value(v)
				if err != nil {
					return fmt.Errorf("%s: %w", lumi.Path("").Key(name), err)
				}
				bag[name] = value
			}
		}
	}
	return nil
}

func (p *providerTest) value(v lumigl.Value) (value any, err error) {
	value = v.Plain(func(part lumigl.Value) (made any, special bool) {
		var problem error
		if inner, ok := part.Secret(); ok {
			made, problem = p.value(inner)
			made, special = providertest.Secret(made), true
		} else if part.Kind() == lumigl.Reference {
			made, problem = p.reference(part)
			special = true
		}
		err = cmp.Or(err, problem)
		return made, special
	})
	return value, err
}

// reference converts a reference to the resource or the property that it refers to.
func (p *providerTest) reference(v lumigl.Value) (any, error) {
	target, property, _ := v.Target()
	f, isCall := p.functions[target]
	if property == "" && isCall {
		return nil, fmt.Errorf("%q is a call: refer to one of its results", target.Key())
	}
	if property == "" {
		return p.resources[target], nil
	}
	of := p.resources[target].Output
	if isCall {
		of = f.Output
	}
	output := of(lumi.Path("").Key(property))
	if output == nil {
		return nil, fmt.Errorf("%q has no property %q", target.Key(), property)
	}
	return output, nil
}

// finish prints the summary and returns the error that determines the exit code.
func (p *providerTest) finish(ctx context.Context) error {
	r := &p.report
	steps, wrong, failed, skipped := 0, 0, 0, 0
	for _, one := range r.Resources {
		switch {
		case one.Skipped != "":
			skipped++
		case !one.Passed:
			failed++
		}
		steps += len(one.Steps)
		for _, step := range one.Steps {
			if !step.Passed {
				wrong++
			}
		}
	}
	r.Passed = failed+skipped+len(r.Failures) == 0
	for _, text := range r.Failures {
		r.printf("\n%s  %s\n", r.con.Out.Paint(term.BoldRed, "FAIL"), strings.TrimSpace(indented(text, "      ")))
	}
	for _, text := range r.Log {
		r.printf("\n%s", indented(text, ""))
	}
	result, detail := r.con.Out.Paint(term.Green, "ok"), fmt.Sprintf("%s, %s", console.Count(len(r.Resources), "resource"), console.Count(steps, "step"))
	if !r.Passed {
		result = r.con.Out.Paint(term.BoldRed, "FAIL")
		detail = fmt.Sprintf("%s: %d failed, %d skipped; %s: %d failed", console.Count(len(r.Resources), "resource"), failed, skipped,
			console.Count(steps, "step"), wrong)
		if len(r.Failures) > 0 {
			detail += "; " + console.Count(len(r.Failures), "failure") + " outside of the steps"
		}
	}
	r.printf("\n%s  %s\n", result, detail)
	if len(r.Untested) > 0 {
		var names []string
		for _, token := range r.Untested {
			names = append(names, string(token))
		}
		r.printf("not tested: %s\n", strings.Join(names, ", "))
	}
	if p.con.JSON {
		if err := p.con.PrintJSON(r); err != nil {
			return err
		}
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		p.con.Say("interrupted")
		return console.ErrFailed
	case !r.Passed:
		return console.ErrWrong
	}
	return nil
}
