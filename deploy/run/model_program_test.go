package run_test

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
	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/sim"
)

// modelTypes differ in how an uncertain Create is settled. For a Disk, the engine must ask the user.
var modelTypes = []sim.Type{
	{Token: "sim:index:Disk", Named: true},
	{Token: "sim:index:Server", Find: true},
	{Token: "sim:index:Rule", Idempotent: true},
	{Token: "sim:index:Bucket", Named: true, Idempotent: true, Repeatable: true, Unique: true},
	{Token: "sim:index:Name", Named: true, Find: true, Unique: true},
}

const (
	modelDisk   = 0
	modelShared = 3 // types before this index have no unique names
)

// modelPrograms holds the programs of an environment. A module may use only earlier modules.
type modelPrograms struct {
	modules []*modelProgram
	next    int // number of the next resource
	// spared holds the names of resources that may be forgotten instead of deleted.
	spared map[string]bool
	names  modelNames
	// reads is set if resources refer to others of their module through look-ups and calls, which changes nothing in the
	// cloud.
	reads bool
}

type modelNames int

const (
	asGiven modelNames = iota
	uniqueByDefault
	uniqueInPrograms
)

// isUnique reports whether a resource has a unique name, and whether the program asks for it.
func (e *modelPrograms) isUnique(r *modelResource) (is, inProgram bool) {
	inProgram = e.names == uniqueInPrograms && r.number%2 == 0 && r.physical != ""
	return inProgram || e.names == uniqueByDefault && r.physical == r.name && r.name != "", inProgram
}

type modelProgram struct {
	name string
	gone bool // whether to destroy the module
	// resources is in dependency order. The first one is never removed, since the module provides it as "r".
	resources []*modelResource
	// provides is the value that the module provides as "v".
	provides modelValue
}

type modelResource struct {
	number int // unique in the environment; the property "mode"
	typ    int // index in modelTypes
	// isLeaf is set if no resource refers to this one. Other resources are never deleted before their replacements are
	// created, since references prevent that.
	isLeaf bool
	// isSpared is set if the resource may have the options protect and retainOnDelete. It has no references, so that
	// all other resources can be deleted.
	isSpared bool
	// name is the name in the URN, empty for unnamed types. physical is the property "name".
	name, physical string
	aliases        []string
	properties     map[string]modelValue
	dependsOn      []int
	options        map[string]bool
}

// modelValue is a literal, an output of a resource of the module, or the value "v" or "r" of another module.
type modelValue struct {
	literal string
	number  int // number of the resource
	output  string
	module  string // name of the module; output is the name of its value
}

var modelOptions = []string{"deleteBeforeReplace", "replaceOnChanges", "ignoreChanges", "protect", "retainOnDelete"}

// modelEdit is a change to a program: an operation, a resource, and a variant. All numbers are valid.
type modelEdit struct{ Do, On, How int }

func (e *modelPrograms) edit(m *modelProgram, x modelEdit) {
	if m.gone = x.Do == 13; m.gone {
		return
	}
	at := x.On % max(1, len(m.resources))
	if x.Do == 0 || len(m.resources) == 0 {
		e.add(m, at, x.How)
		return
	}
	r := m.resources[at]
	switch x.Do {
	case 1:
		r.properties["size"] = modelValue{literal: fmt.Sprint(x.How % 4)}
	case 2:
		if at > 0 {
			m.remove(at)
		}
	case 3:
		r.properties["region"] = modelValue{literal: []string{"oslo", "lisbon"}[x.How%2]}
		if !r.isLeaf {
			r.rename(3)
		}
	case 4:
		r.properties["password"] = modelValue{literal: fmt.Sprint("secret ", x.How%3)}
	case 5, 6, 7:
		r.refer(m.resources[:at], x.How)
	case 8:
		if i := slices.Index(e.modules, m); i > 0 && len(e.modules[x.How%i].resources) > 0 {
			r.set(x.How, modelValue{module: e.modules[x.How%i].name, output: "v"}, modelValue{module: e.modules[x.How%i].name, output: "r"})
		}
	case 9:
		maps.DeleteFunc(r.properties, func(name string, _ modelValue) bool { return name == []string{"size", "on", "at", "parent"}[x.How%4] })
	case 10:
		r.rename(x.How)
		e.spared[r.name] = r.isSpared
	case 11:
		option := modelOptions[x.How%len(modelOptions)]
		r.options[option] = !r.options[option] && (r.isSpared || option == "ignoreChanges" || r.isLeaf && x.How%len(modelOptions) < 2)
		if to := m.resources[x.How%(at+1)].number; x.How > 16 && to != r.number && !slices.Contains(r.dependsOn, to) {
			r.dependsOn = append(r.dependsOn, to)
		}
	case 12:
		if !r.isLeaf {
			m.provides = modelValue{number: r.number, output: modelOutputs[x.How%len(modelOutputs)]}
		}
	}
}

