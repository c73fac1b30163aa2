package tfserve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/lumi-idl/lumi/idl/schema"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// gadget is like a struct generated for the resource of lab.
type gadget struct {
	Kind               string
	Label, Note, Color *string
	Level              *int
	PIN                *string
	Peer               *urn.URN
	Data               any
	Size               *string
	Serial             string
	Revision           int
}

const gadgetToken tokens.Type = "lab:index:Gadget"

func (g *gadget) Lumi(p *lumi.Props) {
	lumi.Required(p, "kind", &g.Kind, lumi.With(lumi.String, lumi.MinLength(2)), lumi.Replaces)
	lumi.Optional(p, "label", &g.Label, lumi.String)
	lumi.Optional(p, "note", &g.Note, lumi.With(lumi.String, lumi.Was("remark")))
	lumi.Optional(p, "color", &g.Color, lumi.String)
	lumi.Optional(p, "level", &g.Level, lumi.With(lumi.Int, lumi.Default(3)))
	lumi.Optional(p, "pin", &g.PIN, lumi.String, lumi.In, lumi.Secret)
	lumi.Optional(p, "peer", &g.Peer, lumi.Capability(gadgetToken))
	lumi.Nilable(p, "data", &g.Data, lumi.Any)
	lumi.Optional(p, "size", &g.Size, lumi.String, lumi.Computed)
	lumi.Required(p, "serial", &g.Serial, lumi.String, lumi.Out, lumi.Fixed)
	lumi.Required(p, "revision", &g.Revision, lumi.Int, lumi.Out)
}

// lab is a provider of gadgets in memory, and their author.
type lab struct {
	gadgets map[lumi.ID]gadget
	// created holds the ids of gadgets by the tokens of their creations.
	created map[string]lumi.ID
	calls   []string
	refs    lumi.References
	// fail, if set, is called after Create, Update, and Delete.
	fail func(call string) error
	// partly makes a Create that fails return the id, too.
	partly bool
	// lost, if set, is the error of Find.
	lost error
	// wait, if set, is called by Get.
	wait   func(context.Context) error
	stored lumi.Bag
}

func (l *lab) Check(ctx context.Context, want *lumi.State[*gadget]) error {
	l.calls = append(l.calls, "check")
	g := want.Properties
	l.refs = want.Refs
	if g.Label == nil && !want.Unknown.Has("label") {
		g.Label = new(want.Seed.Name("gadget-", 8, lumi.LowerAlphanumeric))
	}
	if g.Note == nil && !want.Unknown.Has("note") && !want.Unknown.Has("color") && g.Color != nil {
		g.Note = new("painted " + *g.Color)
	}
	if g.Note != nil && *g.Note == "auto" && g.Color != nil {
		g.Note = new("auto " + *g.Color)
	}
	if g.Color != nil && *g.Color == "pink" {
		lumi.Log(ctx).Warn("pink fades")
	}
	if g.Color != nil && *g.Color == "none" {
		return lumi.Faultf("color", "is not a color")
	}
	return nil
}

func (l *lab) Name(context.Context, *lumi.State[*gadget]) (string, error) { return "", nil }

func (l *lab) Create(_ context.Context, want *lumi.State[*gadget]) (lumi.ID, error) {
	l.calls = append(l.calls, "create")
	id := lumi.ID("g-" + strconv.Itoa(len(l.created)+1))
	g := want.Properties
	g.Serial, g.Revision = "s-"+string(id), 1
	if g.Size == nil {
		g.Size = new("medium")
	}
	l.gadgets[id], l.created[want.Token] = *g, id
	if l.fail == nil {
		return id, nil
	}
	if err := l.fail("create"); err != nil && !l.partly {
		return "", err
	}
	return id, l.fail("create")
}

func (l *lab) Find(_ context.Context, want *lumi.State[*gadget]) (lumi.ID, error) {
	if id, ok := l.created[want.Token]; ok {
		return id, l.lost
	}
	return "", lumi.ErrNotFound
}

