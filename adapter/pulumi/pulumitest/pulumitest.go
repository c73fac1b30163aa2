// Package pulumitest tests providers that package pulumiserve serves to Pulumi.
//
// [Run] takes the resources of a fixture of 'lumi provider test' through the calls that Pulumi's engine makes, in this process, and
// checks each answer by the rules of Pulumi's protocol: what a preview may promise, that secrets are sent as secrets, that states
// have no unknown values, that diffs are consistent, and that nothing changes without a reason.
package pulumitest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/adapter/pulumi/pulumiserve"
	"github.com/lumi-idl/lumi/gen/pulumischema"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/internal/fixture"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// resourceSignature marks a reference to a resource in Pulumi's values.
const resourceSignature = "5cf8f73096256a8f31e491e813e4eb8e"

// run is a test of the resources of a fixture.
type run struct {
	t         providertest.TB
	server    pulumirpc.ResourceProviderServer
	instances map[*lumigl.Vertex]*instance
	order     []*instance // dependencies first
	where     string      // the resource and the step
}

// Run tests a plugin with a fixture file of 'lumi provider test'. The schema is the constant of the generated package lumischema.
// Calls of functions, and resources that refer to one, are not tested. Paths of assets are relative to the current folder.
func Run(t providertest.TB, p serve.Plugin, schemaJSON, fixture string) {
	t.Helper()
	server, err := pulumiserve.New(p, schemaJSON)
	(&run{t: t, where: fixture}).check(err)
	test(t, server, schemaJSON, fixture)
}

// test tests a provider with a fixture.
func test(t providertest.TB, server pulumirpc.ResourceProviderServer, schemaJSON, file string) {
	t.Helper()
	r := &run{t: t, server: server, instances: map[*lumigl.Vertex]*instance{}, where: file}
	f, err := fixture.Load(file)
	r.check(err)
	pkg, err := schema.Read(strings.NewReader(schemaJSON))
	r.check(err)
	resources := map[string]*schema.Resource{}
	for d := range pkg.Decls() {
		if d, ok := d.(*schema.Resource); ok {
			resources[d.Token] = d
		}
	}
	t.Cleanup(r.clean)
	r.where = "provider"
	call(r, server.Configure, &pulumirpc.ConfigureRequest{AcceptSecrets: true, AcceptResources: true, Args: r.object(f.Configuration, nil)})
	for _, each := range f.Resources {
		if needed := slices.IndexFunc(each.Needs, func(n *fixture.Resource) bool { return r.instances[n.Vertex] == nil }); needed >= 0 {
			t.Logf("%s is not tested, because it refers to %s", each.Key(), each.Needs[needed].Key())
		} else if each.Call == nil {
			d := resources[string(each.Type)]
			if r.where = each.Key(); d == nil {
				r.check(fmt.Errorf("the schema has no resource %s", each.Type))
			}
			i := &instance{run: r, fixture: each, properties: d.Properties, urn: "urn:pulumi:test::fixture::" +
				pulumischema.Token(d.Token) + "::" + each.Key()}
			r.instances[each.Vertex], r.order = i, append(r.order, i)
			i.life(slices.ContainsFunc(f.Resources, func(other *fixture.Resource) bool { return slices.Contains(other.Needs, each) }))
		}
	}
	for _, i := range slices.Backward(r.order) {
		i.start("delete")
		i.delete(i.id, i.outputs)
		i.id = ""
	}
}

// errorf reports a failure in the current step.
func (r *run) errorf(format string, args ...any) {
	r.t.Helper()
	r.t.Errorf("%s: %s", r.where, fmt.Sprintf(format, args...))
}

// check ends the test if err is not nil.
func (r *run) check(err error) {
	r.t.Helper()
	if err != nil {
		r.errorf("%v", err)
		r.t.FailNow()
	}
}

// call calls the provider and ends the test if the call fails.
func call[Q, R any](r *run, f func(context.Context, Q) (R, error), req Q) R {
	r.t.Helper()
	resp, err := f(r.t.Context(), req)
	if err != nil {
		r.check(fmt.Errorf("%s: %w", strings.TrimPrefix(fmt.Sprintf("%T", req), "*pulumirpc."), err))
	}
	return resp
}

// clean deletes resources left after a failure.
func (r *run) clean() {
	for _, i := range slices.Backward(r.order) {
		if i.id == "" {
			continue
		}
		i.start("clean up")
		if _, err := r.server.Delete(context.WithoutCancel(r.t.Context()), i.deletion(i.id, i.outputs)); err != nil {
			r.errorf("%v", err)
		}
	}
}

// object converts properties of the fixture to a program's inputs. The values of hidden ones are unknown.
func (r *run) object(bag providertest.Properties, hidden func(name string) bool) *structpb.Struct {
	r.t.Helper()
	plain := map[string]any{}
	var err error
	for name, value := range bag {
		switch v, isValue := value.(lumigl.Value); {
		case value == nil:
		case hidden != nil && hidden(name):
			plain[name] = wire.Unknown
		case isValue:
			if value = r.plain(v, &err); value != nil {
				plain[name] = value
			}
		default:
			plain[name] = value
		}
	}
	s, failed := structpb.NewStruct(plain)
	r.check(errors.Join(err, failed))
	return s
}

// plain returns a value of the fixture with references resolved.
func (r *run) plain(v lumigl.Value, err *error) any {
	return v.Plain(func(part lumigl.Value) (any, bool) {
		if inner, ok := part.Secret(); ok {
			return map[string]any{wire.Signature: wire.Secret, "value": r.plain(inner, err)}, true
		}
		target, property, isReference := part.Target()
		switch {
		case part.IsFile():
			content := map[string]any{}
			for key, member := range part.Members() {
				content[key] = r.plain(member, err)
			}
			return content, true
		case !isReference:
			return nil, false
		}
		i := r.instances[target]
		if property == "" {
			return map[string]any{wire.Signature: resourceSignature, "urn": i.urn, "id": i.id}, true
		}
		found, ok := i.outputs.GetFields()[property]
		if !ok {
			*err = errors.Join(*err, fmt.Errorf("%s has no output %s", i.fixture.Key(), property))
		}
		return found.AsInterface(), true
	})
}
