package pulumitest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/internal/fixture"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
)

// instance is a resource under test, with the state that Pulumi would store.
type instance struct {
	*run
	fixture         *fixture.Resource
	properties      []*schema.Property
	urn, id         string // the ID is empty if the resource does not exist
	inputs, outputs *structpb.Struct
}

// start begins a step of the test of a resource.
func (i *instance) start(step string) { i.where = fmt.Sprintf("%q: %s", i.fixture.Key(), step) }

// life takes a resource through its life, except for its deletion. If others need it, it is created anew for them.
func (i *instance) life(needed bool) {
	i.t.Helper()
	f, bag := i.fixture, i.fixture.Create
	for n, refusal := range f.Faults {
		i.start(fmt.Sprintf("faults %d", n+1))
		i.refuses(refusal)
	}
	for _, name := range slices.Sorted(maps.Keys(bag)) {
		if !slices.Contains(f.Known, name) {
			i.start("preview with " + name + " unknown")
			i.previewCreate(i.checked(i.object(bag, func(n string) bool { return n == name }), nil))
		}
	}
	i.start("create")
	i.create(i.checked(i.object(bag, nil), nil))
	i.expect(f.Expect, bag)
	i.start("import")
	i.imported()
	for n, set := range f.Ignores {
		i.start(fmt.Sprintf("ignored change %d", n+1))
		i.unchanged(bag.With(set))
	}
	for n, change := range f.Updates {
		i.start(fmt.Sprintf("update %d", n+1))
		bag = bag.With(change.Set)
		inputs := i.checked(i.object(bag, nil), i.inputs)
		if diff := i.diff(inputs); diff.GetChanges() != pulumirpc.DiffResponse_DIFF_SOME || len(diff.GetReplaces()) > 0 {
			i.errorf("expected an update, got %s with replacements because of %q", diff.GetChanges(), diff.GetReplaces())
		}
		i.update(inputs)
		i.expect(change.Expect, bag)
	}
	for n, change := range f.Replaces {
		i.start(fmt.Sprintf("replace %d", n+1))
		bag = bag.With(change.Set)
		i.replace(bag, change)
		i.expect(change.Expect, bag)
	}
	if needed {
		i.start("create for others")
		i.delete(i.id, i.outputs)
		i.id = ""
		i.create(i.checked(i.object(f.Create, nil), nil))
	}
}

// refuses checks that the provider refuses properties with the expected messages.
func (i *instance) refuses(expected fixture.Refusal) {
	i.t.Helper()
	resp := call(i.run, i.server.Check, i.request(i.object(i.fixture.Create.With(expected.Set), nil), nil))
	var found []string
	for _, f := range resp.GetFailures() {
		found = append(found, strings.TrimPrefix(f.GetProperty()+": "+f.GetReason(), ": "))
	}
	for _, want := range expected.Expect {
		if !slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(f, want) }) {
			i.errorf("expected the failure %q, got %q", want, found)
		}
	}
}

func (i *instance) request(news, olds *structpb.Struct) *pulumirpc.CheckRequest {
	return &pulumirpc.CheckRequest{Urn: i.urn, News: news, Olds: olds, RandomSeed: []byte(i.urn)}
}

// checked returns the inputs that Check makes of a program's properties.
func (i *instance) checked(news, olds *structpb.Struct) *structpb.Struct {
	i.t.Helper()
	resp := call(i.run, i.server.Check, i.request(news, olds))
	if len(resp.GetFailures()) > 0 {
		i.check(fmt.Errorf("Check failed: %v", resp.GetFailures()))
	}
	i.report("Check", checkRules(i.properties, news, resp.GetInputs()))
	return resp.GetInputs()
}

// previewCreate returns the planned outputs of a creation.
func (i *instance) previewCreate(inputs *structpb.Struct) *structpb.Struct {
	i.t.Helper()
	resp := call(i.run, i.server.Create, &pulumirpc.CreateRequest{Urn: i.urn, Properties: inputs, Preview: true})
	if resp.GetId() != "" {
		i.errorf("Create: a preview returns the ID %q", resp.GetId())
	}
	i.report("Create (preview)", previewRules(i.properties, inputs, nil, resp.GetProperties()))
	return resp.GetProperties()
}

// create creates the resource after a preview.
func (i *instance) create(inputs *structpb.Struct) {
	i.t.Helper()
	planned := i.previewCreate(inputs)
	resp := call(i.run, i.server.Create, &pulumirpc.CreateRequest{Urn: i.urn, Properties: inputs})
	if i.id = resp.GetId(); i.id == "" {
		i.errorf("Create returns no ID")
	}
	i.inputs, i.outputs = inputs, resp.GetProperties()
	i.report("Create", stateRules(i.properties, planned, i.outputs))
}

// update updates the resource after a preview.
func (i *instance) update(inputs *structpb.Struct) {
	i.t.Helper()
	req := func(preview bool) *pulumirpc.UpdateRequest {
		return &pulumirpc.UpdateRequest{Id: i.id, Urn: i.urn, Olds: i.outputs, OldInputs: i.inputs, News: inputs, Preview: preview}
	}
	planned := call(i.run, i.server.Update, req(true)).GetProperties()
	i.report("Update (preview)", previewRules(i.properties, inputs, i.outputs, planned))
	i.outputs = call(i.run, i.server.Update, req(false)).GetProperties()
	i.inputs = inputs
	i.report("Update", stateRules(i.properties, planned, i.outputs))
}

