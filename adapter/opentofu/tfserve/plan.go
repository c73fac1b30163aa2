package tfserve

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/adapter/internal/bridge"
	"github.com/lumi-idl/lumi/idl/schema"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// change is a change of a resource to be planned or applied.
type change struct {
	*call
	config, prior tftypes.Value
	// wanted holds the properties in config, and old the ones in prior.
	wanted, old lumi.Bag
	id          lumi.ID
	urn         urn.URN
	// seed is empty for new resources and for imported ones.
	seed lumi.Seed
	refs lumi.References
}

// ValidateResourceConfig implements [tfprotov6.ProviderServer]. It calls none of the author's code.
func (s *Server) ValidateResourceConfig(
	ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest,
) (*tfprotov6.ValidateResourceConfigResponse, error) {
	return &tfprotov6.ValidateResourceConfigResponse{Diagnostics: s.call(ctx, req.TypeName, func(c *call) (err error) {
		if c.at, err = c.value(req.Config); err != nil {
			return err
		}
		if err = c.Validate(c.ctx, c.Token, c.decodeBag(c.at)); errors.Is(err, errors.ErrUnsupported) {
			return nil // Check will find it.
		}
		return err
	})}, nil
}

// PlanResourceChange implements [tfprotov6.ProviderServer]. It plans from the configuration: the proposed state keeps prior values of
// properties that were removed from the configuration.
func (s *Server) PlanResourceChange(
	ctx context.Context, req *tfprotov6.PlanResourceChangeRequest,
) (*tfprotov6.PlanResourceChangeResponse, error) {
	resp := &tfprotov6.PlanResourceChangeResponse{}
	resp.Diagnostics = s.call(ctx, req.TypeName, func(c *call) error {
		ch, err := c.change(req.Config, req.PriorState)
		switch {
		case err != nil:
			return err
		case ch.config.IsNull():
			resp.PlannedState, resp.PlannedPrivate = req.ProposedNewState, req.PriorPrivate
			return nil
		case ch.prior.IsNull(): // Private data, if any, is from the resource that this one replaces.
			planned, err := ch.planCreation()
			if err != nil {
				return err
			}
			resp.PlannedState, err = c.dynamicValue(planned)
			return err
		}
		ch.seed = req.PriorPrivate
		planned, replaces, err := ch.planUpdate()
		if err != nil {
			return err
		}
		resp.RequiresReplace = replaces
		if planned.Equal(ch.prior) {
			resp.PlannedState, resp.PlannedPrivate = req.PriorState, req.PriorPrivate
			return nil
		}
		resp.PlannedState, err = c.dynamicValue(planned)
		if err != nil {
			return err
		}
		resp.PlannedPrivate, err = json.Marshal(updatePlan{ch.seed, req.Config})
		return err
	})
	return resp, nil
}

// updatePlan is the private data of the plan of an update.
type updatePlan struct {
	Seed lumi.Seed
	// Config is the configuration as planned: the one passed to ApplyResourceChange also has the changes that ignore_changes lists.
	Config *tfprotov6.DynamicValue
}

// change decodes a change and reads the resources that it refers to.
func (c *call) change(config, prior *tfprotov6.DynamicValue) (*change, error) {
	ch := &change{call: c}
	var err error
	if ch.prior, err = c.value(prior); err != nil {
		return nil, err
	}
	if ch.config, err = c.value(config); err != nil {
		return nil, err
	}
	c.at = ch.config
	ch.wanted, ch.old, ch.id = c.decodeBag(ch.config), c.storedBag(ch.prior), idOf(ch.prior)
	ch.urn = c.urn(ch.id)
	if !ch.deferred.Load() {
		ch.refs, err = c.References(c.ctx, ch.wanted, ch.old)
	}
	return ch, err
}

// urn returns the URN of a resource of the type. Engines do not tell providers the addresses of resources.
func (c *call) urn(id lumi.ID) urn.URN {
	if id == "" {
		id = "new"
	}
	return urn.ByID(c.Token, string(id))
}

// check calls Check with a seed.
func (ch *change) check(seed lumi.Seed) (lumi.Bag, error) {
	req := &lumi.CheckRequest{URN: ch.urn, Properties: ch.wanted, Seed: seed, References: ch.refs}
	if !ch.prior.IsNull() {
		req.Old = ch.without(ch.old, func(p *schema.Property) bool { return p.Out })
	}
	resp, err := ch.Check(ch.ctx, req)
	if err != nil {
		return lumi.Bag{}, err
	}
	return resp.Properties, nil
}