var modelOutputs = []string{"arn", "id", "etag", "key"}

// add adds a resource to a program. The resource may refer to another one.
func (e *modelPrograms) add(m *modelProgram, at, how int) {
	e.next++
	r := &modelResource{
		number: e.next, typ: how % modelShared, properties: map[string]modelValue{"size": {literal: "1"}},
		options: map[string]bool{},
	}
	if len(m.resources) > 0 {
		r.typ = how % len(modelTypes)
	}
	if modelTypes[r.typ].Named {
		r.name = fmt.Sprint("r", r.number)
		r.physical = r.name
	}
	r.isLeaf = modelTypes[r.typ].Unique || how >= 18 && len(m.resources) > 0
	if r.typ == modelDisk && r.isLeaf {
		r.isSpared, e.spared[r.name] = true, true
	} else if how%2 == 0 {
		r.refer(m.resources, at+how/2)
	}
	if len(m.resources) == 0 {
		m.provides = modelValue{number: r.number, output: "arn"}
	}
	m.resources = append(m.resources, r)
}

// refer makes a resource refer to one of the others, except leaves.
func (r *modelResource) refer(others []*modelResource, how int) {
	others = slices.DeleteFunc(slices.Clone(others), func(other *modelResource) bool { return other.isLeaf })
	if len(others) > 0 {
		number := others[how/6%len(others)].number
		r.set(how, modelValue{number: number, output: modelOutputs[how%len(modelOutputs)]}, modelValue{number: number})
	}
}

func (r *modelResource) set(how int, output, resource modelValue) {
	property := []string{"on", "at", "parent"}[how/2%3]
	switch {
	case r.isSpared:
	case property == "on":
		r.properties[property] = resource
	case property == "at" || r.isLeaf || r.name == "":
		r.properties[property] = output
	}
}

// rename changes the URN or the physical name of a named resource.
func (r *modelResource) rename(how int) {
	switch {
	case r.name == "":
	case how%4 == 3:
		r.physical += "x"
	default:
		r.aliases = append(r.aliases, r.name)
		r.name += "v"
		if how%4 == 2 {
			r.aliases, r.physical = nil, r.physical+"x"
		}
	}
}

func (m *modelProgram) remove(i int) {
	number := m.resources[i].number
	m.resources = slices.Delete(m.resources, i, i+1)
	isOf := func(v modelValue) bool { return v.number == number }
	if isOf(m.provides) {
		m.provides = modelValue{number: m.resources[0].number, output: "arn"}
	}
	for _, r := range m.resources {
		maps.DeleteFunc(r.properties, func(_ string, v modelValue) bool { return isOf(v) })
		r.dependsOn = slices.DeleteFunc(r.dependsOn, func(n int) bool { return n == number })
	}
}

func (m *modelProgram) clone() *modelProgram {
	c := *m
	c.resources = nil
	for _, r := range m.resources {
		r := *r
		r.properties, r.options = maps.Clone(r.properties), maps.Clone(r.options)
		r.dependsOn, r.aliases = slices.Clone(r.dependsOn), slices.Clone(r.aliases)
		c.resources = append(c.resources, &r)
	}
	return &c
}

func (m *modelProgram) unprotected() *modelProgram {
	c := m.clone()
	for _, r := range c.resources {
		delete(r.options, "protect")
	}
	return c
}

// alone returns the program without property references or protection, so that it can always be deployed.
func (m *modelProgram) alone() *modelProgram {
	c := m.unprotected()
	for _, r := range c.resources {
		maps.DeleteFunc(r.properties, func(_ string, v modelValue) bool { return v.module != "" || v.number != 0 })
	}
	return c
}

