package plan_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// simEnvironment holds the programs of a random environment. A module may use only earlier modules.
type simEnvironment struct {
	modules []*simModule
	next    int // number of the next resource
}

type simModule struct {
	name string
	// resources is in dependency order.
	resources []simResource
	provides  []simProvided
	uses      []simUse
}

type simResource struct {
	number int // unique in the environment
	kind   int // index in simTypes
	// name is the name in the URN and the initial value of the property "name". It is empty for unnamed resources.
	name       string
	properties map[string]simValue
	dependsOn  []int
	flags      []string
	paths      map[string]string // property paths by option name, such as ignoreChanges
	aliases    []string
}

type simProvided struct {
	name  string
	kind  int // index in simProvidedKinds
	value simValue
}

type simUse struct {
	module, name string
	kind         int
	where        string
}

// simValue is a value in a program. It is immutable.
type simValue struct {
	form     string // "literal", "secret", "resource", "output", "use", "interpolate", "jsonStringify", "get", "unique" or "list"
	literal  lumigl.Value
	of       int        // number of the resource, for a resource or an output
	property string     // name of the output, or "module.name" for a use
	parts    []simValue // of expressions and lists
}

// simProvidedKinds lists the types of provided values. Not all of the verbs are assignable to each other.
var simProvidedKinds = []string{
	`"number"`,
	`"string"`,
	`{"resource": "x:m:Disk"}`,
	`{"verb": {"request": {"object": {"a": "number"}}, "response": "number"}}`,
	`{"verb": {"request": {"object": {"a": "number", "b?": "number"}}, "response": "number"}}`,
	`{"verb": {"request": {"object": {"a": "number", "b": "number"}}, "response": "number"}}`,
	`{"object": {"a": "number", "b?": "string"}}`,
}

const simNumber, simString, simDisk, simVerb, simObject = 0, 1, 2, 3, 6

func simForm(kind int) lumigl.Value {
	v, err := lumigl.Parser{}.ParseValue(simProvidedKinds[kind])
	if err != nil {
		panic(err)
	}
	return v
}

var simForms = func() (all []lumigl.Value) {
	for kind := range simProvidedKinds {
		all = append(all, simForm(kind))
	}
	return all
}()

func simURN(module, typ, name string) urn.URN {
	u, err := urn.Format(urn.Parts{Environment: "dev", Package: module, Module: "index", Type: tokens.Type(typ), Name: name})
	if err != nil {
		panic(err)
	}
	return u
}

// desired returns the desired state of the program, either in canonical order or in program order with reversed
// property keys.
func (m *simModule) desired(canonical bool) *lumigl.Snapshot {
	s := &lumigl.Snapshot{Package: m.name}
	modules := map[string]*lumigl.Vertex{}
	add := func(u urn.URN) *lumigl.Vertex {
		v, err := s.Add(u)
		if err != nil {
			panic(err)
		}
		return v
	}
	for _, use := range m.uses {
		if modules[use.module] == nil {
			modules[use.module] = add(simURN(use.module, string(lumigl.ModuleType), use.module))
		}
		v := modules[use.module]
		constraint := lumigl.ObjectOf(lumigl.Member{Key: "type", Value: simForms[use.kind]})
		if use.where != "" {
			constraint = constraint.With("where", lumigl.TextOf(use.where))
		}
		v.Properties = v.Properties.With("uses", v.Properties.Get("uses").With(use.name, constraint))
	}
	resources := map[int]*lumigl.Vertex{}
	vertices := make([]*lumigl.Vertex, len(m.resources))
	counts := map[int]int{}
	names := make([]string, len(m.resources))
	for i, r := range m.resources {
		if names[i] = r.name; r.name == "" {
			counts[r.kind]++
			names[i] = fmt.Sprintf("#%d", counts[r.kind])
		}
	}
	for i := range m.resources {
		vertices[i] = add(simURN(m.name, string(simTypes[m.resources[i].kind].Type), names[i]))
		resources[m.resources[i].number] = vertices[i]
	}
	build := func(v simValue) lumigl.Value { return v.build(resources, modules) }
	for i, r := range m.resources {
		keys := slices.Sorted(maps.Keys(r.properties))
		if !canonical {
			slices.Reverse(keys)
		}
		var properties lumigl.ObjectBuilder
		for _, key := range keys {
			properties.Set(key, build(r.properties[key]))
		}
		vertices[i].Properties = properties.Object()
		vertices[i].Options = r.options(resources)
	}
	if len(m.provides) > 0 {
		var provides lumigl.ObjectBuilder
		for _, p := range m.provides {
			provides.Set(p.name, lumigl.ObjectOf(
				lumigl.Member{Key: "type", Value: simForms[p.kind]}, lumigl.Member{Key: "value", Value: build(p.value)}))
		}
		add(simURN(m.name, string(lumigl.ModuleType), m.name)).Properties = lumigl.ObjectOf(
			lumigl.Member{Key: "provides", Value: provides.Object()})
	}
	if canonical {
		if err := s.Sort(); err != nil {
			panic(err)
		}
	}
	return s
}

// urn returns the URN that a resource has in the program.
func (m *simModule) urn(i int) urn.URN {
	r := m.resources[i]
	name := r.name
	if name == "" {
		n := 1
		for _, other := range m.resources[:i] {
			if other.kind == r.kind {
				n++
			}
		}
		name = fmt.Sprintf("#%d", n)
	}
	return simURN(m.name, string(simTypes[r.kind].Type), name)
}