func (l *lab) Get(ctx context.Context, id lumi.ID, _ *lumi.State[*gadget]) (*gadget, error) {
	l.calls = append(l.calls, "get "+string(id))
	if l.wait != nil {
		return nil, l.wait(ctx)
	}
	g, ok := l.gadgets[id]
	if !ok {
		return nil, lumi.ErrNotFound
	}
	return &g, nil
}

// InspectChange ignores the case of colors and free data, and replaces gadgets whose level falls,
// and those with the notes anew and auto.
func (l *lab) InspectChange(_ context.Context, old, want *lumi.State[*gadget], diff *lumi.Diff) error {
	if a, b := old.Properties.Color, want.Properties.Color; a != nil && b != nil && strings.EqualFold(*a, *b) {
		diff.Ignore("color")
	}
	if a, b := old.Properties.Level, want.Properties.Level; a != nil && b != nil && *b < *a {
		diff.Replace("level")
	}
	if n := want.Properties.Note; n != nil && *n == "anew" {
		diff.Replace("")
	}
	if n := want.Properties.Note; n != nil && strings.HasPrefix(*n, "auto ") {
		diff.Replace("note")
	}
	diff.Ignore("data.free")
	if diff.Changed("data.inner") {
		diff.Replace("data.inner")
		diff.Replace("data")
	}
	return nil
}

func (l *lab) Update(_ context.Context, _, want *lumi.State[*gadget], _ *lumi.Diff) error {
	l.calls = append(l.calls, "update")
	g := want.Properties
	g.Revision++
	if l.fail != nil {
		if l.partly {
			want.Done("label")
		}
		if err := l.fail("update"); err != nil {
			return err
		}
	}
	l.gadgets[want.ID] = *g
	return nil
}

func (l *lab) Delete(_ context.Context, old *lumi.State[*gadget]) error {
	l.calls = append(l.calls, "delete")
	if l.fail != nil {
		if err := l.fail("delete"); err != nil {
			return err
		}
	}
	delete(l.gadgets, old.ID)
	return nil
}

// Upgrade converts a level in words.
func (l *lab) Upgrade(_ context.Context, s *lumi.State[*gadget], stored lumi.Bag) error {
	l.stored = stored
	if stored.Get("level") == "high" {
		s.Properties.Level = new(9)
		s.Done("level")
	}
	return nil
}

// count returns the number of calls.
func (l *lab) count(call string) int {
	return len(l.calls) - len(slices.DeleteFunc(slices.Clone(l.calls), func(c string) bool { return c == call }))
}

type labConfig struct{ Region string }

func (c *labConfig) Lumi(p *lumi.Props) { lumi.Required(p, "region", &c.Region, lumi.String) }

// newLab returns an engine for gadgets and their author. configure is set for a provider with a configuration.
func newLab(t *testing.T, configure bool) (*engine, *lab) {
	t.Helper()
	g := &schema.Resource{Header: schema.Header{Name: "Gadget"}, Token: string(gadgetToken), Was: []string{"lab:index:Widget"}}
	prop := func(name string, typ schema.Type, set func(p *schema.Property)) {
		p := property(name, typ)
		set(p)
		g.Properties = append(g.Properties, p)
	}
	prop("kind", schema.String, func(p *schema.Property) { p.Optional, p.Replaces = false, true })
	prop("label", schema.String, func(*schema.Property) {})
	prop("note", schema.String, func(p *schema.Property) { p.Was = []string{"remark"} })
	prop("color", schema.String, func(*schema.Property) {})
	prop("level", schema.Int, func(p *schema.Property) { p.Default = 3.0 })
	prop("pin", schema.String, func(p *schema.Property) { p.In, p.Secret = true, true })
	prop("peer", ref(g), func(*schema.Property) {})
	prop("data", schema.Any, func(*schema.Property) {})
	prop("size", schema.String, func(p *schema.Property) { p.Computed = true })
	prop("serial", schema.String, func(p *schema.Property) { p.Optional, p.Out, p.Fixed = false, true, true })
	prop("revision", schema.Int, func(p *schema.Property) { p.Optional, p.Out = false, true })
	decls := []schema.Decl{g}
	l := &lab{gadgets: map[lumi.ID]gadget{}, created: map[string]lumi.ID{}}
	p := serve.Plugin{Package: "lab", Resources: map[tokens.Type]lumi.ResourceProvider{
		gadgetToken: new(lumi.NewProvider(gadgetToken, func() *gadget { return new(gadget) }, l)),
	}}
	if configure {
		region := property("region", schema.String)
		region.Optional = false
		decls = append(decls, &schema.Config{Header: schema.Header{Name: "Config"}, Properties: []*schema.Property{region}})
		p.Configure = serve.Configure(func(_ context.Context, c *labConfig) error {
			if c.Region == "moon" {
				return lumi.Faultf("region", "is too far away")
			}
			return nil
		})
	}
	pkg := &schema.Package{Name: "lab", Modules: []*schema.Module{{GoName: "lab", Files: []*schema.File{{Name: "lab.go", Decls: decls}}}}}
	pkg.Link()
	s := must.Get(New(p, string(must.Get(schema.Compact(pkg))(t))))(t)
	t.Cleanup(func() { must.Do(t, s.Close()) })
	return &engine{t, s, must.Get(s.resource("lab_gadget"))(t), "lab_gadget"}, l
}

