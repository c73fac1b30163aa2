package tftest

import (
	"cmp"
	"context"
	"fmt"
	"maps"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/lumi-idl/lumi/idl/schema"
)

// fake is a provider of boxes in memory. Its fields change correct answers.
type fake struct {
	tfprotov6.ProviderServer
	boxes   map[string]object
	created int

	schema   func(*tfprotov6.SchemaBlock)
	name     string // of the resource type, if not fake_box
	settings string // the name of the provider's attribute, if not token, which is not sensitive then
	validate func(config object) []*tfprotov6.Diagnostic
	planned  func(prior, config, planned object, resp *tfprotov6.PlanResourceChangeResponse)
	applied  func(prior, planned, made object, resp *tfprotov6.ApplyResourceChangeResponse)
	readFrom func(state, found object)
	answer   func(call string, v *tfprotov6.DynamicValue) *tfprotov6.DynamicValue
	upgraded func(object)
	// proposed plans from the proposed state, keeps ignores deletions, and imports replaces the imported ID, or all if it is "-".
	proposed, keeps bool
	imports         string
	last            object // the last box before its deletion
	// configured counts calls of ConfigureProvider.
	configured int
}

// object is a value of the type of boxes. It is nil if it is null.
type object = map[string]tftypes.Value

var (
	item  = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"label": tftypes.String, "rank": tftypes.Number}}
	block = &tfprotov6.SchemaBlock{Attributes: attributes{
		{Name: "id", Type: tftypes.String, Computed: true},
		{Name: "name", Type: tftypes.String, Required: true},
		{Name: "lid_color", Type: tftypes.String, Optional: true, Computed: true},
		{Name: "pin", Type: tftypes.String, Optional: true, Sensitive: true},
		{Name: "serial", Type: tftypes.Number, Computed: true},
		{Name: "owner", Type: tftypes.String, Optional: true},
		{Name: "tags", Type: tftypes.Map{ElementType: tftypes.String}, Optional: true},
		{Name: "items", Optional: true, NestedType: &tfprotov6.SchemaObject{
			Nesting: tfprotov6.SchemaObjectNestingModeList,
			Attributes: attributes{
				{Name: "label", Type: tftypes.String, Required: true},
				{Name: "rank", Type: tftypes.Number, Optional: true, Computed: true},
			},
		}},
		{Name: "anything", Type: tftypes.DynamicPseudoType, Optional: true},
		{Name: "keys", Type: tftypes.String, Optional: true, Sensitive: true},
		{Name: "lender", Optional: true, NestedType: &tfprotov6.SchemaObject{
			Nesting: tfprotov6.SchemaObjectNestingModeSingle,
			Attributes: attributes{
				{Name: "type", Type: tftypes.String, Required: true},
				{Name: "id", Type: tftypes.String, Required: true},
			},
		}},
	}}
	boxType = block.ValueType()
)

// boxes is the IDL of the fake.
var boxes = &schema.Package{Name: "fake", Modules: []*schema.Module{{Files: []*schema.File{{Decls: []schema.Decl{
	&schema.Resource{Token: "fake:index:Box", Properties: []*schema.Property{
		{Field: "Name", Name: "name", Type: schema.String}, {Field: "LidColor", Name: "lidColor", Type: schema.String}, {Field: "Pin", Name: "pin", Type: schema.String, Secret: true},
		{Field: "Serial", Name: "serial", Type: schema.Number, Out: true}, {Field: "Owner", Name: "owner", Type: schema.String},
		{Field: "Tags", Name: "tags", Type: &schema.Map{Key: schema.String, Elem: schema.String}},
		{Field: "Items", Name: "items", Type: &schema.List{Elem: &schema.Ref{Decl: &schema.Struct{Properties: []*schema.Property{
			{Field: "Label", Name: "label", Type: schema.String}, {Field: "Rank", Name: "rank", Type: schema.Number},
		}}}}},
		{Field: "Anything", Name: "anything", Type: schema.Any},
		{Field: "Keys", Name: "keys", Type: &schema.Ref{Decl: &schema.Struct{Properties: []*schema.Property{{Field: "Code", Name: "code", Type: schema.String, Secret: true}}}}},
		{Field: "Lender", Name: "lender", Type: schema.AnyResource},
	}},
	&schema.Resource{Token: "fake:index:Crate"},
	&schema.Config{Properties: []*schema.Property{{Field: "Token", Name: "token", Type: schema.String, Secret: true}}},
}}}}}}

