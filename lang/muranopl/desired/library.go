package desired

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/lang/muranopl"
	"github.com/lumi-idl/lumi/lang/yaql"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

type dict = map[string]any

func contract(x muranopl.Expression) dict { return dict{"Contract": x} }

// argument declares an optional argument with the default preset.
func argument(name string, x muranopl.Expression, preset any) dict {
	return dict{name: dict{"Contract": x, "Default": preset}}
}

// murano contains the base classes used by catalogs.
var murano = muranopl.Declarations{
	"io.murano.Application": {Name: "io.murano.Application", Tree: muranopl.Tree(dict{"Methods": dict{"deploy": dict{}}})},
	"io.murano.Environment": {Name: "io.murano.Environment", Tree: muranopl.Tree(dict{
		"Properties": dict{
			"name":         contract("$.string()"),
			"applications": dict{"Contract": []any{muranopl.Expression("$.class('io.murano.Application').notNull()")}, "Default": []any{}},
		},
		"Methods": dict{"deploy": dict{"Body": []any{
			dict{"For": "application", "In": muranopl.Expression("$.applications"), "Do": []any{muranopl.Expression("$application.deploy()")}},
		}}},
	})},
}

// library returns the classes that workflows use to request resources, share values, and write logs.
func (e *evaluation) library() muranopl.Declarations {
	text := muranopl.Expression("$.string().notNull()")
	log := &muranopl.Declaration{Transient: true, Native: map[string]muranopl.Native{}}
	methods := dict{}
	for _, level := range []string{"debug", "info", "warning", "error"} {
		methods[level] = dict{"Arguments": []any{dict{"message": contract(text)}}}
		log.Native[level] = func(call *muranopl.Call) (any, error) {
			if err := yaql.Known(call.Arg(0)); err != nil || e.Log == nil {
				return nil, err
			}
			e.Log(level, call.Arg(0).(string))
			return nil, nil
		}
	}
	log.Tree = muranopl.Tree(dict{"Methods": methods})
	return muranopl.Declarations{
		"io.lumi.Log": log,
		"io.lumi.Resource": {
			Tree: muranopl.Tree(dict{
				"Properties": dict{
					"type": contract(text), "name": contract("$.string()"),
					"properties": dict{"Contract": dict{}}, "options": dict{"Contract": dict{}},
				},
				"Methods": dict{".init": dict{}, "get": dict{"Arguments": []any{dict{"name": contract(text)}}}},
			}),
			Native: map[string]muranopl.Native{".init": e.request, "get": get}, Transient: true,
		},
		"io.lumi.Module": {
			Tree: muranopl.Tree(dict{
				"Properties": dict{"name": contract("$.string()")},
				"Methods": dict{
					"provide": dict{"Arguments": []any{dict{"name": contract(text)}, dict{"value": contract("$")}, argument("type", "$", "any")}},
					"use":     dict{"Arguments": []any{dict{"name": contract(text)}, argument("type", "$", "any"), argument("where", "$.string()", nil)}},
				},
			}),
			Native: map[string]muranopl.Native{"provide": e.provide, "use": e.use}, Transient: true,
		},
	}
}

// Library returns the classes in io.murano and io.lumi for checks and for runs outside a deployment. Requests for
// resources return errors. log receives the messages logged through io.lumi.Log.
func Library(log func(level, message string)) muranopl.Resolver {
	e := &evaluation{Input: Input{Log: log}}
	classes := e.library()
	for _, name := range []string{"io.lumi.Resource", "io.lumi.Module"} {
		for method := range classes[name].Native {
			classes[name].Native[method] = func(*muranopl.Call) (any, error) {
				return nil, yaql.Errorf(yaql.Value, "%s is available only in deployments; use 'lumi plan'", name)
			}
		}
	}
	return muranopl.Resolvers{classes, murano}
}

