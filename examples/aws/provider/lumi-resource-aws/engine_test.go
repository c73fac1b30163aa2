package main_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// graph is the resource graph of programs/web.
type graph struct {
	Configuration map[string]*structpb.Struct
	bucket        string
	order         []urn.URN
	resources     map[urn.URN]*vertex
}

// vertex is a resource in a graph.
type vertex struct {
	Type       tokens.Type
	Properties *structpb.Struct
}

// load reads a graph from a file and renames its bucket.
func load(t *testing.T, path, bucket string) *graph {
	t.Helper()
	data := must.Get(os.ReadFile(path))(t)
	data = bytes.ReplaceAll(data, []byte("lumi-example-pages"), []byte(bucket))
	var file struct {
		Configuration map[string]map[string]any
		Resources     map[urn.URN]struct {
			Type       tokens.Type
			Properties map[string]any
		}
	}
	must.Do(t, json.Unmarshal(data, &file))
	g := &graph{
		Configuration: map[string]*structpb.Struct{}, bucket: bucket, resources: map[urn.URN]*vertex{},
	}
	for name, properties := range file.Configuration {
		g.Configuration[name] = newStruct(t, properties)
	}
	for u, r := range file.Resources {
		g.resources[u] = &vertex{r.Type, newStruct(t, r.Properties)}
	}
	for _, u := range slices.Sorted(maps.Keys(g.resources)) {
		g.visit(t, u, nil)
	}
	return g
}

func newStruct(t *testing.T, properties map[string]any) *structpb.Struct {
	t.Helper()
	s := must.Get(structpb.NewStruct(properties))(t)
	return s
}

// visit adds the resource u to the order, after all resources it refers to. from is the path of references to u.
func (g *graph) visit(t *testing.T, u urn.URN, from []urn.URN) {
	t.Helper()
	if slices.Contains(from, u) || g.resources[u] == nil {
		t.Fatalf("%v refers to %s, which is missing or part of a cycle", from, u)
	}
	if slices.Contains(g.order, u) {
		return
	}
	_ = replace(structpb.NewStructValue(g.resources[u].Properties), func(ref urn.URN, _ string) *structpb.Value {
		g.visit(t, ref, append(from, u))
		return structpb.NewNullValue()
	})
	g.order = append(g.order, u)
}

// replace returns a copy of v in which each reference is replaced with the result of other.
func replace(v *structpb.Value, other func(ref urn.URN, property string) *structpb.Value) *structpb.Value {
	switch k := v.GetKind().(type) {
	case *structpb.Value_ListValue:
		list := &structpb.ListValue{}
		for _, element := range k.ListValue.GetValues() {
			list.Values = append(list.Values, replace(element, other))
		}
		return structpb.NewListValue(list)
	case *structpb.Value_StructValue:
		fields := k.StructValue.GetFields()
		if ref, ok := fields["#ref"]; ok {
			return other(urn.URN(ref.GetStringValue()), fields["property"].GetStringValue())
		}
		made := map[string]*structpb.Value{}
		for key, field := range fields {
			made[key] = replace(field, other)
		}
		return structpb.NewStructValue(&structpb.Struct{Fields: made})
	}
	return v
}

// engine is a minimal sequential engine for tests.
type engine struct {
	*plugin.Plugin
	t     *testing.T
	types map[tokens.Type]*lumi.Description
	// names maps URNs in the graph to URNs with provider-generated names.
	names map[urn.URN]urn.URN
	state map[urn.URN]*resource
	// order lists the resources in the order of their creation.
	order []urn.URN
	// attempts is the number of calls of Create and Find.
	attempts int
}

// start starts a plugin. At the end of the test, it deletes all remaining resources.
func start(t *testing.T, c plugin.Command) *engine {
	t.Helper()
	p := must.Get(plugin.Start(t.Context(), c))(t)
	e := &engine{
		Plugin: p, t: t, types: map[tokens.Type]*lumi.Description{}, names: map[urn.URN]urn.URN{},
		state: map[urn.URN]*resource{},
	}
	t.Cleanup(func() {
		e.remove()
		_ = p.Close() // a test that cares about the exit status calls Close itself
	})
	types := must.Get(p.Describe(t.Context()))(t)
	for _, d := range types {
		e.types[d.Type] = d
	}
	return e
}