func (e *modelPrograms) module(name string) *modelProgram {
	return e.modules[slices.IndexFunc(e.modules, func(m *modelProgram) bool { return m.name == name })]
}

func modelURN(module string, typ tokens.Type, name string) urn.URN {
	return must.Value(urn.Format(urn.Parts{Environment: modelEnvironment, Package: module, Module: "index", Type: typ, Name: name}))
}

func modelObject(members ...any) lumigl.Value {
	var b lumigl.ObjectBuilder
	for i := 0; i < len(members); i += 2 {
		b.Set(members[i].(string), members[i+1].(lumigl.Value))
	}
	return b.Object()
}

func (e *modelPrograms) desired(m *modelProgram) *lumigl.Snapshot {
	s := &lumigl.Snapshot{Package: m.name}
	resources, counts := map[int]*lumigl.Vertex{}, map[int]int{}
	modules := map[string]*lumigl.Vertex{}
	for _, r := range m.resources {
		for _, v := range r.properties {
			if v.module == "" {
				continue
			}
			if modules[v.module] == nil {
				modules[v.module] = must.Value(s.Add(modelURN(v.module, lumigl.ModuleType, v.module)))
			}
			uses := modules[v.module].Properties.Get("uses").With(v.output, modelObject("type", e.module(v.module).typeOf(v.output)))
			modules[v.module].Properties = modelObject("uses", uses)
		}
	}
	build := func(v modelValue) lumigl.Value {
		switch {
		case e.reads && v.number%2 == 1 && v.output != "etag" && v.output != "key": // Get may return stale outputs.
			u := resources[v.number].URN()
			look := s.Vertex(string(modelURN(m.name, u.Type(), fmt.Sprint("look", v.number))))
			if look == nil {
				look = must.Value(s.Add(modelURN(m.name, u.Type(), fmt.Sprint("look", v.number))))
				look.Options = modelObject("read", lumigl.PropertyOf(resources[v.number], "id"))
			}
			return lumigl.PropertyOf(look, v.output)
		case e.reads && v.number != 0 && v.output != "":
			counts[-1]++
			call := must.Value(s.Add(modelURN(m.name, echoType, fmt.Sprint("#", counts[-1]))))
			call.Properties, call.Options = modelObject("of", lumigl.PropertyOf(resources[v.number], v.output)), modelObject("call", lumigl.BoolOf(true))
			return lumigl.PropertyOf(call, "value")
		case v.module != "":
			return lumigl.PropertyOf(modules[v.module], "provides."+v.output)
		case v.number != 0:
			return lumigl.PropertyOf(resources[v.number], v.output)
		}
		return lumigl.TextOf(v.literal)
	}
	for _, r := range m.resources {
		name := r.name
		if name == "" {
			counts[r.typ]++
			name = fmt.Sprint("#", counts[r.typ])
		}
		v := must.Value(s.Add(modelURN(m.name, modelTypes[r.typ].Token, name)))
		resources[r.number] = v
		var properties lumigl.ObjectBuilder
		properties.Set("mode", lumigl.IntOf(int64(r.number)))
		if r.physical != "" {
			properties.Set("name", lumigl.TextOf(r.physical))
		}
		if _, inProgram := e.isUnique(r); inProgram {
			properties.Set("name", expr.UniqueName(r.physical))
		}
		for _, property := range slices.Sorted(maps.Keys(r.properties)) {
			value := build(r.properties[property])
			switch property {
			case "size", "on":
				value = lumigl.ListOf(value)
			case "password":
				value = modelObject(wire.Signature, lumigl.TextOf(wire.Secret), "value", value)
			}
			properties.Set(property, value)
		}
		v.Properties, v.Options = properties.Object(), r.desiredOptions(resources)
	}
	if len(m.resources) > 0 {
		must.Value(s.Add(modelURN(m.name, lumigl.ModuleType, m.name))).Properties = modelObject("provides", modelObject(
			"r", modelObject("type", m.typeOf("r"), "value", lumigl.ReferenceTo(resources[m.resources[0].number])),
			"v", modelObject("type", m.typeOf("v"), "value", build(m.provides))))
	}
	return s
}