// seeds are the seeds of plans of new resources, which get their own when they are created.
var seeds = [2]lumi.Seed{lumi.Seed("plan"), lumi.Seed("another plan")}

// checkWithoutSeed calls Check for a resource whose seed is unknown. What depends on the seed is as in old, or unknown.
func (ch *change) checkWithoutSeed() (lumi.Bag, error) {
	one, err := ch.check(seeds[0])
	if err != nil {
		return lumi.Bag{}, err
	}
	other, err := ch.check(seeds[1])
	return lumi.BagOf(&structpb.Struct{
		Fields: common(one.Struct().GetFields(), other.Struct().GetFields(), ch.old.Struct().GetFields()),
	}), err
}

// common returns a with the values in old, or unknown ones, where a and b differ.
func common(a, b, old map[string]*structpb.Value) map[string]*structpb.Value {
	fields := make(map[string]*structpb.Value, len(a))
	for key, v := range a {
		fields[key] = commonValue(v, b[key], old[key])
	}
	return fields
}

func commonValue(a, b, old *structpb.Value) *structpb.Value {
	as, bs := a.GetListValue().GetValues(), b.GetListValue().GetValues()
	switch {
	case same(a, b):
		return a
	case isObject(a) && isObject(b):
		return structpb.NewStructValue(&structpb.Struct{
			Fields: common(a.GetStructValue().GetFields(), b.GetStructValue().GetFields(), old.GetStructValue().GetFields()),
		})
	case isList(a) && isList(b) && len(as) == len(bs):
		olds := old.GetListValue().GetValues()
		values := make([]*structpb.Value, len(as))
		for i := range as {
			values[i] = commonValue(as[i], bs[i], append(olds, make([]*structpb.Value, len(as))...)[i])
		}
		return structpb.NewListValue(&structpb.ListValue{Values: values})
	case bridge.IsNull(old):
		return lumi.NewUnknown()
	}
	return old
}

func (ch *change) planCreation() (tftypes.Value, error) {
	checked := ch.wanted
	if !ch.deferred.Load() {
		var err error
		if checked, err = ch.checkWithoutSeed(); err != nil {
			return tftypes.Value{}, err
		}
	}
	planned := ch.compose(tftypes.UnknownValue, ch.config, ch.wanted, ch.withOutputs(checked))
	if ch.deferred.Load() || !ch.config.IsFullyKnown() {
		planned = ch.unsettle(planned)
	}
	return planned, nil
}

// planUpdate returns the planned state, which is prior if nothing changes, and the paths that require a replacement.
func (ch *change) planUpdate() (planned tftypes.Value, replaces []*tftypes.AttributePath, err error) {
	diff, err := ch.inspect()
	if err != nil {
		return planned, nil, err
	}
	if len(diff.Changes) == 0 {
		return ch.compose(string(ch.id), ch.prior, ch.old, ch.old), nil, nil
	}
	planned = ch.compose(string(ch.id), ch.config, ch.wanted, ch.withOutputs(diff.Properties))
	if !ch.config.IsFullyKnown() {
		planned = ch.unsettle(planned)
	}
	for _, p := range diff.Replaces {
		if at := ch.path(p, ch.prior, planned); at != nil && !equalAt(at, ch.prior, planned) && !slices.ContainsFunc(replaces, at.Equal) {
			replaces = append(replaces, at)
		}
	}
	if len(diff.Replaces) > 0 && len(replaces) == 0 { // Engines replace nothing for an attribute that stays the same.
		planned = ch.withID(tftypes.UnknownValue, parts(planned))
		replaces = append(replaces, tftypes.NewAttributePath().WithAttributeName(idName))
	}
	return planned, replaces, nil
}

// inspect returns the changes from old to what Check makes of the configuration.
func (ch *change) inspect() (*lumi.InspectChangeResponse, error) {
	if err := ch.ready(); err != nil {
		return nil, err
	}
	var checked lumi.Bag
	var err error
	if len(ch.seed) == 0 {
		checked, err = ch.checkWithoutSeed()
	} else {
		checked, err = ch.check(ch.seed)
	}
	if err != nil {
		return nil, err
	}
	return ch.InspectChange(ch.ctx, &lumi.InspectChangeRequest{
		URN: ch.urn, ID: ch.id, Old: ch.old, New: checked, References: ch.refs,
	})
}

