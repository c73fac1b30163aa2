package tfserve

import (
	"errors"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/adapter/internal/bridge"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// failing makes the author's code fail in one kind of call.
func failing(call string, err error) func(string) error {
	return func(c string) error {
		if c == call {
			return err
		}
		return nil
	}
}

func TestUncertainCreate(t *testing.T) {
	e, l := newLab(t, false)
	l.fail = failing("create", lumi.Uncertain(errDown))
	config := e.object(map[string]any{"kind": "box", "label": "a"})
	made, _ := e.created(config)
	wantShown(t, made, "id=g-1 kind=box label=a level=3 size=medium serial=s-g-1 revision=1")

	l.lost = errors.New("no answer")
	_, resp := e.change(e.null(), config, nil)
	wantDiagnostics(t, resp.Diagnostics,
		"ERROR: the cloud is down | no answer\nthe resource may exist nevertheless: import or delete it before the next apply")
	l.lost = nil

	l.fail = func(string) error {
		l.created = map[string]lumi.ID{} // Find finds nothing.
		return lumi.Uncertain(errDown)
	}
	_, resp = e.change(e.null(), config, nil)
	wantDiagnostics(t, resp.Diagnostics, "ERROR: the cloud is down; the resource was not created")
	if must.Get(e.typ.value(resp.NewState))(t).IsNull() != true {
		t.Errorf("state = %v", resp.NewState)
	}

	l.fail = func(string) error { // Find finds a gadget that is not finished.
		for id, g := range l.gadgets {
			g.Label = nil
			l.gadgets[id] = g
		}
		return lumi.Uncertain(errDown)
	}
	_, resp = e.change(e.null(), config, nil)
	wantDiagnostics(t, resp.Diagnostics, "ERROR: the cloud is down")
	wantShown(t, must.Get(e.typ.value(resp.NewState))(t), "id=g-1 kind=box label=null")
}

func TestPartialCreate(t *testing.T) {
	e, l := newLab(t, false)
	l.partly, l.fail = true, failing("create", errDown)
	_, resp := e.change(e.null(), e.object(map[string]any{"kind": "box", "label": "a", "pin": "1234"}), nil)
	wantDiagnostics(t, resp.Diagnostics, "ERROR: partially done: the cloud is down")
	state := must.Get(e.typ.value(resp.NewState))(t)
	wantShown(t, state, "id=g-1 kind=box label=null level=null pin=null serial=s-g-1 revision=1")
	if !state.IsFullyKnown() || len(resp.Private) == 0 {
		t.Errorf("state = %v, private = %q", state, resp.Private)
	}
}

func TestPartialUpdate(t *testing.T) {
	e, l := newLab(t, false)
	made, private := e.created(e.object(map[string]any{"kind": "box", "label": "a", "color": "red"}))
	config := e.object(map[string]any{"kind": "box", "label": "b", "color": "blue", "note": "n"})
	l.fail = failing("update", errDown)
	_, resp := e.change(made, config, private)
	wantDiagnostics(t, resp.Diagnostics, "ERROR: the cloud is down")
	if !must.Get(e.typ.value(resp.NewState))(t).Equal(made) || string(resp.Private) != string(private) {
		t.Errorf("after an update that failed: %+v", resp)
	}
	l.partly = true
	_, resp = e.change(made, config, private)
	wantDiagnostics(t, resp.Diagnostics, "ERROR: partially done: the cloud is down")
	wantShown(t, must.Get(e.typ.value(resp.NewState))(t), "id=g-1 label=b color=red serial=s-g-1 revision=2")
}

func TestDelete(t *testing.T) {
	e, l := newLab(t, false)
	made, private := e.created(e.object(map[string]any{"kind": "box", "label": "a"}))
	l.fail = failing("delete", errDown)
	planned, resp := e.change(made, e.null(), private)
	wantDiagnostics(t, resp.Diagnostics, "ERROR: the cloud is down")
	if !planned.IsNull() || !must.Get(e.typ.value(resp.NewState))(t).Equal(made) {
		t.Errorf("planned %v, after a failure: %v", planned, resp.NewState)
	}
	l.fail = nil
	// In a replacement, the private data is the one of the new resource.
	_, resp = e.change(made, e.null(), []byte("new"))
	if left := e.decoded(resp.NewState, resp.Diagnostics); !left.IsNull() || len(resp.Private) > 0 || len(l.gadgets) > 0 {
		t.Errorf("left %v %q %v", left, resp.Private, l.gadgets)
	}
}

// Engines pass the whole configuration to ApplyResourceChange, but plan without the changes that ignore_changes lists.
func TestIgnoredByConfiguration(t *testing.T) {
	e, l := newLab(t, false)
	made, private := e.created(e.object(map[string]any{"kind": "box", "label": "a", "color": "red"}))
	plan := e.plan(made, e.object(map[string]any{"kind": "box", "label": "b", "color": "red"}), private)
	resp := must.Get(e.s.ApplyResourceChange(t.Context(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName: e.name, PriorState: e.encoded(made), PlannedState: plan.PlannedState, PlannedPrivate: plan.PlannedPrivate,
		Config: e.encoded(e.object(map[string]any{"kind": "bag", "label": "b", "color": "blue"})),
	}))(t)
	wantShown(t, e.decoded(resp.NewState, resp.Diagnostics), "kind=box label=b color=red")
	if g := l.gadgets["g-1"]; g.Kind != "box" || *g.Label != "b" || *g.Color != "red" {
		t.Errorf("kind = %s, label = %s, color = %s", g.Kind, *g.Label, *g.Color)
	}
	if string(resp.Private) != string(private) {
		t.Errorf("private = %q, want %q", resp.Private, private)
	}
}

// A plan that needs no update once all is known does not call Update.
func TestNeedlessUpdate(t *testing.T) {
	e, l := newLab(t, false)
	config := e.object(map[string]any{"kind": "box", "label": "a"})
	made, private := e.created(config)
	planned := e.plan(made, e.object(map[string]any{"kind": "box", "label": unknown}), private)
	resp := must.Get(e.s.ApplyResourceChange(t.Context(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName: e.name, PriorState: e.encoded(made), Config: e.encoded(config), PlannedState: planned.PlannedState, PlannedPrivate: private,
	}))(t)
	if after := e.decoded(resp.NewState, resp.Diagnostics); !after.Equal(made) || l.count("update") > 0 || string(resp.Private) != string(private) {
		t.Errorf("%v %q\nwant %v %q", after, resp.Private, made, private)
	}
}

// References are read once, and again after a change.
func TestReadingReferences(t *testing.T) {
	e, l := newLab(t, false)
	peer, private := e.created(e.object(map[string]any{"kind": "box", "label": "a"}))
	config := e.object(map[string]any{"kind": "bag", "label": "b", "peer": "g-1"})
	label := func() (text any) {
		for _, r := range l.refs {
			text = r.Properties.Get("label")
			if r.ID != "g-1" {
				t.Errorf("id = %q", r.ID)
			}
		}
		return text
	}
	made, _ := e.created(config)
	wantShown(t, made, "peer=g-1")
	e.plan(made, config, nil)
	if label() != "a" || l.count("get g-1") != 1 {
		t.Errorf("label = %v, calls = %v", label(), l.calls)
	}
	peer = func() tftypes.Value {
		_, resp := e.change(peer, e.object(map[string]any{"kind": "box", "label": "c"}), private)
		return e.decoded(resp.NewState, resp.Diagnostics)
	}()
	if e.plan(made, config, nil); label() != "c" {
		t.Errorf("label = %v after an update", label())
	}
	e.change(peer, e.null(), nil)
	if e.plan(made, config, nil); label() != nil {
		t.Errorf("label = %v after the deletion", label())
	}
}

func TestReadAndImport(t *testing.T) {
	e, l := newLab(t, false)
	made, private := e.created(e.object(map[string]any{"kind": "box", "label": "a", "pin": "1234"}))
	read := func(id string, state tftypes.Value) *tfprotov6.ReadResourceResponse {
		return must.Get(e.s.ReadResource(t.Context(), &tfprotov6.ReadResourceRequest{
			TypeName: e.name, CurrentState: e.encoded(state), Private: private,
		}))(t)
	}
	// The pin is never read back.
	resp := read("g-1", made)
	if now := e.decoded(resp.NewState, resp.Diagnostics); !now.Equal(made) || string(resp.Private) != string(private) {
		t.Errorf("%v %q\nwant %v", now, resp.Private, made)
	}
	g := l.gadgets["g-1"]
	g.Color = new("red")
	l.gadgets["g-1"] = g
	resp = read("g-1", made)
	wantShown(t, e.decoded(resp.NewState, resp.Diagnostics), "id=g-1 label=a color=red pin=1234")

	imported := must.Get(e.s.ImportResourceState(t.Context(), &tfprotov6.ImportResourceStateRequest{TypeName: e.name, ID: "g-1"}))(t)
	wantDiagnostics(t, imported.Diagnostics)
	wantShown(t, must.Get(e.typ.value(imported.ImportedResources[0].State))(t), "id=g-1 kind=box label=a color=red pin=null revision=1")
	imported = must.Get(e.s.ImportResourceState(t.Context(), &tfprotov6.ImportResourceStateRequest{TypeName: e.name, ID: "g-9"}))(t)
	wantDiagnostics(t, imported.Diagnostics, "ERROR: g-9: no such resource")
	if len(imported.ImportedResources) > 0 {
		t.Error(imported.ImportedResources)
	}
	delete(l.gadgets, "g-1")
	resp = read("g-1", made)
	if now := e.decoded(resp.NewState, resp.Diagnostics); !now.IsNull() {
		t.Errorf("read %v", now)
	}
}

// Clouds return neither references nor where files come from.
func TestForeignValues(t *testing.T) {
	e, l := newLab(t, false)
	made, _ := e.created(e.object(map[string]any{"kind": "box", "label": "a", "peer": "g-7"}))
	g := l.gadgets["g-1"]
	g.Peer = nil
	l.gadgets["g-1"] = g
	if read := e.read(made); !read.Equal(made) {
		t.Errorf("%v\nwant %v", read, made)
	}
	text := func(s string) any { return map[string]any{wire.Signature: wire.Asset, "text": s} }
	bag := func(fields map[string]any) map[string]*structpb.Value {
		return must.Get(structpb.NewStruct(fields))(t).Fields
	}
	stored := bag(map[string]any{
		"gone": text("a"), "read": text("b"), "list": []any{text("c"), "x"}, "all": []any{text("d")}, "in": map[string]any{"file": text("e"), "size": 1}, "text": "f",
	})
	read := bag(map[string]any{"read": text("B"), "list": []any{text("C"), "y", text("z")}, "in": map[string]any{"size": 2}, "new": 1})
	want := bag(map[string]any{
		"gone": text("a"), "read": text("b"), "list": []any{text("c"), "y", text("z")}, "all": []any{text("d")},
		"in": map[string]any{"file": text("e"), "size": 2}, "new": 1,
	})
	if got := bridge.WithForeign(read, stored); !containsFields(structOf(got), structOf(want)) || len(got) != len(want) {
		t.Errorf("%v\nwant %v", got, want)
	}
}

func structOf(fields map[string]*structpb.Value) *structpb.Value {
	return structpb.NewStructValue(&structpb.Struct{Fields: fields})
}

// A provider whose configuration is unknown plans creations and nothing else.
func TestUnknownConfiguration(t *testing.T) {
	e, l := newLab(t, true)
	configure := func(region any) []*tfprotov6.Diagnostic {
		typ := tftypes.Object{AttributeTypes: map[string]tftypes.Type{"region": tftypes.String}}
		v := must.Get(tfprotov6.NewDynamicValue(typ, tftypes.NewValue(typ, map[string]tftypes.Value{"region": tftypes.NewValue(tftypes.String, region)})))(t)
		return must.Get(e.s.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{Config: &v}))(t).Diagnostics
	}
	wantDiagnostics(t, configure(unknown))
	config := e.object(map[string]any{"kind": "box", "color": "none"})
	plan := e.plan(e.null(), config, nil)
	wantShown(t, e.decoded(plan.PlannedState, plan.Diagnostics), "id=? kind=box label=? note=? color=none level=? peer=? size=? serial=? revision=?")
	const want = "ERROR: the configuration of the provider depends on changes that are not applied yet: apply them first, for instance with -target"
	state := e.object(map[string]any{"id": "g-1", "kind": "box"})
	wantDiagnostics(t, e.plan(state, config, nil).Diagnostics, want)
	read := must.Get(e.s.ReadResource(t.Context(), &tfprotov6.ReadResourceRequest{TypeName: e.name, CurrentState: e.encoded(state)}))(t)
	wantDiagnostics(t, read.Diagnostics, want)
	imported := must.Get(e.s.ImportResourceState(t.Context(), &tfprotov6.ImportResourceStateRequest{TypeName: e.name, ID: "g-1"}))(t)
	wantDiagnostics(t, imported.Diagnostics, want)
	applied := must.Get(e.s.ApplyResourceChange(t.Context(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName: e.name, PriorState: e.encoded(state), PlannedState: e.encoded(e.null()), Config: e.encoded(e.null()),
	}))(t)
	wantDiagnostics(t, applied.Diagnostics, want)
	if len(l.calls) > 0 {
		t.Error(l.calls)
	}

	e, _ = newLab(t, true)
	wantDiagnostics(t, e.plan(e.null(), config, nil).Diagnostics, "ERROR: the provider is not configured yet")
	wantDiagnostics(t, configure("moon"), `ERROR: Invalid value | region: is too far away @ AttributeName("region")`)
	wantDiagnostics(t, configure("north"))
	e.created(e.object(map[string]any{"kind": "box"}))
}

