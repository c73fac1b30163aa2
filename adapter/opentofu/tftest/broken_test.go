package tftest

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

var (
	unknownText = tftypes.NewValue(tftypes.String, tftypes.UnknownValue)
	listOfTexts = tftypes.List{ElementType: tftypes.String}
)

func str(s string) tftypes.Value { return tftypes.NewValue(tftypes.String, s) }

func at(name string) *tftypes.AttributePath {
	return tftypes.NewAttributePath().WithAttributeName(name)
}

// items returns a value for the attribute items.
func items(labels ...string) tftypes.Value {
	list := []tftypes.Value{}
	for _, label := range labels {
		list = append(list, tftypes.NewValue(item, map[string]tftypes.Value{"label": str(label), "rank": tftypes.NewValue(tftypes.Number, 1)}))
	}
	return tftypes.NewValue(tftypes.List{ElementType: item}, list)
}

// planning returns a change of the fake that changes planned values, but not of deletions.
func planning(change func(prior, config, planned object, resp *tfprotov6.PlanResourceChangeResponse)) func(*fake) {
	return func(f *fake) {
		f.planned = func(prior, config, planned object, resp *tfprotov6.PlanResourceChangeResponse) {
			if planned != nil {
				change(prior, config, planned, resp)
			}
		}
	}
}

// sets returns a change of the fake that sets a planned value.
func sets(name string, value tftypes.Value) func(*fake) {
	return planning(func(_, _, planned object, _ *tfprotov6.PlanResourceChangeResponse) { planned[name] = value })
}

// makes returns a change of the fake that sets a value after a creation or an update.
func makes(name string, value tftypes.Value) func(*fake) {
	return func(f *fake) {
		f.applied = func(_, _, made object, _ *tfprotov6.ApplyResourceChangeResponse) {
			if made != nil {
				made[name] = value
				f.boxes["box-1"][name] = value
			}
		}
	}
}

// answers returns a change of the fake that replaces the object in an answer.
func answers(to string, by *tfprotov6.DynamicValue) func(*fake) {
	return func(f *fake) {
		f.answer = func(call string, v *tfprotov6.DynamicValue) *tfprotov6.DynamicValue {
			if call == to {
				return by
			}
			return v
		}
	}
}

func null() *tfprotov6.DynamicValue { return encoded(boxType, tftypes.NewValue(boxType, nil)) }

// schemas returns a change of the fake's schema.
func schemas(change func(b *tfprotov6.SchemaBlock, box map[string]*tfprotov6.SchemaAttribute)) func(*fake) {
	return func(f *fake) {
		f.schema = func(b *tfprotov6.SchemaBlock) {
			byName := map[string]*tfprotov6.SchemaAttribute{}
			for _, a := range b.Attributes {
				byName[a.Name] = a
			}
			change(b, byName)
		}
	}
}