// resource is an existing resource.
type resource struct {
	typ        tokens.Type
	id         lumi.ID
	properties lumi.Bag
	references lumi.References
}

func (e *engine) provider(typ tokens.Type) lumi.ResourceProvider {
	e.t.Helper()
	p, err := e.Resource(typ)
	if err != nil {
		e.t.Fatal(err)
	}
	return p
}

// resolve returns the properties of v with all references replaced with values, and the resources referenced by its
// capabilities.
func (e *engine) resolve(v *vertex) (lumi.Bag, lumi.References) {
	references := lumi.References{}
	resolved := replace(structpb.NewStructValue(v.Properties), func(ref urn.URN, property string) *structpb.Value {
		name := e.names[ref]
		to := e.state[name]
		if property != "" {
			return to.properties.Struct().GetFields()[property]
		}
		references[name] = lumi.Reference{ID: to.id, Properties: to.properties}
		return structpb.NewStringValue(string(name))
	})
	return lumi.BagOf(resolved.GetStructValue()), references
}

// lineage is the secret of the environment. Seeds are derived from it.
const lineage = "a-lineage-of-the-tests"

// check calls Check for a resource and, if the program does not name it, Name. It returns the resource's URN, checked
// properties, and references.
func (e *engine) check(u urn.URN, v *vertex) (urn.URN, lumi.Bag, lumi.References) {
	e.t.Helper()
	properties, references := e.resolve(v)
	p := e.provider(v.Type)
	seed := hmac.New(sha256.New, []byte(lineage))
	seed.Write([]byte(u))
	request := &lumi.CheckRequest{URN: u, Properties: properties, Seed: seed.Sum(nil), References: references}
	if r := e.state[e.names[u]]; r != nil {
		request.Old = r.properties
	}
	checked, err := p.Check(e.t.Context(), request)
	if err != nil {
		e.t.Fatalf("Check(%s) = %v, want nil", u, err)
	}
	if e.types[v.Type].Named {
		return u, checked.Properties, references
	}
	named, err := p.Name(e.t.Context(), &lumi.NameRequest{URN: u, Properties: checked.Properties, References: references})
	if err != nil {
		e.t.Fatalf("Name(%s) = %v, want nil", u, err)
	}
	before, _ := strings.CutSuffix(string(u), "::"+u.Name())
	return urn.URN(before + "::" + named.Name), checked.Properties, references
}

// create creates all resources in a graph.
func (e *engine) create(g *graph) {
	e.t.Helper()
	for _, u := range g.order {
		v := g.resources[u]
		name, properties, references := e.check(u, v)
		e.names[u] = name
		e.make(v.Type, &lumi.CreateRequest{
			URN: name, Properties: properties, Token: rand.Text(), References: references,
		})
	}
}

// make creates a resource exactly once, retrying as often as necessary.
func (e *engine) make(typ tokens.Type, request *lumi.CreateRequest) {
	e.t.Helper()
	p, ctx := e.provider(typ), e.t.Context()
	for {
		e.attempts++
		created, err := p.Create(ctx, request)
		if err == nil {
			all := maps.Clone(request.Properties.Struct().GetFields())
			maps.Copy(all, created.Properties.Struct().GetFields())
			e.exists(typ, created.ID, request, lumi.BagOf(&structpb.Struct{Fields: all}))
			return
		}
		switch lumi.Meaning(err).(type) { //nolint:errorlint // Meaning returns unwrapped errors.
		case *lumi.RetryError:
			time.Sleep(10 * time.Millisecond)
			continue
		case *lumi.UncertainError:
		default:
			e.t.Fatalf("Create(%s) = %v, want nil", request.URN, err)
		}
		if e.types[typ].IdempotentCreate {
			continue
		}
		e.attempts++
		found, err := p.Find(ctx, (*lumi.FindRequest)(request))
		if errors.Is(err, lumi.ErrNotFound) {
			continue // nothing was created
		}
		if err != nil {
			e.t.Fatalf("Find(%s) = %v, want nil", request.URN, err)
		}
		e.exists(typ, found.ID, request, request.Properties)
		e.adopt(request)
		return
	}
}

