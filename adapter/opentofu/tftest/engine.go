package tftest

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/lumi-idl/lumi/internal/fixture"
	lumi "github.com/lumi-idl/lumi/runtime"
)

// instance is a resource under test, with the state that OpenTofu would store.
type instance struct {
	*run
	fixture *fixture.Resource
	typ     string // in OpenTofu
	attrs   attributes
	version int64
	object  tftypes.Type
	state   tftypes.Value // null if the resource does not exist
	private []byte
}

// The actions of a plan. A replacement is planned as an update with attributes that require it.
const (
	noChange = "no change"
	create   = "a creation"
	update   = "an update"
	replace  = "a replacement"
)

// plan is a planned change.
type plan struct {
	action   string
	after    tftypes.Value
	private  []byte
	replaces []string // the changed attributes that require a replacement
}

func (i *instance) null() tftypes.Value { return tftypes.NewValue(i.object, nil) }

// call calls the provider and ends the test if the call fails.
func call[Request, Response any](r *run, f func(context.Context, *Request) (*Response, error), req *Request) *Response {
	r.t.Helper()
	resp, failures := tried(r, f, req)
	if len(failures) > 0 {
		r.errorf("%s failed: %s", nameOf[Request](), failures)
		r.t.FailNow()
	}
	return resp
}

// tried calls the provider and returns the errors.
func tried[Request, Response any](r *run, f func(context.Context, *Request) (*Response, error), req *Request) (*Response, refusals) {
	resp, err := f(context.WithoutCancel(r.t.Context()), req) // for the cleanup
	if err != nil {
		return nil, refusals{{Summary: err.Error()}}
	}
	diagnostics := reflect.ValueOf(resp).Elem().FieldByName("Diagnostics").Interface().([]*tfprotov6.Diagnostic)
	return resp, slices.DeleteFunc(slices.Clone(diagnostics), func(d *tfprotov6.Diagnostic) bool {
		return d.Severity != tfprotov6.DiagnosticSeverityError
	})
}

// nameOf returns the name of a call by the type of its request.
func nameOf[Request any]() string {
	return strings.TrimSuffix(reflect.TypeFor[Request]().Name(), "Request")
}

// refusals are the errors of a call.
type refusals []*tfprotov6.Diagnostic

func (r refusals) String() string {
	var texts []string
	for _, d := range r {
		at := ""
		if d.Attribute != nil {
			at = d.Attribute.String() + ": "
		}
		texts = append(texts, at+strings.TrimSpace(d.Summary+" "+d.Detail))
	}
	return strings.Join(texts, "; ")
}

// broken reports violations in the answer of a call.
func (r *run) broken(call string, found rules) {
	r.t.Helper()
	for _, problem := range found {
		r.errorf("%s: %s", call, problem)
	}
}

// value decodes a value in the answer of a call.
func (i *instance) value(name string, sent *tfprotov6.DynamicValue) tftypes.Value {
	i.t.Helper()
	if sent == nil {
		i.errorf("%s returns no value", name)
		i.t.FailNow()
	}
	v, err := sent.Unmarshal(i.object)
	if err != nil {
		i.errorf("%s returns a value that does not fit the schema: %v", name, err)
		i.t.FailNow()
	}
	return v
}

// plan plans a change to the configuration, as OpenTofu does.
func (i *instance) plan(config tftypes.Value) *plan {
	i.t.Helper()
	call(i.run, i.server.ValidateResourceConfig, &tfprotov6.ValidateResourceConfigRequest{
		TypeName: i.typ, Config: encoded(i.object, config),
	})
	p, resp := i.change(i.state, config, i.private)
	var found rules
	for _, path := range resp.RequiresReplace {
		if i.state.IsNull() {
			break
		}
		before, _, errBefore := tftypes.WalkAttributePath(i.state, path)
		after, _, errAfter := tftypes.WalkAttributePath(p.after, path)
		switch {
		case errBefore != nil && errAfter != nil:
			found.add(i.typ, "requires a replacement because of %s, which does not exist", path)
		case (errBefore != nil || before.(tftypes.Value).IsNull()) && (errAfter != nil || after.(tftypes.Value).IsNull()):
		case errBefore != nil || errAfter != nil || !same(before.(tftypes.Value), after.(tftypes.Value)):
			p.replaces = append(p.replaces, path.String())
		}
	}
	i.broken("PlanResourceChange", found)
	switch {
	case i.state.IsNull():
		p.action = create
	case same(p.after, i.state):
		p.action = noChange
	case len(p.replaces) > 0:
		again, _ := i.change(i.null(), config, p.private)
		p = &plan{replace, again.after, again.private, p.replaces}
	default:
		p.action = update
	}
	return p
}