// brokenSchemas are ways to break the rules of schemas.
var brokenSchemas = map[string]broken{
	"another type than served": {breaks: func(f *fake) { f.name = "fake_crate" }, want: []string{
		`provider: GetProviderSchema: fake:index:Box: served=true, but there is a schema=false`,
		`provider: GetProviderSchema: fake:index:Crate: served=false, but there is a schema=true`,
	}},
	"a name in camel case": {breaks: schemas(func(b *tfprotov6.SchemaBlock, _ map[string]*tfprotov6.SchemaAttribute) {
		b.Attributes = append(b.Attributes, &tfprotov6.SchemaAttribute{Name: "lidSize", Type: tftypes.Bool, Computed: true})
	}), want: []string{`provider: GetProviderSchema: fake_box.lidSize: the name is not made of lowercase letters, digits, and underscores`}},
	"a name twice": {breaks: schemas(func(b *tfprotov6.SchemaBlock, box map[string]*tfprotov6.SchemaAttribute) {
		b.Attributes = append(b.Attributes, box["owner"])
	}), want: []string{`provider: GetProviderSchema: fake_box.owner: the name is not unique`}},
	"a reserved name": {breaks: schemas(func(b *tfprotov6.SchemaBlock, _ map[string]*tfprotov6.SchemaAttribute) {
		b.Attributes = append(b.Attributes, &tfprotov6.SchemaAttribute{Name: "count", Type: tftypes.Number, Computed: true})
	}), want: []string{`provider: GetProviderSchema: fake_box.count: the name is reserved in a resource block`}},
	"a required attribute that is computed": {breaks: schemas(func(_ *tfprotov6.SchemaBlock, box map[string]*tfprotov6.SchemaAttribute) {
		box["name"].Computed = true
	}), want: []string{`provider: GetProviderSchema: fake_box.name: required=true, optional=false, computed=true cannot be combined`}},
	"an attribute that cannot be set": {breaks: schemas(func(_ *tfprotov6.SchemaBlock, box map[string]*tfprotov6.SchemaAttribute) {
		box["owner"].Optional = false
	}), want: []string{`provider: GetProviderSchema: fake_box.owner: required=false, optional=false, computed=false cannot be combined`}},
	"two types": {breaks: schemas(func(_ *tfprotov6.SchemaBlock, box map[string]*tfprotov6.SchemaAttribute) {
		box["items"].Type = listOfTexts
	}), want: []string{`provider: GetProviderSchema: fake_box.items: needs either a type or nested attributes`}},
	"a set": {breaks: schemas(func(_ *tfprotov6.SchemaBlock, box map[string]*tfprotov6.SchemaAttribute) {
		box["items"].NestedType = &tfprotov6.SchemaObject{
			Nesting: tfprotov6.SchemaObjectNestingModeSet, Attributes: box["items"].NestedType.Attributes,
		}
	}), want: []string{`provider: GetProviderSchema: fake_box.items: the nesting mode SET is invalid, or unknown to this kit`}},
	"a list of anything": {breaks: schemas(func(b *tfprotov6.SchemaBlock, _ map[string]*tfprotov6.SchemaAttribute) {
		b.Attributes = append(b.Attributes, &tfprotov6.SchemaAttribute{
			Name: "more", Type: tftypes.List{ElementType: tftypes.DynamicPseudoType}, Computed: true,
		})
	}), want: []string{
		`provider: GetProviderSchema: fake_box.more: has elements of a dynamic type, and OpenTofu crashes if their types differ: make all of it dynamic`,
	}},
	"a nested block": {breaks: schemas(func(b *tfprotov6.SchemaBlock, _ map[string]*tfprotov6.SchemaAttribute) {
		b.BlockTypes = []*tfprotov6.SchemaNestedBlock{{TypeName: "lid", Nesting: tfprotov6.SchemaNestedBlockNestingModeSingle}}
	}), want: []string{`provider: GetProviderSchema: fake_box: has nested blocks, which this kit does not check`}},
	"a property without an attribute": {breaks: schemas(func(b *tfprotov6.SchemaBlock, _ map[string]*tfprotov6.SchemaAttribute) {
		b.Attributes = slices.DeleteFunc(b.Attributes, func(a *tfprotov6.SchemaAttribute) bool { return a.Name == "owner" })
	}), want: []string{`provider: GetProviderSchema: fake_box: no attribute for the property Owner`}},
	"a reserved name in the configuration": {breaks: func(f *fake) { f.settings = "alias" }, want: []string{
		`provider: GetProviderSchema: provider.alias: the name is reserved in a provider block`,
		`provider: GetProviderSchema: provider: no attribute for the property Token`,
	}},
	"a secret in the configuration": {breaks: func(f *fake) { f.settings = "to_ken" }, want: []string{
		`provider: GetProviderSchema: provider.to_ken: not sensitive, but the property is secret`,
	}},
	"a secret that is not sensitive": {breaks: schemas(func(_ *tfprotov6.SchemaBlock, box map[string]*tfprotov6.SchemaAttribute) {
		box["pin"].Sensitive = false
	}), want: []string{`provider: GetProviderSchema: fake_box.pin: not sensitive, but the property is secret`}},
	"a nested secret that is not sensitive": {breaks: schemas(func(_ *tfprotov6.SchemaBlock, box map[string]*tfprotov6.SchemaAttribute) {
		box["keys"].Sensitive = false
	}), want: []string{`provider: GetProviderSchema: fake_box.keys: not sensitive, but there are secrets in the property`}},
}