// options returns the options of a resource, or an absent value.
func (r *simResource) options(resources map[int]*lumigl.Vertex) lumigl.Value {
	var options lumigl.ObjectBuilder
	var after, aliases []lumigl.Value
	for _, n := range r.dependsOn {
		after = append(after, lumigl.ReferenceTo(resources[n]))
	}
	for _, name := range r.aliases {
		aliases = append(aliases, lumigl.TextOf(name))
	}
	if len(after) > 0 {
		options.Set("dependsOn", lumigl.ListOf(after...))
	}
	if len(aliases) > 0 {
		options.Set("aliases", lumigl.ListOf(aliases...))
	}
	for _, flag := range r.flags {
		options.Set(flag, lumigl.BoolOf(true))
	}
	for _, option := range slices.Sorted(maps.Keys(r.paths)) {
		options.Set(option, lumigl.ListOf(lumigl.TextOf(r.paths[option])))
	}
	if options.Len() == 0 {
		return lumigl.Value{}
	}
	return options.Object()
}

// build returns the LumiGL form of the value.
func (v simValue) build(resources map[int]*lumigl.Vertex, modules map[string]*lumigl.Vertex) lumigl.Value {
	parts := make([]lumigl.Value, len(v.parts))
	for i, part := range v.parts {
		parts[i] = part.build(resources, modules)
	}
	special := func(signature string, members ...lumigl.Member) lumigl.Value {
		return lumigl.ObjectOf(append([]lumigl.Member{{Key: wire.Signature, Value: lumigl.TextOf(signature)}}, members...)...)
	}
	switch v.form {
	case "literal":
		return v.literal
	case "secret":
		return special(wire.Secret, lumigl.Member{Key: "value", Value: v.literal})
	case "resource":
		return lumigl.ReferenceTo(resources[v.of])
	case "output":
		return lumigl.PropertyOf(resources[v.of], v.property)
	case "use":
		module, name, _ := strings.Cut(v.property, ".")
		return lumigl.PropertyOf(modules[module], "provides."+name)
	case "unique":
		return expr.UniqueName("unique")
	case "interpolate":
		return special(wire.Expression, lumigl.Member{Key: v.form, Value: lumigl.ListOf(parts...)})
	case "jsonStringify":
		return special(wire.Expression, lumigl.Member{Key: v.form, Value: lumigl.ListOf(parts...)})
	case "get":
		return special(wire.Expression, lumigl.Member{Key: v.form, Value: lumigl.ListOf(parts...)},
			lumigl.Member{Key: "path", Value: lumigl.TextOf("[0]")})
	default:
		return lumigl.ListOf(parts...)
	}
}

// without returns the value with references to a resource, and to a use given as "module.name", replaced by literals.
func (v simValue) without(number int, use string) simValue {
	if v.of == number && (v.form == "resource" || v.form == "output") || v.form == "use" && v.property == use {
		return simLiteral(0)
	}
	parts := slices.Clone(v.parts)
	for i := range parts {
		parts[i] = parts[i].without(number, use)
	}
	v.parts = parts
	return v
}

// String formats the program for failure messages.
func (m *simModule) String() string {
	var b strings.Builder
	for v := range m.desired(true).Vertices() {
		fmt.Fprintf(&b, "  %s %s %s\n", strings.TrimPrefix(v.Key(), "urn:lumi:dev::"), simText(v.Properties), simText(v.Options))
	}
	return strings.ReplaceAll(b.String(), "urn:lumi:dev::", "")
}

func simLiteral(n int) simValue {
	return simValue{form: "literal", literal: lumigl.IntOf(int64(n))}
}

// with returns a copy of the environment in which the module with the name of m is replaced by m.
func (e *simEnvironment) with(m *simModule) *simEnvironment {
	c := *e
	c.modules = slices.Clone(e.modules)
	c.modules[slices.IndexFunc(c.modules, func(o *simModule) bool { return o.name == m.name })] = m
	return &c
}

func (m *simModule) clone() *simModule {
	c := *m
	c.resources, c.provides, c.uses = slices.Clone(m.resources), slices.Clone(m.provides), slices.Clone(m.uses)
	for i := range c.resources {
		r := &c.resources[i]
		r.properties, r.paths = maps.Clone(r.properties), maps.Clone(r.paths)
		r.dependsOn, r.flags, r.aliases = slices.Clone(r.dependsOn), slices.Clone(r.flags), slices.Clone(r.aliases)
	}
	return &c
}

func (v simValue) refersTo(number int) bool {
	return v.of == number && (v.form == "resource" || v.form == "output") ||
		slices.ContainsFunc(v.parts, func(part simValue) bool { return part.refersTo(number) })
}

// remove removes the i-th resource of the module and its dependents.
func (m *simModule) remove(i int) {
	number := m.resources[i].number
	m.resources = slices.Delete(m.resources, i, i+1)
	m.provides = slices.DeleteFunc(m.provides, func(p simProvided) bool { return p.value.refersTo(number) })
	m.replaceValues(number, "")
	for i := range m.resources {
		r := &m.resources[i]
		r.dependsOn = slices.DeleteFunc(r.dependsOn, func(n int) bool { return n == number })
	}
}

// replaceValues replaces references to a resource or a use by literals.
func (m *simModule) replaceValues(number int, use string) {
	for _, r := range m.resources {
		for name, v := range r.properties {
			r.properties[name] = v.without(number, use)
		}
	}
}