func newFake() *fake { return &fake{boxes: map[string]object{}} }

func decoded(v *tfprotov6.DynamicValue) object {
	value, err := v.Unmarshal(boxType)
	if err != nil {
		panic(err)
	}
	var made object
	if !value.IsNull() {
		if err := value.As(&made); err != nil {
			panic(err)
		}
	}
	return made
}

func (f *fake) encoded(call string, o object) *tfprotov6.DynamicValue {
	v := tftypes.NewValue(boxType, nil)
	if o != nil {
		v = tftypes.NewValue(boxType, o)
	}
	sent := encoded(boxType, v)
	if f.answer != nil {
		sent = f.answer(call, sent)
	}
	return sent
}

func (f *fake) GetProviderSchema(context.Context, *tfprotov6.GetProviderSchemaRequest) (*tfprotov6.GetProviderSchemaResponse, error) {
	made := *block
	made.Attributes = nil
	for _, a := range block.Attributes {
		made.Attributes = append(made.Attributes, new(*a))
	}
	if f.schema != nil {
		f.schema(&made)
	}
	return &tfprotov6.GetProviderSchemaResponse{
		Provider: &tfprotov6.Schema{Block: &tfprotov6.SchemaBlock{Attributes: attributes{
			{Name: cmp.Or(f.settings, "token"), Type: tftypes.String, Optional: true, Sensitive: f.settings == ""},
		}}},
		ResourceSchemas: map[string]*tfprotov6.Schema{cmp.Or(f.name, "fake_box"): {Block: &made}},
	}, nil
}

func (f *fake) ValidateProviderConfig(context.Context, *tfprotov6.ValidateProviderConfigRequest) (*tfprotov6.ValidateProviderConfigResponse, error) {
	return &tfprotov6.ValidateProviderConfigResponse{}, nil
}

func (f *fake) ConfigureProvider(context.Context, *tfprotov6.ConfigureProviderRequest) (*tfprotov6.ConfigureProviderResponse, error) {
	f.configured++
	return &tfprotov6.ConfigureProviderResponse{}, nil
}

func (f *fake) ValidateResourceConfig(_ context.Context, req *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	config := decoded(req.Config)
	resp := &tfprotov6.ValidateResourceConfigResponse{}
	if name := config["name"]; name.IsKnown() && same(name, tftypes.NewValue(tftypes.String, "")) {
		resp.Diagnostics = append(resp.Diagnostics, &tfprotov6.Diagnostic{
			Severity: tfprotov6.DiagnosticSeverityError, Summary: "Invalid value", Detail: "must not be empty",
			Attribute: tftypes.NewAttributePath().WithAttributeName("name"),
		})
	}
	if f.validate != nil {
		resp.Diagnostics = f.validate(config)
	}
	return resp, nil
}

func (f *fake) PlanResourceChange(_ context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	prior, config := decoded(req.PriorState), decoded(req.Config)
	if f.proposed {
		config = decoded(req.ProposedNewState)
	}
	resp := &tfprotov6.PlanResourceChangeResponse{}
	planned := maps.Clone(config)
	if config != nil {
		f.plan(prior, config, planned)
		if prior != nil && !same(prior["name"], planned["name"]) {
			resp.RequiresReplace = []*tftypes.AttributePath{tftypes.NewAttributePath().WithAttributeName("name")}
		}
	}
	if f.planned != nil {
		f.planned(prior, config, planned, resp)
	}
	resp.PlannedState = f.encoded("plan", planned)
	return resp, nil
}