// change calls PlanResourceChange. The answer must not depend on the proposed state.
func (i *instance) change(prior, config tftypes.Value, private []byte) (*plan, *tfprotov6.PlanResourceChangeResponse) {
	i.t.Helper()
	const name = "PlanResourceChange"
	req := &tfprotov6.PlanResourceChangeRequest{
		TypeName: i.typ, PriorState: encoded(i.object, prior), ProposedNewState: encoded(i.object, proposed(i.attrs, prior, config)),
		Config: encoded(i.object, config), PriorPrivate: private,
	}
	resp := call(i.run, i.server.PlanResourceChange, req)
	p := &plan{after: i.value(name, resp.PlannedState), private: resp.PlannedPrivate}
	var found rules
	found.plan(i.typ, i.attrs, prior, config, p.after)
	req.ProposedNewState = encoded(i.object, config)
	again := call(i.run, i.server.PlanResourceChange, req)
	if !same(p.after, i.value(name, again.PlannedState)) {
		found.add(i.typ, "a second plan with another proposed state differs: a provider must plan from the configuration")
	}
	i.broken(name, found)
	return p, resp
}

// proposed returns the configuration with the prior values of computed attributes.
func proposed(attrs attributes, prior, config tftypes.Value) tftypes.Value {
	if prior.IsNull() {
		return config
	}
	values := map[string]tftypes.Value{}
	for _, a := range attrs {
		values[a.Name] = parts(config)["."+a.Name]
		if a.Computed && values[a.Name].IsNull() {
			values[a.Name] = parts(prior)["."+a.Name]
		}
	}
	return tftypes.NewValue(config.Type(), values)
}

// again plans a change a second time, with all values known, as OpenTofu does while it applies a plan.
func (i *instance) again(first *plan, config tftypes.Value) *plan {
	i.t.Helper()
	second := i.plan(config)
	expected := first.action
	if expected == replace {
		expected = create
	}
	if second.action != expected && (expected != update || second.action != noChange) {
		i.errorf("the second plan is %s, but the first was %s", second.action, expected)
		return second
	}
	var found rules
	found.outcome(i.typ, i.attrs, first.after, second.after)
	i.broken("the second PlanResourceChange", found)
	return second
}

// apply applies a plan with all values known. createFirst is the order of a replacement.
func (i *instance) apply(first *plan, config tftypes.Value, createFirst bool) {
	i.t.Helper()
	if first.action != replace {
		i.finish(i.again(first, config), config)
		return
	}
	old, oldPrivate := i.state, i.private
	remove := func() {
		i.state, i.private = old, oldPrivate
		i.remove(first.private)
	}
	if !createFirst {
		remove()
	}
	i.state, i.private = i.null(), nil
	i.finish(i.again(first, config), config)
	if createFirst {
		made, private := i.state, i.private
		remove()
		i.state, i.private = made, private
	}
}

// finish calls ApplyResourceChange for a plan whose values are known, unless it changes nothing.
func (i *instance) finish(p *plan, config tftypes.Value) {
	i.t.Helper()
	if p.action == noChange {
		return
	}
	const name = "ApplyResourceChange"
	resp := call(i.run, i.server.ApplyResourceChange, &tfprotov6.ApplyResourceChangeRequest{
		TypeName: i.typ, PriorState: encoded(i.object, i.state), PlannedState: encoded(i.object, p.after), Config: encoded(i.object, config),
		PlannedPrivate: p.private,
	})
	after := i.value(name, resp.NewState)
	if after.IsNull() {
		i.errorf("%s returns null for a resource that must exist", name)
		i.t.FailNow()
	}
	var found rules
	found.known(i.typ, after)
	found.outcome(i.typ, i.attrs, p.after, after)
	i.broken(name, found)
	i.state, i.private = after, resp.Private
}