// broken is a way to break a rule.
type broken struct {
	keys   string // of the fixture's box
	breaks func(*fake)
	want   []string
}

// box is the default of broken.keys. Its plans have no unknown values.
const box = `"create": {"name": "a"}, "known": ["name"]`

// brokenPlans are ways to break the rules of plans.
var brokenPlans = map[string]broken{
	"a value for an attribute that is not computed": {breaks: sets("owner", str("me")), want: []string{
		`fake_box "box": create: PlanResourceChange: fake_box.owner: configured as null, but planned as "me"`,
	}},
	"another value than configured": {
		breaks: sets("lid_color", str("blue")), keys: `"create": {"name": "a", "lidColor": "red"}, "known": ["name", "lidColor"]`,
		want: []string{`fake_box "box": create: PlanResourceChange: fake_box.lid_color: configured as "red", but planned as "blue"`},
	},
	"another secret than configured": {
		breaks: sets("pin", str("1234")), keys: `"create": {"name": "a", "pin": "4321"}, "known": ["name", "pin"]`,
		want: []string{`fake_box "box": create: PlanResourceChange: fake_box.pin: configured as (sensitive), but planned as (sensitive)`},
	},
	"other elements than configured": {
		breaks: sets("items", items("x", "y")), keys: `"create": {"name": "a", "items": [{"label": "z"}]}, "known": ["name", "items"]`,
		want: []string{
			`fake_box "box": create: PlanResourceChange: fake_box.items[1]: planned, but not configured`,
			`fake_box "box": create: PlanResourceChange: fake_box.items[0].label: configured as "z", but planned as "x"`,
		},
	},
	"fewer elements than configured": {
		breaks: sets("items", items()), keys: `"create": {"name": "a", "items": [{"label": "z"}]}, "known": ["name", "items"]`,
		want: []string{`fake_box "box": create: PlanResourceChange: fake_box.items[0]: configured, but not planned`},
	},
	"the proposed state": {
		breaks: func(f *fake) { f.proposed = true }, keys: box + `, "updates": [{"set": {"lidColor": "blue"}}, {"set": {"lidColor": null, "owner": "b"}}]`,
		want: []string{
			`fake_box "box": update 2: PlanResourceChange: fake_box: a second plan with another proposed state differs: a provider must plan from the configuration`,
		},
	},
	"a replacement because of nothing": {
		breaks: planning(func(_, _, _ object, resp *tfprotov6.PlanResourceChangeResponse) {
			resp.RequiresReplace = append(resp.RequiresReplace, at("lid").WithElementKeyInt(1))
		}),
		want: []string{
			`fake_box "box": create: PlanResourceChange: fake_box: requires a replacement because of AttributeName("lid").ElementKeyInt(1), which does not exist`,
		},
	},
	"another type": {
		breaks: answers("plan", encoded(tftypes.String, str("a"))),
		want: []string{
			`fake_box "box": create: PlanResourceChange returns a value that does not fit the schema: ` +
				`error decoding object length: msgpack: unexpected code=a1 decoding map length`,
		},
	},
	"no value": {breaks: answers("plan", nil), want: []string{`fake_box "box": create: PlanResourceChange returns no value`}},
	"a plan of a deletion with a value": {
		breaks: func(f *fake) {
			f.answer = func(call string, v *tfprotov6.DynamicValue) *tfprotov6.DynamicValue {
				if missing, err := v.IsNull(); call == "plan" && missing && err == nil {
					empty := object{}
					for name, t := range boxType.(tftypes.Object).AttributeTypes {
						empty[name] = tftypes.NewValue(t, nil)
					}
					return encoded(boxType, tftypes.NewValue(boxType, empty))
				}
				return v
			}
		},
		want: []string{
			`fake_box "box": destroy: PlanResourceChange: expected null for a deletion`,
		},
	},
	"another action when all is known": {
		breaks: planning(func(prior, config, _ object, resp *tfprotov6.PlanResourceChangeResponse) {
			if prior != nil && config["owner"].IsKnown() {
				resp.RequiresReplace = append(resp.RequiresReplace, at("owner"))
			}
		}),
		keys: box + `, "replaces": [{"set": {"owner": "b"}}]`,
		want: []string{`fake_box "box": replace 1: the second plan is a replacement, but the first was an update`},
	},
	"another value when all is known": {
		breaks: planning(func(_, config, planned object, _ *tfprotov6.PlanResourceChangeResponse) {
			if config["lid_color"].IsNull() && !config["owner"].IsKnown() {
				planned["lid_color"] = str("green")
			}
		}),
		keys: `"create": {"name": "a", "owner": "b"}, "known": ["name"]`,
		want: []string{`fake_box "box": plan with owner unknown: the second PlanResourceChange: fake_box.lid_color: planned as "green", but became "red"`},
	},
	"a change of what nothing changes": {
		breaks: planning(func(_, _, planned object, _ *tfprotov6.PlanResourceChangeResponse) {
			planned["serial"] = tftypes.NewValue(tftypes.Number, tftypes.UnknownValue)
		}),
		want: []string{`fake_box "box": create: expected no change, but planned an update of serial`},
	},
	"an update instead of a replacement": {
		breaks: planning(func(_, _, _ object, resp *tfprotov6.PlanResourceChangeResponse) { resp.RequiresReplace = nil }),
		keys:   box + `, "replaces": [{"set": {"name": "b"}, "because": ["name"]}]`,
		want: []string{
			`fake_box "box": replace 1: expected a replacement because of name, but the reasons are: `,
			`fake_box "box": replace 1: expected a replacement, but planned an update`,
		},
	},
	"a replacement instead of an update": {
		breaks: planning(func(_, _, _ object, resp *tfprotov6.PlanResourceChangeResponse) {
			resp.RequiresReplace = []*tftypes.AttributePath{at("owner")}
		}),
		keys: box + `, "updates": [{"set": {"owner": "b"}}]`,
		want: []string{`fake_box "box": update 1: expected an update, but planned a replacement`},
	},
	"a replacement because of a null that stays null": {
		breaks: planning(func(prior, _, planned object, resp *tfprotov6.PlanResourceChangeResponse) {
			if prior != nil && planned["anything"].IsKnown() && !planned["anything"].IsNull() {
				resp.RequiresReplace = append(resp.RequiresReplace, at("anything").WithAttributeName("a"))
			}
		}),
		keys: box + `, "updates": [{"set": {"anything": {"a": null}}}]`,
	},
	"an ignored change": {
		breaks: func(*fake) {}, keys: box + `, "ignores": [{"owner": "b"}]`,
		want: []string{`fake_box "box": ignored change 1: expected no change, but planned an update of owner, serial`},
	},
}

