package tftest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/lumi-idl/lumi/internal/fixture"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
)

// start begins a step of the test of a resource.
func (i *instance) start(step string) {
	i.where = fmt.Sprintf("%s %q: %s", i.typ, i.fixture.Key(), step)
}

// config converts properties of the fixture to a configuration. unknowns makes references unknown.
func (i *instance) config(bag providertest.Properties, unknowns bool) tftypes.Value {
	i.t.Helper()
	plain, err := i.resolve(bag, unknowns)
	i.check(err)
	config, err := valueOf(i.object, plain)
	i.check(err)
	return config
}

// life takes a resource through its life. If others need it, it is created again and left to them.
func (i *instance) life(needed bool) {
	i.t.Helper()
	f := i.fixture
	for n, refusal := range f.Faults {
		i.start(fmt.Sprintf("faults %d", n+1))
		i.refuses(i.config(f.Create.With(refusal.Set), false), refusal)
	}
	i.plans()
	i.start("create")
	i.expect(create, i.create(), f.Expect, f.Create)
	i.imported()
	i.plans()
	for n, set := range f.Ignores {
		i.start(fmt.Sprintf("ignored change %d", n+1))
		i.unchanged(i.config(f.Create.With(set), false))
	}
	bag := f.Create
	for n, change := range f.Updates {
		i.start(fmt.Sprintf("update %d", n+1))
		bag = bag.With(change.Set)
		i.agree(i.config(bag.With(i.unknowns(change.Set)), false), bag)
		p := i.plan(i.config(bag, false))
		i.apply(p, i.config(bag, false), false)
		i.expect(update, p, change.Expect, bag)
	}
	for n, change := range f.Replaces {
		i.start(fmt.Sprintf("replace %d", n+1))
		bag = bag.With(change.Set)
		i.agree(i.config(bag.With(i.unknowns(change.Set)), false), bag)
		p := i.plan(i.config(bag, false))
		for _, path := range change.Because {
			if !slices.ContainsFunc(p.replaces, func(at string) bool { return because(at, path) }) {
				i.errorf("expected a replacement because of %s, but the reasons are: %s", path, strings.Join(p.replaces, ", "))
			}
		}
		i.apply(p, i.config(bag, false), !change.DeleteFirst && slices.Contains(i.createFirst, f.Key()))
		i.expect(replace, p, change.Expect, bag)
	}
	i.start("destroy")
	i.destroy()
	if needed {
		i.start("create for others")
		i.create()
	}
}

// create creates the resource by a plan with unknown references.
func (i *instance) create() *plan {
	i.t.Helper()
	p := i.plan(i.config(i.fixture.Create, true))
	i.apply(p, i.config(i.fixture.Create, false), false)
	return p
}

// expect checks an applied plan and the resource, and that nothing is left to change. After a failure, other failures may follow from it.
func (i *instance) expect(action string, p *plan, expected, bag providertest.Properties) {
	i.t.Helper()
	if p.action != action {
		i.errorf("expected %s, but planned %s", action, p.action)
	}
	want := i.config(expected, false)
	for _, a := range i.attrs {
		expected, found := parts(want)["."+a.Name], parts(i.state)["."+a.Name]
		if !covers(expected, found) {
			i.errorf("%s: expected %s, got %s", a.Name, shown(a, expected), shown(a, found))
		}
	}
	if !i.failing {
		i.refresh()
	}
	if !i.failing {
		i.unchanged(i.config(bag, false))
	}
}

// covers reports whether all parts of a value that are not null are in another one.
func covers(want, found tftypes.Value) bool {
	if want.IsNull() || same(want, found) {
		return true
	}
	for step, part := range parts(want) {
		if !covers(part, parts(found)[step]) {
			return false
		}
	}
	return parts(want) != nil && parts(found) != nil
}