// remove deletes the resource with the private data of a plan.
func (i *instance) remove(planned []byte) {
	i.t.Helper()
	null := encoded(i.object, i.null())
	resp := call(i.run, i.server.ApplyResourceChange, &tfprotov6.ApplyResourceChangeRequest{
		TypeName: i.typ, PriorState: encoded(i.object, i.state), PlannedState: null, Config: null, PlannedPrivate: planned,
	})
	if !i.value("ApplyResourceChange", resp.NewState).IsNull() {
		i.errorf("ApplyResourceChange: expected null for a deletion")
	}
	i.state, i.private = i.null(), nil
}

// destroy plans and applies the deletion of the resource, which is then gone.
func (i *instance) destroy() {
	i.t.Helper()
	null := encoded(i.object, i.null())
	resp := call(i.run, i.server.PlanResourceChange, &tfprotov6.PlanResourceChangeRequest{
		TypeName: i.typ, PriorState: encoded(i.object, i.state), ProposedNewState: null, Config: null, PriorPrivate: i.private,
	})
	if !i.value("PlanResourceChange", resp.PlannedState).IsNull() {
		i.errorf("PlanResourceChange: expected null for a deletion")
	}
	last, private := i.state, i.private
	i.remove(resp.PlannedPrivate)
	if read, _ := i.read(last, private); !read.IsNull() {
		i.errorf("ReadResource finds the deleted resource")
	}
}

func (i *instance) read(state tftypes.Value, private []byte) (tftypes.Value, []byte) {
	i.t.Helper()
	resp := call(i.run, i.server.ReadResource, &tfprotov6.ReadResourceRequest{
		TypeName: i.typ, CurrentState: encoded(i.object, state), Private: private,
	})
	read := i.value("ReadResource", resp.NewState)
	var found rules
	found.known(i.typ, read)
	i.broken("ReadResource", found)
	return read, resp.Private
}

// refresh loads the state from JSON and reads the resource. Neither may change anything, except for mayDiffer.
func (i *instance) refresh() {
	i.t.Helper()
	const name = "UpgradeResourceState"
	stored, err := json.Marshal(plain(i.object, i.state))
	if err != nil {
		i.errorf("cannot store the state: %v", err)
		i.t.FailNow()
	}
	resp := call(i.run, i.server.UpgradeResourceState, &tfprotov6.UpgradeResourceStateRequest{
		TypeName: i.typ, Version: i.version, RawState: &tfprotov6.RawState{JSON: stored},
	})
	i.equal(name, i.state, i.value(name, resp.UpgradedState))
	before := i.state
	if i.state, i.private = i.read(i.state, i.private); i.state.IsNull() {
		i.errorf("ReadResource does not find the resource")
		i.t.FailNow()
	}
	i.equal("ReadResource", before, i.state)
}

// equal checks that a call returns the same attributes, except for mayDiffer.
func (i *instance) equal(name string, before, after tftypes.Value) {
	i.t.Helper()
	for _, a := range i.attrs {
		b, c := parts(before)["."+a.Name], parts(after)["."+a.Name]
		if !same(b, c) && !i.mayDiffer(a.Name) {
			i.errorf("%s: %s.%s: was %s, but is now %s", name, i.typ, a.Name, shown(a, b), shown(a, c))
		}
	}
}

func (i *instance) mayDiffer(attr string) bool {
	return slices.ContainsFunc(i.fixture.MayDiffer, func(path lumi.Path) bool { return underPath(letters(attr), path) })
}

// unchanged checks that a plan changes nothing, not even one byte of the state.
func (i *instance) unchanged(config tftypes.Value) {
	i.t.Helper()
	p := i.plan(config)
	if p.action != noChange {
		i.errorf("expected no change, but planned %s of %s", p.action, strings.Join(i.changes(p), ", "))
	}
}

// changes lists the attributes that a plan changes.
func (i *instance) changes(p *plan) []string {
	var names []string
	for _, step := range slices.Sorted(maps.Keys(parts(p.after))) {
		if !same(parts(p.after)[step], parts(i.state)[step]) {
			names = append(names, step[1:])
		}
	}
	return names
}
