package tfserve

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// What Check derives from the seed is unknown until the resource is created, and stays the same afterwards.
func TestGeneratedNames(t *testing.T) {
	e, _ := newLab(t, false)
	config := e.object(map[string]any{"kind": "box"})
	planned, resp := e.change(e.null(), config, []byte("the seed of the replaced resource"))
	wantShown(t, planned, "id=? kind=box label=? note=null level=3 size=? serial=? revision=?")
	made := e.decoded(resp.NewState, resp.Diagnostics)
	wantShown(t, made, "id=g-1 kind=box level=3 size=medium serial=s-g-1 revision=1")
	if string(resp.Private) == "the seed of the replaced resource" {
		t.Error("the seed of the replaced resource is used again")
	}
	for name, private := range map[string][]byte{"with its seed": resp.Private, "without, such as after an import": nil} {
		if plan := e.plan(made, config, private); !bytes.Equal(plan.PlannedState.MsgPack, e.encoded(made).MsgPack) {
			t.Errorf("%s: planned %v", name, e.decoded(plan.PlannedState, plan.Diagnostics))
		}
	}
	other, _ := e.created(config)
	if valueOf(other, "label") == valueOf(made, "label") {
		t.Error("two resources have the same generated name")
	}
}

// A removed property is planned as absent, although the proposed state keeps it.
func TestPlanFromConfig(t *testing.T) {
	e, _ := newLab(t, false)
	made, private := e.created(e.object(map[string]any{"kind": "box", "color": "red", "note": "mine", "label": "a"}))
	config := e.object(map[string]any{"kind": "box", "label": "a"})
	resp := must.Get(e.s.PlanResourceChange(t.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: e.name, PriorState: e.encoded(made), Config: e.encoded(config), ProposedNewState: e.encoded(made), PriorPrivate: private,
	}))(t)
	wantShown(t, e.decoded(resp.PlannedState, resp.Diagnostics), "id=g-1 color=null note=null label=a")
}

// Absent properties may depend on unknown ones; defaults do not.
func TestUnknownOptionals(t *testing.T) {
	e, _ := newLab(t, false)
	config := e.object(map[string]any{"kind": "box", "color": unknown, "label": "a"})
	plan := e.plan(e.null(), config, nil)
	wantShown(t, e.decoded(plan.PlannedState, plan.Diagnostics), "kind=box color=? note=? label=a level=3 pin=? peer=? data=?")
	made, private := e.created(e.object(map[string]any{"kind": "box", "color": "red", "label": "a"}))
	wantShown(t, made, "kind=box color=red label=a level=3 pin=null peer=null data=null")
	if got := valueOf(made, "note"); got != "painted red" {
		t.Errorf("note = %v", got)
	}
	plan = e.plan(made, config, private)
	wantShown(t, e.decoded(plan.PlannedState, plan.Diagnostics), "id=g-1 color=? note=? level=3")
}

// Without changes, the planned state is the prior one, byte for byte, whatever the form of the configuration.
func TestNoChanges(t *testing.T) {
	e, l := newLab(t, false)
	data := obj(map[string]tftypes.Value{"a": tuple(), "b": tftypes.NewValue(tftypes.DynamicPseudoType, nil)})
	config := func(color string) tftypes.Value {
		attributes := parts(e.object(map[string]any{"kind": "box", "color": color, "label": "a", "note": "n"}))
		attributes["data"] = data
		return tftypes.NewValue(e.typ.typ, attributes)
	}
	made, private := e.created(config("red"))
	if !parts(made)["data"].Equal(data) {
		t.Errorf("data = %v, want %v", parts(made)["data"], data)
	}
	prior := e.encoded(made)
	for name, c := range map[string]tftypes.Value{"the same": config("red"), "an ignored change": config("RED")} {
		resp := must.Get(e.s.PlanResourceChange(t.Context(), &tfprotov6.PlanResourceChangeRequest{
			TypeName: e.name, PriorState: prior, Config: e.encoded(c), PriorPrivate: private,
		}))(t)
		if resp.PlannedState != prior || string(resp.PlannedPrivate) != string(private) || len(resp.RequiresReplace)+len(resp.Diagnostics) > 0 {
			t.Errorf("%s: %+v", name, resp)
		}
	}
	_, resp := e.change(made, e.object(map[string]any{"kind": "box", "color": "RED", "label": "b", "note": "n"}), private)
	wantShown(t, e.decoded(resp.NewState, resp.Diagnostics), "color=red label=b data=null")
	if l.count("update") != 1 {
		t.Error(l.calls)
	}
}