// brokenCalls are ways to break the rules of other calls.
var brokenCalls = map[string]broken{
	"an unknown value after apply": {
		breaks: makes("lid_color", unknownText),
		want: []string{
			`fake_box "box": create: ApplyResourceChange: fake_box.lid_color: still unknown after apply`,
			`fake_box "box": create: ApplyResourceChange: fake_box.lid_color: planned as "red", but became unknown`,
			`fake_box "box": import: ReadResource: fake_box.lid_color: still unknown after apply`,
		},
	},
	"another value than planned": {
		breaks: makes("lid_color", str("blue")),
		want:   []string{`fake_box "box": create: ApplyResourceChange: fake_box.lid_color: planned as "red", but became "blue"`},
	},
	"another secret than planned": {
		breaks: makes("pin", str("1234")),
		want:   []string{`fake_box "box": create: ApplyResourceChange: fake_box.pin: planned as (sensitive), but became (sensitive)`},
	},
	"other elements than planned": {
		breaks: makes("items", items("x", "y")), keys: `"create": {"name": "a", "items": [{"label": "z"}]}, "known": ["name", "items"]`,
		want: []string{
			`fake_box "box": create: ApplyResourceChange: fake_box.items[1]: appeared, but was not planned`,
			`fake_box "box": create: ApplyResourceChange: fake_box.items[0].label: planned as "z", but became "x"`,
		},
	},
	"fewer elements than planned": {
		breaks: makes("items", items()), keys: `"create": {"name": "a", "items": [{"label": "z"}]}, "known": ["name", "items"]`,
		want: []string{`fake_box "box": create: ApplyResourceChange: fake_box.items[0]: was planned, but has vanished`},
	},
	"another type than planned": {
		breaks: makes("anything", str("1")), keys: `"create": {"name": "a", "anything": 1}, "known": ["name", "anything"]`,
		want: []string{`fake_box "box": create: ApplyResourceChange: fake_box.anything: planned as a tftypes.Number, but became a tftypes.String`},
	},
	"nothing after a creation": {
		breaks: answers("apply", null()),
		want:   []string{`fake_box "box": create: ApplyResourceChange returns null for a resource that must exist`},
	},
	"an error": {
		breaks: func(f *fake) {
			f.applied = func(_, _, _ object, resp *tfprotov6.ApplyResourceChangeResponse) {
				resp.Diagnostics = []*tfprotov6.Diagnostic{
					{Severity: tfprotov6.DiagnosticSeverityWarning, Summary: "old"},
					{Severity: tfprotov6.DiagnosticSeverityError, Summary: "full", Detail: "no room", Attribute: at("name")},
				}
			}
		},
		want: []string{`fake_box "box": create: ApplyResourceChange failed: AttributeName("name"): full no room`},
	},
	"a deletion that leaves something": {
		breaks: func(f *fake) {
			f.answer = func(call string, v *tfprotov6.DynamicValue) *tfprotov6.DynamicValue {
				if missing, err := v.IsNull(); call == "apply" && missing && err == nil {
					return f.encoded("", f.last)
				}
				return v
			}
		},
		want: []string{
			`fake_box "box": destroy: ApplyResourceChange: expected null for a deletion`,
		},
	},
	"a deletion that does nothing": {
		breaks: func(f *fake) { f.keeps = true },
		want:   []string{`fake_box "box": destroy: ReadResource finds the deleted resource`},
	},
	"another value in a read": {
		breaks: func(f *fake) { f.readFrom = func(_, found object) { put(found, "lid_color", str("blue")) } },
		want: []string{
			`fake_box "box": create: ReadResource: fake_box.lid_color: was "red", but is now "blue"`,
		},
	},
	"a value that may differ in a read": {
		breaks: func(f *fake) { f.readFrom = func(_, found object) { put(found, "owner", str("me")) } },
		keys:   box + `, "mayDiffer": ["owner"], "ignores": []`,
		want:   []string{`fake_box "box": create: expected no change, but planned an update of owner, serial`},
	},
	"an unknown value in a read": {
		breaks: func(f *fake) { f.readFrom = func(_, found object) { put(found, "owner", unknownText) } },
		want: []string{
			`fake_box "box": create: ReadResource: fake_box.owner: still unknown after apply`,
			`fake_box "box": create: ReadResource: fake_box.owner: was null, but is now unknown`,
		},
	},
	"a read that finds nothing": {
		breaks: answers("read", null()),
		want:   []string{`fake_box "box": create: ReadResource does not find the resource`},
	},
	"a stored state that changes": {
		breaks: func(f *fake) { f.upgraded = func(o object) { o["owner"] = str("me") } },
		want:   []string{`fake_box "box": create: UpgradeResourceState: fake_box.owner: was null, but is now "me"`},
	},
	"an import of what does not exist": {
		breaks: func(f *fake) { f.imports = "box-0" },
		want:   []string{`fake_box "box": import: ReadResource does not find the imported resource`},
	},
	"an import of other values": {
		breaks: func(f *fake) {
			f.readFrom = func(state, found object) {
				if state["name"].IsNull() {
					put(found, "lid_color", str("blue"))
				}
			}
		},
		want: []string{`fake_box "box": import: lid_color: expected "red", imported "blue"`},
	},
	"an import of nothing": {
		breaks: func(f *fake) { f.imports = "-" },
		want:   []string{`fake_box "box": import: ImportResourceState: expected one fake_box`},
	},
	"an unexpected value": {
		breaks: func(*fake) {}, keys: box + `, "expect": {"lidColor": "green", "pin": "1"}`,
		want: []string{
			`fake_box "box": create: lid_color: expected "green", got "red"`,
			`fake_box "box": create: pin: expected (sensitive), got (sensitive)`,
		},
	},
	"a mistake that is not refused": {
		breaks: func(*fake) {}, keys: box + `, "faults": [{"set": {"owner": ""}, "expect": ["owner: must not be empty"]}]`,
		want: []string{`fake_box "box": faults 1: expected the error "owner: must not be empty", got ""`},
	},
	"a mistake at another attribute": {
		breaks: func(f *fake) {
			f.validate = func(config object) []*tfprotov6.Diagnostic {
				if config["owner"].IsNull() {
					return nil
				}
				return []*tfprotov6.Diagnostic{
					{Severity: tfprotov6.DiagnosticSeverityError, Summary: "bad", Detail: "must not be empty", Attribute: at("pin")},
				}
			}
		},
		keys: box + `, "faults": [{"set": {"owner": ""}, "expect": ["owner: must not be empty"]}]`,
		want: []string{`fake_box "box": faults 1: expected the error "owner: must not be empty", got "AttributeName(\"pin\"): bad must not be empty"`},
	},
	"a refusal before the provider is configured": {
		breaks: func(f *fake) {
			f.validate = func(object) []*tfprotov6.Diagnostic {
				if f.configured == 0 {
					return []*tfprotov6.Diagnostic{{Severity: tfprotov6.DiagnosticSeverityError, Summary: "not configured"}}
				}
				return nil
			}
		},
		want: []string{`fake_box "box": validate: ValidateResourceConfig failed: not configured`},
	},
	"a property that does not exist": {
		breaks: func(*fake) {}, keys: `"create": {"name": "a", "lid": {}}`,
		want: []string{`fake_box "box": validate: lid: no such attribute`},
	},
	"a path that does not exist": {
		breaks: func(*fake) {}, keys: box + `, "unknown": ["tags.x"]`,
		want: []string{`fake_box "box": plan with tags.x unknown: the configuration has no such value`},
	},
	"a property of another type": {
		breaks: func(*fake) {}, keys: `"create": {"name": "a", "tags": {"x": 1}}`,
		want: []string{`fake_box "box": validate: tags: x: cannot use a tftypes.Number as a tftypes.String`},
	},
}

// Each way to break a rule is reported, and nothing else.
func TestBroken(t *testing.T) {
	t.Parallel()
	for _, all := range []map[string]broken{brokenSchemas, brokenPlans, brokenCalls} {
		for name, b := range all {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				f := newFake()
				b.breaks(f)
				found := reports(t, f, `{"vertices": {"box": {"type": "fake:index:Box", `+cmp.Or(b.keys, box)+`}}}`)
				if !slices.Equal(found, b.want) {
					t.Errorf("found:\n%s\nexpected:\n%s", strings.Join(found, "\n"), strings.Join(b.want, "\n"))
				}
			})
		}
	}
}

func put(o object, name string, v tftypes.Value) {
	if o != nil {
		o[name] = v
	}
}