// plans plans configurations in which properties are unknown: each in turn, and then all. The same plan with known values must agree.
func (i *instance) plans() {
	i.t.Helper()
	f := i.fixture
	try := func(name string, unknowns providertest.Properties) {
		i.start("plan with " + name + " unknown")
		i.agree(i.config(f.Create.With(unknowns), false), f.Create)
	}
	all := i.unknowns(f.Create)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		try(name, providertest.Properties{name: unknown{}})
	}
	if len(all) > 1 {
		try("everything", all)
	}
	for _, hidden := range f.Unknown {
		i.start(fmt.Sprintf("plan with %s unknown", hidden))
		found := false
		config, err := tftypes.Transform(i.config(f.Create, false), func(at *tftypes.AttributePath, v tftypes.Value) (tftypes.Value, error) {
			if simple(at.String()) == simple(string(hidden)) {
				v, found = tftypes.NewValue(v.Type(), tftypes.UnknownValue), true
			}
			return v, nil
		})
		if i.check(err); !found {
			i.errorf("the configuration has no such value")
		}
		i.agree(config, f.Create)
	}
}

// unknowns returns the properties without their values, except for properties that the provider must know.
func (i *instance) unknowns(bag providertest.Properties) providertest.Properties {
	made := providertest.Properties{}
	for name := range bag {
		if !slices.Contains(i.fixture.Known, name) {
			made[name] = unknown{}
		}
	}
	return made
}

// agree checks that a plan with unknown values agrees with a plan in which all are known.
func (i *instance) agree(unknowns tftypes.Value, bag providertest.Properties) {
	i.t.Helper()
	first, state, private := i.plan(unknowns), i.state, i.private
	if first.action == replace {
		i.state, i.private = i.null(), nil
	}
	i.again(first, i.config(bag, false))
	i.state, i.private = state, private
}

// refuses checks that the provider refuses a configuration with the expected messages.
func (i *instance) refuses(config tftypes.Value, expected fixture.Refusal) {
	i.t.Helper()
	_, found := tried(i.run, i.server.ValidateResourceConfig, &tfprotov6.ValidateResourceConfigRequest{
		TypeName: i.typ, Config: encoded(i.object, config),
	})
	if len(found) == 0 {
		null := encoded(i.object, i.null())
		_, found = tried(i.run, i.server.PlanResourceChange, &tfprotov6.PlanResourceChangeRequest{
			TypeName: i.typ, PriorState: null, ProposedNewState: encoded(i.object, config), Config: encoded(i.object, config),
		})
	}
	for _, want := range expected.Expect {
		path, message, _ := strings.Cut(want, ": ")
		if !slices.ContainsFunc(found, func(d *tfprotov6.Diagnostic) bool {
			return strings.Contains(d.Summary+"\n"+d.Detail, message) && because(d.Attribute.String(), lumi.Path(path))
		}) {
			i.errorf("expected the error %q, got %q", want, found)
		}
	}
}

// because reports whether an attribute path is the path of a property or one above, or the ID, which represents all properties.
func because(at string, path lumi.Path) bool {
	return simple(at) == "id" || lumi.Path(simple(at)).Holds(lumi.Path(simple(string(path))))
}

var steps = strings.NewReplacer(`AttributeName("`, ".", `ElementKeyString("`, ".", "ElementKeyInt(", ".", `"`, "", ")", "", "[", ".", "]", "", "_", "")

// simple writes a path of Lumi or OpenTofu in the same way.
func simple(path string) string {
	return strings.TrimPrefix(strings.ReplaceAll(strings.ToLower(steps.Replace(path)), "..", "."), ".")
}

// imported imports the resource by its ID. What is read must be in the state, too.
func (i *instance) imported() {
	i.t.Helper()
	i.start("import")
	var id string
	i.check(parts(i.state)[".id"].As(&id))
	resp := call(i.run, i.server.ImportResourceState, &tfprotov6.ImportResourceStateRequest{TypeName: i.typ, ID: id})
	if len(resp.ImportedResources) != 1 || resp.ImportedResources[0].TypeName != i.typ {
		i.check(fmt.Errorf("ImportResourceState: expected one %s", i.typ))
	}
	imported := resp.ImportedResources[0]
	read, _ := i.read(i.value("ImportResourceState", imported.State), imported.Private)
	if read.IsNull() {
		i.check(errors.New("ReadResource does not find the imported resource"))
	}
	for _, a := range i.attrs {
		expected, found := parts(i.state)["."+a.Name], parts(read)["."+a.Name]
		if a.Type != nil && a.Type.Is(tftypes.DynamicPseudoType) { // the state has no defaults inside what a program configures
			expected, found = found, expected
		}
		if !covers(found, expected) && !i.mayDiffer(a.Name) {
			i.errorf("%s: expected %s, imported %s", a.Name, shown(a, expected), shown(a, found))
		}
	}
}
