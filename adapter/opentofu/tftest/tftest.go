// Package tftest tests providers that package tfserve serves to OpenTofu.
//
// [Run] takes the resources of a fixture of 'lumi provider test' through the calls that OpenTofu makes, in this process, and checks
// each answer by OpenTofu's rules: which values a plan may choose, what may become of a planned value, that a plan made again
// with known values does the same, that the schema hides secrets, and that nothing changes without a reason.
package tftest

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/lumi-idl/lumi/adapter/opentofu/tfserve"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/internal/fixture"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// run is a test of the resources of a fixture.
type run struct {
	t         providertest.TB
	server    tfprotov6.ProviderServer
	schemas   *tfprotov6.GetProviderSchemaResponse
	instances map[*lumigl.Vertex]*instance
	order     []*instance // dependencies first
	where     string      // the resource and the step
	failing   bool        // set if the step has failed
	// createFirst lists the keys of resources that are replaced by creating the new one first.
	createFirst []string
	// reported holds the failures. Each is reported once.
	reported map[string]bool
}

// An Option changes how [Run] tests.
type Option func(*run)

// CreateFirst sets OpenTofu's create_before_destroy for resources of the fixture.
func CreateFirst(keys ...string) Option { return func(r *run) { r.createFirst = keys } }

// Run tests a plugin with a fixture file of 'lumi provider test'. The schema is the constant of the generated package lumischema.
// Calls of functions, and resources that refer to one, are not tested. Paths of assets are relative to the current folder.
func Run(t providertest.TB, p serve.Plugin, schemaJSON, fixture string, options ...Option) {
	t.Helper()
	r := &run{t: t, where: fixture, reported: map[string]bool{}}
	server, err := tfserve.New(p, schemaJSON)
	r.check(err)
	t.Cleanup(func() { r.check(server.Close()) })
	pkg, err := schema.Read(strings.NewReader(schemaJSON))
	r.check(err)
	test(t, server, pkg, slices.Collect(maps.Keys(p.Resources)), fixture, options...)
}

// errorf reports a failure in the current step, unless the test has reported the same one before.
func (r *run) errorf(format string, args ...any) {
	r.t.Helper()
	r.failing = true
	if text := fmt.Sprintf(format, args...); !r.reported[text] {
		r.reported[text] = true
		r.t.Errorf("%s: %s", r.where, text)
	}
}

// check ends the test if err is not nil.
func (r *run) check(err error) {
	r.t.Helper()
	if err != nil {
		r.errorf("%v", err)
		r.t.FailNow()
	}
}

// test tests a provider of served types with a fixture.
func test(
	t providertest.TB, server tfprotov6.ProviderServer, pkg *schema.Package, served []tokens.Type, file string, options ...Option,
) {
	t.Helper()
	r := &run{t: t, server: server, instances: map[*lumigl.Vertex]*instance{}, reported: map[string]bool{}, where: file}
	for _, option := range options {
		option(r)
	}
	f, err := fixture.Load(file)
	r.check(err)
	r.where = "provider"
	r.schemas = call(r, server.GetProviderSchema, &tfprotov6.GetProviderSchemaRequest{})
	var found rules
	found.schema("provider", "provider", r.schemas.Provider.Block.Attributes)
	for _, name := range slices.Sorted(maps.Keys(r.schemas.ResourceSchemas)) {
		found.schema(name, "resource", r.schemas.ResourceSchemas[name].Block.Attributes)
		if len(r.schemas.ResourceSchemas[name].Block.BlockTypes) > 0 {
			found.add(name, "has nested blocks, which this kit does not check")
		}
	}
	for d := range pkg.Decls() {
		switch d := d.(type) {
		case *schema.Config:
			found.secrets("provider", d.Properties, r.schemas.Provider.Block.Attributes)
		case *schema.Resource:
			name, isServed := r.typeOf(tokens.Type(d.Token)), slices.Contains(served, tokens.Type(d.Token))
			if isServed != (name != "") {
				found.add(d.Token, "served=%t, but there is a schema=%t", isServed, !isServed)
			} else if isServed {
				found.secrets(name, d.Properties, r.schemas.ResourceSchemas[name].Block.Attributes)
			}
		}
	}
	if r.broken("GetProviderSchema", found); len(found) > 0 {
		t.FailNow()
	}
	for _, each := range f.Resources { // OpenTofu validates before it configures the provider
		if i := r.instance(each); i != nil {
			i.start("validate")
			call(r, server.ValidateResourceConfig, &tfprotov6.ValidateResourceConfigRequest{
				TypeName: i.typ, Config: encoded(i.object, i.config(each.Create, true)),
			})
		}
	}
	r.configure(f.Configuration)
	t.Cleanup(r.clean)
	for _, i := range r.order {
		i.life(slices.ContainsFunc(f.Resources, func(other *fixture.Resource) bool { return slices.Contains(other.Needs, i.fixture) }))
	}
	for _, i := range slices.Backward(r.order) {
		if i.start("destroy"); !i.state.IsNull() {
			i.destroy()
		}
	}
}