func (m *modelProgram) typeOf(provided string) lumigl.Value {
	if provided == "v" {
		return lumigl.TextOf("string")
	}
	return modelObject("resource", lumigl.TextOf(string(modelTypes[m.resources[0].typ].Token)))
}

func (r *modelResource) desiredOptions(resources map[int]*lumigl.Vertex) lumigl.Value {
	texts := func(all []string) lumigl.Value {
		var values []lumigl.Value
		for _, text := range all {
			values = append(values, lumigl.TextOf(text))
		}
		return lumigl.ListOf(values...)
	}
	var options lumigl.ObjectBuilder
	var after []lumigl.Value
	for _, number := range r.dependsOn {
		after = append(after, lumigl.ReferenceTo(resources[number]))
	}
	if len(after) > 0 {
		options.Set("dependsOn", lumigl.ListOf(after...))
	}
	if len(r.aliases) > 0 {
		options.Set("aliases", texts(r.aliases))
	}
	for _, option := range slices.Sorted(maps.Keys(r.options)) {
		switch {
		case !r.options[option]:
		case strings.HasSuffix(option, "Changes"):
			options.Set(option, texts([]string{"size"}))
		default:
			options.Set(option, lumigl.BoolOf(true))
		}
	}
	if options.Len() == 0 {
		return lumigl.Value{}
	}
	return options.Object()
}

// inputs returns the properties that a resource should have in the cloud.
func (e *modelPrograms) inputs(m *modelProgram, r *modelResource, cloud map[int]sim.Resource) map[string]any {
	var evaluate func(m *modelProgram, v modelValue) any
	evaluate = func(m *modelProgram, v modelValue) any {
		of := cloud[v.number]
		switch {
		case v.module != "" && v.output == "v":
			return evaluate(e.module(v.module), e.module(v.module).provides)
		case v.module != "":
			return string(cloud[e.module(v.module).resources[0].number].ID)
		case v.number != 0 && (v.output == "" || v.output == "id"):
			return string(of.ID)
		case v.number != 0:
			return of.Outputs[v.output]
		}
		return v.literal
	}
	all := map[string]any{"mode": float64(r.number), "name": cloud[r.number].Inputs["name"]}
	if r.physical != "" {
		all["name"] = r.physical
	}
	if is, _ := e.isUnique(r); is {
		name, _ := cloud[r.number].Inputs["name"].(string)
		if generated, ok := strings.CutPrefix(name, r.physical+"-"); ok && len(generated) == 8 {
			all["name"] = name
		}
	}
	for property, v := range r.properties {
		if all[property] = evaluate(m, v); property == "size" || property == "on" {
			all[property] = []any{all[property]}
		}
	}
	if r.options["ignoreChanges"] {
		all["size"] = cloud[r.number].Inputs["size"]
	}
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	return all
}

// String formats the program for failure messages.
func (m *modelProgram) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "module %s", m.name)
	if m.gone {
		return b.String() + ": destroyed"
	}
	show := func(v modelValue) string {
		switch {
		case v.module != "":
			return v.module + "." + v.output
		case v.number != 0:
			return strings.TrimSuffix(fmt.Sprintf("r%d.%s", v.number, v.output), ".")
		}
		return fmt.Sprintf("%q", v.literal)
	}
	fmt.Fprintf(&b, " provides v: %s", show(m.provides))
	for _, r := range m.resources {
		fmt.Fprintf(&b, "\n    %d %s %s", r.number, modelTypes[r.typ].Token.Name(), r.name)
		if r.physical != r.name {
			fmt.Fprintf(&b, " named %s", r.physical)
		}
		for _, property := range slices.Sorted(maps.Keys(r.properties)) {
			fmt.Fprintf(&b, " %s=%s", property, show(r.properties[property]))
		}
		for _, option := range slices.Sorted(maps.Keys(r.options)) {
			if r.options[option] {
				fmt.Fprintf(&b, " %s", option)
			}
		}
		if len(r.dependsOn) > 0 || len(r.aliases) > 0 {
			fmt.Fprintf(&b, " dependsOn %v aliases %v", r.dependsOn, r.aliases)
		}
	}
	return b.String()
}