// Resources maps the tokens of the resource types in schemas to the names of their properties. It returns nil if
// schemas is empty.
func Resources(schemas []*schema.Package) map[string][]string {
	if len(schemas) == 0 {
		return nil
	}
	all := map[string][]string{}
	for _, p := range schemas {
		for d := range p.Decls() {
			if r, ok := d.(*schema.Resource); ok {
				all[r.Token] = []string{}
				for _, property := range r.Properties {
					all[r.Token] = append(all[r.Token], property.Name)
				}
			}
		}
	}
	return all
}

func property(o *muranopl.Object, name string) any {
	v, _ := o.Get(name) // all properties of these classes have values
	return v
}

// request adds the resource described by a new object to the graph.
func (e *evaluation) request(call *muranopl.Call) (any, error) {
	o := call.This()
	properties, _ := property(o, "properties").(*yaql.Dict)
	options, _ := property(o, "options").(*yaql.Dict)
	for _, name := range []string{"type", "name", "properties", "options"} {
		if f, ok := property(o, name).(*future); ok {
			return nil, f.YAQLOpaque()
		}
	}
	token, _ := property(o, "type").(string)
	name, _ := property(o, "name").(string)
	decl := e.types[token]
	if decl == nil {
		return nil, yaql.Errorf(yaql.Value, "unknown resource type %q%s", token, didYouMean(token, e.tokens))
	}
	if name == "" && decl.Named {
		return nil, yaql.Errorf(yaql.Value, "%s: resources of this type need a name", token)
	}
	if name == "" {
		if !call.Gone() {
			e.unnamed[token]++
		}
		name = fmt.Sprintf("#%d", e.unnamed[token])
	}
	fault := func(err error) error {
		return yaql.Errorf(yaql.Value, "%s: %v", title(token, name), err)
	}
	u, err := urn.Format(urn.Parts{Environment: e.Environment, Package: e.Module, Module: "index", Type: tokens.Type(token), Name: name})
	if err != nil {
		return nil, fault(err)
	}
	graph := e.graph
	if call.Gone() { // its resources are being removed
		graph = &lumigl.Snapshot{}
	}
	if other := graph.Vertex(string(u)); other != nil {
		at := ""
		if other.Source != "" {
			at = ": " + other.Source
		}
		return nil, fault(fmt.Errorf("duplicate resource of this type and name%s", at))
	}
	given, isGiven := properties, true
	if decl.Named { // The name in the workflow is the default of the physical one.
		if physical, _, _ := properties.Get("name"); physical == nil {
			given, isGiven = properties.Clone(), false
			_ = given.Set("name", name) // a string is a valid key
		}
	}
	values, err := checker{}.object(decl.Properties, given, "")
	if err != nil {
		return nil, fault(err)
	}
	if text, _ := values.Get("name").Text(); decl.Named && isGiven && text == name { // an engine must not make it unique
		values = values.With("name", signed(wire.Expression, "interpolate", lumigl.ListOf(lumigl.TextOf(name))))
	}
	settings, err := checker{resources: true}.value(schema.Any, options, "options")
	if err != nil {
		return nil, fault(err)
	}
	v, err := graph.Add(u)
	if err != nil {
		return nil, fault(err)
	}
	e.places[v.Key()] = call.Pos()
	v.Properties, v.Source = values, call.Pos().String()
	if settings.Len() > 0 { // empty options are absent, as in files
		v.Options = settings
	}
	o.SetData(&resource{v, decl, properties})
	return nil, nil
}

// get returns a property of a resource: an output, or an input as given by the workflow.
func get(call *muranopl.Call) (any, error) {
	r := resourceOf(call.This())
	if err := yaql.Known(call.Arg(0)); r == nil || err != nil {
		return nil, cmp.Or(err, error(yaql.Errorf(muranopl.Uninitialized, "the resource does not exist yet")))
	}
	name := call.Arg(0).(string)
	output := func(t schema.Type) (any, error) {
		return &future{lumigl.PropertyOf(r.vertex, name), t, fmt.Sprintf("output %s of %s", name, r.title())}, nil
	}
	var names []string
	for i, p := range r.decl.Properties {
		switch {
		case p.Name != name:
			names = append(names, p.Name)
		case p.Out:
			return output(p.Type)
		default:
			v, _, _ := r.given.Get(name)
			if _, isText := v.(string); v == nil && p.Computed || i == 0 && r.decl.Named && !isText {
				return output(p.Type)
			}
			return v, nil
		}
	}
	if name == "id" || name == "urn" {
		return output(schema.String)
	}
	return nil, yaql.Errorf(yaql.Value, "%s: %s: no such property%s", r.title(), name, didYouMean(name, names))
}