func TestUpgrade(t *testing.T) {
	e, l := newLab(t, true) // not configured
	upgrade := func(state string) tftypes.Value {
		resp := must.Get(e.s.UpgradeResourceState(t.Context(), &tfprotov6.UpgradeResourceStateRequest{
			TypeName: e.name, RawState: &tfprotov6.RawState{JSON: []byte(state)},
		}))(t)
		return e.decoded(resp.UpgradedState, resp.Diagnostics)
	}
	const current = `{"id":"g-1","kind":"box","label":"a","note":"n","color":null,"level":3,"pin":"1234","peer":null,
		"data":{"type":["object",{"a":["tuple",[]]}],"value":{"a":[]}},"size":"big","serial":"s","revision":1}`
	wantShown(t, upgrade(current), "id=g-1 kind=box label=a note=n color=null level=3 pin=1234 size=big serial=s revision=1")
	if data := parts(upgrade(current))["data"]; !data.Equal(obj(map[string]tftypes.Value{"a": tuple()})) {
		t.Errorf("data = %v", data)
	}
	const old = `{"id":"g-1","kind":"box","remark":"n","level":"high","price_tag":{"x":[1]},"serial":"s","revision":1}`
	wantShown(t, upgrade(old), "id=g-1 kind=box label=null note=n level=9 serial=s revision=1")
	if got := l.stored.Get("priceTag"); got == nil {
		t.Errorf("stored = %v", l.stored)
	}
	if len(l.calls) > 0 {
		t.Error(l.calls)
	}
	resp := must.Get(e.s.UpgradeResourceState(t.Context(), &tfprotov6.UpgradeResourceStateRequest{
		TypeName: e.name, RawState: &tfprotov6.RawState{JSON: []byte("[]")},
	}))(t)
	wantDiagnostics(t, resp.Diagnostics,
		"ERROR: the state is not a JSON object: json: cannot unmarshal array into Go value of type map[string]interface {}")
}

func TestMove(t *testing.T) {
	e, _ := newLab(t, true) // not configured
	move := func(from string) *tfprotov6.MoveResourceStateResponse {
		return must.Get(e.s.MoveResourceState(t.Context(), &tfprotov6.MoveResourceStateRequest{
			SourceTypeName: from, TargetTypeName: e.name, SourcePrivate: []byte("seed"),
			SourceState: &tfprotov6.RawState{JSON: []byte(`{"id":"g-1","kind":"box","remark":"n"}`)},
		}))(t)
	}
	resp := move("lab_widget")
	wantShown(t, e.decoded(resp.TargetState, resp.Diagnostics), "id=g-1 kind=box note=n")
	if string(resp.TargetPrivate) != "seed" {
		t.Errorf("private = %q", resp.TargetPrivate)
	}
	wantDiagnostics(t, move("lab_thing").Diagnostics,
		"ERROR: cannot move a lab_thing to a lab_gadget, which never had that name")
}