// typeOf returns OpenTofu's name of a resource type, or "".
func (r *run) typeOf(token tokens.Type) string {
	name, _ := match(maps.Keys(r.schemas.ResourceSchemas), path.Base(token.Package())+
		strings.ReplaceAll(strings.TrimPrefix("/"+token.Module(), "/index"), "/", "")+token.Name())
	return name
}

// instance returns the test of a resource, or nil for a call and for a resource that refers to one.
func (r *run) instance(f *fixture.Resource) *instance {
	for _, needed := range f.Needs {
		if r.instances[needed.Vertex] == nil {
			r.t.Logf("%s is not tested, because it refers to %s", f.Key(), needed.Key())
			return nil
		}
	}
	if f.Call != nil {
		return nil
	}
	name := r.typeOf(f.Type)
	if name == "" {
		r.where = f.Key()
		r.check(fmt.Errorf("the provider does not serve %s", f.Type))
	}
	s := r.schemas.ResourceSchemas[name]
	i := &instance{run: r, fixture: f, typ: name, attrs: s.Block.Attributes, version: s.Version, object: s.ValueType()}
	i.state = i.null()
	r.instances[f.Vertex], r.order = i, append(r.order, i)
	return i
}

// configure validates the provider's configuration and configures the provider with it.
func (r *run) configure(bag providertest.Properties) {
	r.where = "provider"
	t := r.schemas.Provider.ValueType()
	plain, err := r.resolve(bag, false)
	r.check(err)
	config, err := valueOf(t, plain)
	r.check(err)
	call(r, r.server.ValidateProviderConfig, &tfprotov6.ValidateProviderConfigRequest{Config: encoded(t, config)})
	call(r, r.server.ConfigureProvider, &tfprotov6.ConfigureProviderRequest{Config: encoded(t, config)})
}

// clean destroys the remaining resources after a failure.
func (r *run) clean() {
	for _, i := range slices.Backward(r.order) {
		if !i.state.IsNull() {
			i.start("clean up")
			tried(r, r.server.ApplyResourceChange, &tfprotov6.ApplyResourceChangeRequest{
				TypeName: i.typ, PriorState: encoded(i.object, i.state), PlannedState: encoded(i.object, i.null()), Config: encoded(i.object, i.null()),
				PlannedPrivate: i.private,
			})
		}
	}
}

// resolve replaces the fixture's values by values of package encoding/json, and references by values of the resources, or by
// unknown ones.
func (r *run) resolve(bag providertest.Properties, unknowns bool) (map[string]any, error) {
	made := map[string]any{}
	var err error
	for name, value := range bag {
		if v, ok := value.(lumigl.Value); ok {
			value = r.plain(v, unknowns, &err)
		}
		made[name] = value
	}
	return made, err
}

func (r *run) plain(v lumigl.Value, unknowns bool, err *error) any {
	return v.Plain(func(part lumigl.Value) (any, bool) {
		if inner, ok := part.Secret(); ok {
			return r.plain(inner, unknowns, err), true
		}
		target, property, isReference := part.Target()
		switch {
		case part.IsFile():
			content := map[string]any{}
			for key, member := range part.Members() {
				if key != wire.Signature {
					content[key] = r.plain(member, unknowns, err)
				}
			}
			return content, true
		case !isReference:
			return nil, false
		case unknowns:
			return unknown{}, true
		}
		i := r.instances[target]
		if property == "" {
			return reference{i.typ, parts(i.state)[".id"]}, true
		}
		name, _, ok := member(i.object, property)
		if !ok {
			*err = errors.Join(*err, fmt.Errorf("%s has no attribute for %s", i.typ, property))
		}
		return parts(i.state)["."+name], true
	})
}

// underPath reports whether a path of Lumi begins with an attribute, whose letters are given.
func underPath(attr string, path lumi.Path) bool {
	root := string(path)
	if end := strings.IndexAny(root, ".["); end >= 0 {
		root = root[:end]
	}
	return letters(root) == attr
}