// withOutputs returns a bag with all outputs and all computed properties that it lacks: old values of fixed ones, and unknown others.
func (ch *change) withOutputs(bag lumi.Bag) lumi.Bag {
	fields, old := maps.Clone(bag.Struct().GetFields()), ch.old.Struct().GetFields()
	if fields == nil {
		fields = map[string]*structpb.Value{}
	}
	for _, p := range ch.Schema.Properties {
		switch {
		case p.Fixed && !bridge.IsNull(old[p.Name]):
			fields[p.Name] = old[p.Name]
		case p.Out || p.Computed && bridge.IsNull(fields[p.Name]):
			fields[p.Name] = lumi.NewUnknown()
		}
	}
	return lumi.BagOf(&structpb.Struct{Fields: fields})
}

// without returns the properties in a bag except for some.
func (t *resourceType) without(bag lumi.Bag, some func(*schema.Property) bool) lumi.Bag {
	fields := maps.Clone(bag.Struct().GetFields())
	for _, p := range t.Schema.Properties {
		if some(p) {
			delete(fields, p.Name)
		}
	}
	return lumi.BagOf(&structpb.Struct{Fields: fields})
}

// compose overlays base, which decodes to was, with now. What does not change has its prior value, in its form, and what the
// configuration sets has that value, since engines let providers choose only what configurations leave out.
func (ch *change) compose(id any, base tftypes.Value, was, now lumi.Bag) tftypes.Value {
	after, old := now.Struct().GetFields(), ch.old.Struct().GetFields()
	attributes := parts(ch.overlayBag(id, base, was, now))
	configured, prior := parts(ch.config), parts(ch.prior)
	for _, a := range ch.attributes {
		if v := after[a.wire]; !bridge.IsNull(v) && same(old[a.wire], v) && !prior[a.name].IsNull() {
			attributes[a.name] = prior[a.name]
		} else {
			attributes[a.name] = a.pin(configured[a.name], attributes[a.name])
		}
	}
	return ch.withID(id, attributes)
}

// pin returns v with all values that a configuration sets. Only nested attributes can be left out.
func (s *shape) pin(config, v tftypes.Value) tftypes.Value {
	nested := s.kind == object || (s.kind == list || s.kind == mapping) && s.elem.kind == object
	switch {
	case config.IsNull() || !config.IsKnown():
		return v
	case !nested || s.typ.Is(tftypes.DynamicPseudoType):
		return config
	}
	switch content := native(v).(type) {
	case []tftypes.Value:
		if set, _ := native(config).([]tftypes.Value); len(set) == len(content) {
			content = slices.Clone(content) // It is v's own.
			for i := range content {
				content[i] = s.elem.pin(set[i], content[i])
			}
			return tftypes.NewValue(s.typ, content)
		}
	case map[string]tftypes.Value:
		if set := parts(config); len(set) == len(content) {
			content = maps.Clone(content)
			for name := range content {
				inner, _ := s.part(name)
				content[name] = inner.pin(set[name], content[name])
			}
			return tftypes.NewValue(s.typ, content)
		}
	}
	return config
}

// unsettle returns v with unknown values in place of optional properties that are absent. The provider may set them when more of the
// configuration is known.
func (s *shape) unsettle(v tftypes.Value) tftypes.Value {
	if v.IsNull() || !v.IsKnown() || s.typ.Is(tftypes.DynamicPseudoType) {
		return v
	}
	switch content := native(v).(type) {
	case []tftypes.Value:
		content = slices.Clone(content) // It is v's own.
		for i := range content {
			content[i] = s.elem.unsettle(content[i])
		}
		return tftypes.NewValue(s.typ, content)
	case map[string]tftypes.Value:
		content = maps.Clone(content)
		for name, part := range content {
			inner, _ := s.part(name)
			if a := s.byName[name]; a != nil && part.IsNull() && a.mayAppear(s) {
				content[name] = tftypes.NewValue(a.typ, tftypes.UnknownValue)
			} else {
				content[name] = inner.unsettle(part)
			}
		}
		return tftypes.NewValue(s.typ, content)
	}
	return v
}

// mayAppear reports whether the provider may set an attribute of an object that the configuration leaves out.
func (a *attribute) mayAppear(in *shape) bool {
	p := a.property
	return p != nil && (p.Out || p.Optional && !in.choice)
}

// equalAt reports whether values are known and equal at a path.
func equalAt(at *tftypes.AttributePath, a, b tftypes.Value) bool {
	one, _, _ := tftypes.WalkAttributePath(a, at)
	other, _, _ := tftypes.WalkAttributePath(b, at)
	v, isValue := one.(tftypes.Value)
	w, areValues := other.(tftypes.Value)
	return isValue && areValues && w.IsFullyKnown() && v.Equal(w)
}