var valueName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

// shared returns the vertex of the module, and the name and type of a value shared with other modules. The engine
// checks the type.
func (e *evaluation) shared(call *muranopl.Call, module string, form any) (*lumigl.Vertex, string, lumigl.Value, error) {
	for _, v := range []any{call.Arg(0), form, call.Arg(2)} { // form or where
		if err := yaql.Known(v); err != nil {
			return nil, "", lumigl.Value{}, err
		}
	}
	name, _ := call.Arg(0).(string)
	if !valueName.MatchString(name) {
		return nil, "", lumigl.Value{}, yaql.Errorf(yaql.Value, "the name of a value must be a letter, and then letters, digits, - and _")
	}
	t, err := checker{}.value(schema.Any, form, "type")
	if err != nil {
		return nil, "", t, err
	}
	v, err := e.module(module)
	if err == nil {
		e.places[v.Key()] = call.Pos()
	}
	return v, name, t, err
}

func (e *evaluation) module(name string) (*lumigl.Vertex, error) {
	last := name[strings.LastIndexByte(name, '/')+1:]
	u, err := urn.Format(urn.Parts{Environment: e.Environment, Package: name, Module: "index", Type: lumigl.ModuleType, Name: last})
	if err != nil {
		return nil, err
	}
	if v := e.graph.Vertex(string(u)); v != nil {
		return v, nil
	}
	return e.graph.Add(u)
}

// provide makes a value available to other modules.
func (e *evaluation) provide(call *muranopl.Call) (any, error) {
	if module := property(call.This(), "name"); module != nil && module != e.Module {
		return nil, yaql.Errorf(yaql.Value, "only the module itself can provide a value; create a lumi:Module without a name")
	}
	v, name, t, err := e.shared(call, e.Module, call.Arg(2))
	if err != nil {
		return nil, err
	}
	value, err := checker{resources: true}.value(schema.Any, call.Arg(1), name)
	if err != nil {
		return nil, err
	}
	all := v.Properties.Get("provides")
	if all.Get(name).Exists() {
		return nil, yaql.Errorf(yaql.Value, "%s is already provided with another value", name)
	}
	entry := lumigl.ObjectOf(lumigl.Member{Key: "type", Value: t}, lumigl.Member{Key: "value", Value: value})
	v.Properties = v.Properties.With("provides", all.With(name, entry))
	return nil, nil
}

// use returns a value that another module provides.
func (e *evaluation) use(call *muranopl.Call) (any, error) {
	module, _ := property(call.This(), "name").(string)
	if err := yaql.Known(property(call.This(), "name")); err != nil {
		return nil, err
	}
	if module == "" || module == e.Module {
		return nil, yaql.Errorf(yaql.Value, "a module cannot use values that it provides itself; name another module")
	}
	v, name, t, err := e.shared(call, module, call.Arg(1))
	if err != nil {
		return nil, err
	}
	entry := lumigl.ObjectOf(lumigl.Member{Key: "type", Value: t})
	if where, ok := call.Arg(2).(string); ok {
		entry = entry.With("where", lumigl.TextOf(where))
	}
	all := v.Properties.Get("uses")
	if other := all.Get(name); other.Exists() && !other.Equal(entry) {
		return nil, yaql.Errorf(yaql.Value, "module %q: %s is used as another type elsewhere", module, name)
	}
	v.Properties = v.Properties.With("uses", all.With(name, entry))
	return &future{lumigl.PropertyOf(v, "provides."+name), schema.Any, fmt.Sprintf("value %s of module %q", name, module)}, nil
}