// replace replaces the resource in the order that the diff requires.
func (i *instance) replace(bag providertest.Properties, change providertest.Replacement) {
	i.t.Helper()
	diff := i.diff(i.checked(i.object(bag, nil), i.inputs))
	if len(diff.GetReplaces()) == 0 {
		i.errorf("expected a replacement, got %s", diff.GetChanges())
	}
	for _, path := range change.Because {
		if kind := diff.GetDetailedDiff()[string(path)].GetKind(); !strings.HasSuffix(kind.String(), "_REPLACE") &&
			!slices.Contains(diff.GetReplaces(), string(path)) {
			i.errorf("expected a replacement because of %s, but the reasons are %q", path, diff.GetReplaces())
		}
	}
	inputs, id, outputs := i.checked(i.object(bag, nil), nil), i.id, i.outputs // the engine checks again without old inputs
	if change.DeleteFirst || diff.GetDeleteBeforeReplace() {
		i.delete(id, outputs)
		i.id = ""
		i.create(inputs)
		return
	}
	i.create(inputs)
	i.delete(id, outputs)
}

// diff returns the differences of the resource and new inputs.
func (i *instance) diff(inputs *structpb.Struct) *pulumirpc.DiffResponse {
	i.t.Helper()
	resp := call(i.run, i.server.Diff, &pulumirpc.DiffRequest{Id: i.id, Urn: i.urn, Olds: i.outputs, OldInputs: i.inputs, News: inputs})
	i.report("Diff", diffRules(resp))
	return resp
}

// unchanged checks that there is nothing to change.
func (i *instance) unchanged(bag providertest.Properties) {
	i.t.Helper()
	if diff := i.diff(i.checked(i.object(bag, nil), i.inputs)); diff.GetChanges() != pulumirpc.DiffResponse_DIFF_NONE {
		i.errorf("expected no changes, got %s of %q", diff.GetChanges(), diff.GetDiffs())
	}
}

// expect checks the outputs, that a refresh finds no drift, and that nothing is left to change.
func (i *instance) expect(expected, bag providertest.Properties) {
	i.t.Helper()
	want := i.object(expected, nil)
	for _, name := range slices.Sorted(maps.Keys(want.GetFields())) {
		if w, got := revealed(want.GetFields()[name]), revealed(i.outputs.GetFields()[name]); !covers(w, got) {
			i.errorf("%s: expected another value", name)
		}
	}
	read := call(i.run, i.server.Read, &pulumirpc.ReadRequest{Id: i.id, Urn: i.urn, Properties: i.outputs, Inputs: i.inputs})
	i.same("Read", read, i.outputs)
	i.inputs, i.outputs = read.GetInputs(), read.GetProperties() // as the engine stores them
	i.unchanged(bag)
}

// imported reads the resource by its ID.
func (i *instance) imported() {
	i.t.Helper()
	read := call(i.run, i.server.Read, &pulumirpc.ReadRequest{Id: i.id, Urn: i.urn})
	known := maps.Clone(i.outputs.GetFields())
	maps.DeleteFunc(known, func(name string, _ *structpb.Value) bool { return read.GetProperties().GetFields()[name] == nil })
	i.same("Read (import)", read, &structpb.Struct{Fields: known})
}

// same checks that Read found the resource with the given outputs.
func (i *instance) same(name string, read *pulumirpc.ReadResponse, outputs *structpb.Struct) {
	i.t.Helper()
	if read.GetId() != i.id {
		i.errorf("%s: expected the ID %q, got %q", name, i.id, read.GetId())
	}
	i.report(name, stateRules(i.properties, nil, read.GetProperties()))
	for _, p := range i.properties {
		want, got := outputs.GetFields()[p.Name], read.GetProperties().GetFields()[p.Name]
		if !slices.Contains(i.fixture.MayDiffer, lumi.Path(p.Name)) && !equal(want, got) {
			i.errorf("%s: %s differs from the state", name, p.Name)
		}
	}
}

func (i *instance) deletion(id string, outputs *structpb.Struct) *pulumirpc.DeleteRequest {
	return &pulumirpc.DeleteRequest{Id: id, Urn: i.urn, Properties: outputs}
}

// delete deletes a resource twice, as after a lost answer, and checks that it is gone.
func (i *instance) delete(id string, outputs *structpb.Struct) {
	i.t.Helper()
	call(i.run, i.server.Delete, i.deletion(id, outputs))
	call(i.run, i.server.Delete, i.deletion(id, outputs))
	if id == i.id {
		if read := call(i.run, i.server.Read, &pulumirpc.ReadRequest{Id: id, Urn: i.urn, Properties: outputs, Inputs: i.inputs}); read.GetId() != "" {
			i.errorf("Delete: the resource still exists")
		}
	}
}