// exists records a new resource in the state.
func (e *engine) exists(typ tokens.Type, id lumi.ID, request *lumi.CreateRequest, properties lumi.Bag) {
	e.state[request.URN] = &resource{typ, id, properties, request.References}
	e.order = append(e.order, request.URN)
}

// adopt updates a resource returned by Find, which may be incomplete, to the requested properties.
func (e *engine) adopt(request *lumi.CreateRequest) {
	e.t.Helper()
	r := e.state[request.URN]
	p, ctx := e.provider(r.typ), e.t.Context()
	got, err := p.Get(ctx, &lumi.GetRequest{
		URN: request.URN, ID: r.id, Purpose: lumi.Refresh, Old: r.properties, References: r.references,
	})
	if err != nil {
		e.t.Fatalf("Get(%s) = %v, want nil", request.URN, err)
	}
	all := maps.Clone(got.Properties.Struct().GetFields())
	for name, v := range all {
		for to, known := range r.references {
			if v.GetStringValue() == string(urn.ByID(to.Type(), string(known.ID))) {
				all[name] = structpb.NewStringValue(string(to))
			}
		}
	}
	for _, property := range e.types[r.typ].Properties {
		if v := request.Properties.Struct().GetFields()[property.Name]; property.Flags&lumi.In != 0 && v != nil {
			all[property.Name] = v // Get does not return the value
		}
	}
	r.properties = lumi.BagOf(&structpb.Struct{Fields: all})
	inspected := e.inspect(request.URN, request.Properties, r.references)
	if len(inspected.Changes) == 0 {
		return
	}
	updated, err := p.Update(ctx, &lumi.UpdateRequest{
		URN: request.URN, ID: r.id, Old: r.properties, New: inspected.Properties, References: r.references,
	})
	if err != nil {
		e.t.Fatalf("Update(%s) = %v, want nil", request.URN, err)
	}
	all = maps.Clone(inspected.Properties.Struct().GetFields())
	maps.Copy(all, updated.Properties.Struct().GetFields())
	r.properties = lumi.BagOf(&structpb.Struct{Fields: all})
}

// inspect returns the result of InspectChange for a resource and its wanted properties.
func (e *engine) inspect(name urn.URN, want lumi.Bag, references lumi.References) *lumi.InspectChangeResponse {
	e.t.Helper()
	r := e.state[name]
	inspected, err := e.provider(r.typ).InspectChange(e.t.Context(), &lumi.InspectChangeRequest{
		URN: name, ID: r.id, Old: r.properties, New: want, References: references,
	})
	if err != nil {
		e.t.Fatalf("InspectChange(%s) = %v, want nil", name, err)
	}
	return inspected
}

// changes describes the changes from the existing resources to a graph.
func (e *engine) changes(g *graph) []string {
	e.t.Helper()
	var told []string
	for _, u := range g.order {
		name, properties, references := e.check(u, g.resources[u])
		for _, change := range e.inspect(name, properties, references).Changes {
			told = append(told, fmt.Sprintf("%s: %s", name.Name(), change))
		}
	}
	return told
}

// remove deletes all resources in reverse order and checks that they no longer exist. Since Delete is idempotent, it
// retries transient and uncertain failures.
func (e *engine) remove() {
	e.t.Helper()
	ctx := context.WithoutCancel(e.t.Context())
	for _, name := range slices.Backward(e.order) {
		r := e.state[name]
		p := e.provider(r.typ)
		var err error
		for attempt := 0; attempt < 10; attempt++ {
			_, err = p.Delete(ctx, &lumi.DeleteRequest{URN: name, ID: r.id, Properties: r.properties, References: r.references})
			var retry *lumi.RetryError
			if errors.As(err, &retry) {
				time.Sleep(cmp.Or(retry.After, time.Second))
			} else if !errors.As(err, new(*lumi.UncertainError)) {
				break
			}
		}
		if err != nil {
			e.t.Errorf("Delete(%s) = %v, want nil", name, err)
		}
		if _, err := p.Get(ctx, &lumi.GetRequest{ID: r.id, Purpose: lumi.Import}); !errors.Is(err, lumi.ErrNotFound) {
			e.t.Errorf("Get(%s) after Delete = %v, want %v", name, err, lumi.ErrNotFound)
		}
	}
	e.order = nil
}