// null is the state of a resource that does not exist.
func (e *engine) null() tftypes.Value { return e.typ.null() }

// plan calls PlanResourceChange. config is null for a deletion.
func (e *engine) plan(prior, config tftypes.Value, private []byte) *tfprotov6.PlanResourceChangeResponse {
	e.t.Helper()
	return must.Get(e.s.PlanResourceChange(e.t.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: e.name, PriorState: e.encoded(prior), Config: e.encoded(config), ProposedNewState: e.encoded(config), PriorPrivate: private,
	}))(e.t)
}

// change plans and applies a configuration and returns the answer.
func (e *engine) change(prior, config tftypes.Value, private []byte) (planned tftypes.Value, resp *tfprotov6.ApplyResourceChangeResponse) {
	e.t.Helper()
	plan := e.plan(prior, config, private)
	planned = e.decoded(plan.PlannedState, plan.Diagnostics)
	return planned, must.Get(e.s.ApplyResourceChange(e.t.Context(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName: e.name, PriorState: e.encoded(prior), Config: e.encoded(config), PlannedState: plan.PlannedState,
		PlannedPrivate: plan.PlannedPrivate,
	}))(e.t)
}

// created creates a resource and returns its state and private data.
func (e *engine) created(config tftypes.Value) (tftypes.Value, []byte) {
	e.t.Helper()
	_, resp := e.change(e.null(), config, nil)
	return e.decoded(resp.NewState, resp.Diagnostics), resp.Private
}

// show formats some attributes of a value.
func show(v tftypes.Value, names ...string) string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = name + "=" + showPart(parts(v)[name])
	}
	return strings.Join(texts, " ")
}

func showPart(v tftypes.Value) string {
	content := native(v)
	switch {
	case !v.IsKnown():
		return "?"
	case reflect.ValueOf(content).Kind() == reflect.Pointer:
		return content.(fmt.Stringer).String()
	}
	return fmt.Sprint(cmp.Or(content, any("null")))
}

func wantShown(t *testing.T, v tftypes.Value, want string) {
	t.Helper()
	var names []string
	for part := range strings.FieldsSeq(want) {
		name, _, _ := strings.Cut(part, "=")
		names = append(names, name)
	}
	if got := show(v, names...); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func wantDiagnostics(t *testing.T, diags []*tfprotov6.Diagnostic, want ...string) {
	t.Helper()
	var all []string
	for _, d := range diags {
		text := d.Severity.String() + ": " + d.Summary
		if d.Detail != "" {
			text += " | " + d.Detail
		}
		if d.Attribute != nil {
			text += " @ " + d.Attribute.String()
		}
		all = append(all, text)
	}
	if !slices.Equal(all, want) {
		t.Errorf("%s\nwant %s", strings.Join(all, "\n"), strings.Join(want, "\n"))
	}
}

// unknown is an unknown value of any type.
var unknown = tftypes.UnknownValue

// errDown is an error of the author's code.
var errDown = errors.New("the cloud is down")