// plan fills in computed attributes.
func (f *fake) plan(prior, config, planned object) {
	if config["lid_color"].IsNull() {
		planned["lid_color"] = tftypes.NewValue(tftypes.String, "red")
	}
	if !config["items"].IsNull() && config["items"].IsKnown() {
		planned["items"] = ranked(config["items"])
	}
	planned["id"], planned["serial"] = tftypes.NewValue(tftypes.String, tftypes.UnknownValue), tftypes.NewValue(tftypes.Number, tftypes.UnknownValue)
	if prior == nil {
		return
	}
	planned["id"] = prior["id"]
	changed := false
	for name := range prior {
		changed = changed || name != "serial" && !same(prior[name], planned[name])
	}
	if !changed {
		planned["serial"] = prior["serial"]
	}
}

// ranked returns items with a rank of 1 where there is none.
func ranked(items tftypes.Value) tftypes.Value {
	var list []tftypes.Value
	if err := items.As(&list); err != nil {
		panic(err)
	}
	for i, element := range list {
		var o object
		if !element.IsKnown() || element.As(&o) != nil || !o["rank"].IsNull() {
			continue
		}
		o["rank"] = tftypes.NewValue(tftypes.Number, 1)
		list[i] = tftypes.NewValue(item, o)
	}
	return tftypes.NewValue(items.Type(), list)
}

func (f *fake) ApplyResourceChange(_ context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	prior, planned := decoded(req.PriorState), decoded(req.PlannedState)
	resp := &tfprotov6.ApplyResourceChangeResponse{Private: req.PlannedPrivate}
	made := maps.Clone(planned)
	var id string
	switch {
	case planned == nil:
		if err := prior["id"].As(&id); err != nil {
			return nil, err
		}
		f.last = prior
		if !f.keeps {
			delete(f.boxes, id)
		}
	case prior == nil:
		f.created++
		id = fmt.Sprintf("box-%d", f.created)
		made["id"] = tftypes.NewValue(tftypes.String, id)
	default:
		if err := prior["id"].As(&id); err != nil {
			return nil, err
		}
	}
	if made != nil {
		if !made["serial"].IsKnown() {
			f.created++
			made["serial"] = tftypes.NewValue(tftypes.Number, f.created)
		}
		f.boxes[id] = maps.Clone(made)
	}
	if f.applied != nil {
		f.applied(prior, planned, made, resp)
	}
	resp.NewState = f.encoded("apply", made)
	return resp, nil
}

func (f *fake) ReadResource(_ context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	state := decoded(req.CurrentState)
	var id string
	if err := state["id"].As(&id); err != nil {
		return nil, err
	}
	found := maps.Clone(f.boxes[id])
	if f.readFrom != nil {
		f.readFrom(state, found)
	}
	return &tfprotov6.ReadResourceResponse{NewState: f.encoded("read", found), Private: req.Private}, nil
}

func (f *fake) UpgradeResourceState(_ context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	v, err := req.RawState.Unmarshal(boxType)
	if err != nil {
		return nil, err
	}
	state := decoded(encoded(boxType, v))
	if f.upgraded != nil {
		f.upgraded(state)
	}
	return &tfprotov6.UpgradeResourceStateResponse{UpgradedState: f.encoded("upgrade", state)}, nil
}

func (f *fake) ImportResourceState(_ context.Context, req *tfprotov6.ImportResourceStateRequest) (*tfprotov6.ImportResourceStateResponse, error) {
	null := object{}
	for name, t := range boxType.(tftypes.Object).AttributeTypes {
		null[name] = tftypes.NewValue(t, nil)
	}
	null["id"] = tftypes.NewValue(tftypes.String, cmp.Or(f.imports, req.ID))
	if f.imports == "-" {
		return &tfprotov6.ImportResourceStateResponse{}, nil
	}
	return &tfprotov6.ImportResourceStateResponse{ImportedResources: []*tfprotov6.ImportedResource{
		{TypeName: req.TypeName, State: f.encoded("import", null)},
	}}, nil
}