// Outputs are unknown in an update, except for fixed ones.
func TestOutputsOfUpdates(t *testing.T) {
	e, _ := newLab(t, false)
	made, private := e.created(e.object(map[string]any{"kind": "box", "label": "a"}))
	planned, resp := e.change(made, e.object(map[string]any{"kind": "box", "label": "b"}), private)
	wantShown(t, planned, "id=g-1 label=b serial=s-g-1 revision=? size=?")
	wantShown(t, e.decoded(resp.NewState, resp.Diagnostics), "id=g-1 label=b serial=s-g-1 revision=2 size=medium")
	if string(resp.Private) != string(private) {
		t.Errorf("private = %q, want %q", resp.Private, private)
	}
}

func TestRequiresReplace(t *testing.T) {
	e, _ := newLab(t, false)
	first := map[string]any{"kind": "box", "label": "a", "level": 5}
	made, private := e.created(e.object(first))
	attributes := parts(e.object(first))
	attributes["data"] = obj(map[string]tftypes.Value{"inner": str("x")})
	for name, test := range map[string]struct {
		config tftypes.Value
		want   string
	}{
		"kind":              {e.object(map[string]any{"kind": "bag", "label": "a", "level": 5}), `[AttributeName("kind")]`},
		"level":             {e.object(map[string]any{"kind": "box", "label": "a", "level": 4}), `[AttributeName("level")]`},
		"inside any":        {tftypes.NewValue(e.typ.typ, attributes), `[AttributeName("data")]`},
		"an unknown value":  {e.object(map[string]any{"kind": unknown, "label": "a", "level": 5}), `[AttributeName("kind")]`},
		"only the label":    {e.object(map[string]any{"kind": "box", "label": "b", "level": 5}), `[]`},
		"everything at all": {e.object(map[string]any{"kind": "bag", "level": 1}), `[AttributeName("kind") AttributeName("level")]`},
	} {
		plan := e.plan(made, test.config, private)
		e.decoded(plan.PlannedState, plan.Diagnostics)
		if got := showPaths(plan.RequiresReplace); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// If nothing changes at the path of a replacement, the id does.
func TestReplaceWithoutPath(t *testing.T) {
	e, _ := newLab(t, false)
	made, private := e.created(e.object(map[string]any{"kind": "box", "label": "a"}))
	plan := e.plan(made, e.object(map[string]any{"kind": "box", "label": "a", "note": "anew"}), private)
	wantShown(t, e.decoded(plan.PlannedState, plan.Diagnostics), "id=? kind=box label=a note=anew")
	if got := showPaths(plan.RequiresReplace); got != `[AttributeName("id")]` {
		t.Error(got)
	}
	made, private = e.created(e.object(map[string]any{"kind": "box", "label": "a", "note": "auto", "color": "red"}))
	plan = e.plan(made, e.object(map[string]any{"kind": "box", "label": "a", "note": "auto", "color": "blue"}), private)
	wantShown(t, e.decoded(plan.PlannedState, plan.Diagnostics), "id=? note=auto color=blue")
	if got := showPaths(plan.RequiresReplace); got != `[AttributeName("id")]` {
		t.Error(got)
	}
}

// Where a change is ignored, the value has its prior form.
func TestIgnoredForm(t *testing.T) {
	e, _ := newLab(t, false)
	config := func(label string, data map[string]tftypes.Value) tftypes.Value {
		attributes := parts(e.object(map[string]any{"kind": "box", "label": label}))
		attributes["data"] = obj(data)
		return tftypes.NewValue(e.typ.typ, attributes)
	}
	made, private := e.created(config("a", map[string]tftypes.Value{"free": str("x"), "null": tftypes.NewValue(tftypes.String, nil)}))
	planned, resp := e.change(made, config("b", map[string]tftypes.Value{"free": str("y")}), private)
	after := e.decoded(resp.NewState, resp.Diagnostics)
	for _, v := range []tftypes.Value{planned, after} {
		if want := parts(made)["data"]; !parts(v)["data"].Equal(want) {
			t.Errorf("%v\nwant %v", parts(v)["data"], want)
		}
	}
}

// A state has configurations' form, without the defaults inside of dynamic values.
func TestDefaultsInStates(t *testing.T) {
	uses := property("uses", schema.Int)
	uses.Default = 0.0
	login := &schema.Struct{Header: schema.Header{Name: "Login"}, Properties: []*schema.Property{property("user", schema.String), uses}}
	r := &schema.Resource{Header: schema.Header{Name: "Door"}, Token: "lab:index:Door", Properties: []*schema.Property{
		property("logins", &schema.List{Elem: &schema.List{Elem: ref(login)}}), property("plain", &schema.List{Elem: ref(login)}),
	}}
	typ := &resourceType{shape: newShapes(&names{}).resource(r)}
	user := map[string]tftypes.Value{"user": str("ann")}
	plain := typ.byName["plain"]
	state := with(typ.shape, map[string]tftypes.Value{
		"logins": tuple(tuple(obj(user))), "plain": tftypes.NewValue(plain.typ, []tftypes.Value{with(plain.elem, user)}),
	})
	bag := typ.storedBag(state)
	if got := fmt.Sprint(bag.Get("logins"), bag.Get("plain")); got != "[[map[user:ann uses:0]]] [map[user:ann]]" {
		t.Error(got)
	}
}

func showPaths(all []*tftypes.AttributePath) string {
	text := "["
	for i, p := range all {
		if i > 0 {
			text += " "
		}
		text += p.String()
	}
	return text + "]"
}

func TestDiagnostics(t *testing.T) {
	e, l := newLab(t, false)
	validate := func(attributes map[string]any) []*tfprotov6.Diagnostic {
		return must.Get(e.s.ValidateResourceConfig(t.Context(), &tfprotov6.ValidateResourceConfigRequest{
			TypeName: e.name, Config: e.encoded(e.object(attributes)),
		}))(t).Diagnostics
	}
	wantDiagnostics(t, validate(map[string]any{"kind": "b", "color": "none"}),
		`ERROR: Invalid value | kind: must have at least 2 characters, found 1 @ AttributeName("kind")`)
	wantDiagnostics(t, validate(map[string]any{"kind": unknown, "color": "none"}))
	if len(l.calls) > 0 {
		t.Errorf("the validation calls %v", l.calls)
	}
	plan := e.plan(e.null(), e.object(map[string]any{"kind": "box", "color": "none"}), nil)
	wantDiagnostics(t, plan.Diagnostics, `ERROR: Invalid value | color: is not a color @ AttributeName("color")`)
	plan = e.plan(e.null(), e.object(map[string]any{"kind": "box", "color": "pink"}), nil)
	wantDiagnostics(t, plan.Diagnostics, `WARNING: pink fades`)
	resp := must.Get(e.s.ValidateResourceConfig(t.Context(), &tfprotov6.ValidateResourceConfigRequest{TypeName: "lab_gadge"}))(t)
	wantDiagnostics(t, resp.Diagnostics, `ERROR: the provider has no resource type lab_gadge; did you mean lab_gadget?`)
}

// Values share their parts, so nothing may change them.
func TestSharedParts(t *testing.T) {
	list := collection(list, assetShape)
	file := func(hash any) tftypes.Value {
		asset := with(assetShape, map[string]tftypes.Value{"path": str("a"), "hash": tftypes.NewValue(tftypes.String, hash)})
		return tftypes.NewValue(list.typ, []tftypes.Value{asset})
	}
	given := file(nil)
	if got := list.unsettle(given); !got.Equal(file(unknown)) || !given.Equal(file(nil)) {
		t.Errorf("%v of %v", got, given)
	}
	given = file("h")
	if got := list.pin(file("x"), given); !got.Equal(file("x")) || !given.Equal(file("h")) {
		t.Errorf("%v of %v", got, given)
	}
	if got := list.pin(file(nil), given); !got.Equal(given) {
		t.Errorf("%v, want %v", got, given)
	}
}
