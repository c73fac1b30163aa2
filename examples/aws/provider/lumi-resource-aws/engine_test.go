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

// graph is the graph of programs/web.
type graph struct {
	Configuration map[string]*structpb.Struct
	bucket        string
	order         []urn.URN
	resources     map[urn.URN]*vertex
}

// vertex is a resource of a graph.
type vertex struct {
	Type       tokens.Type
	Properties *structpb.Struct
}

// load reads a graph and names its bucket.
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

// visit appends a resource after all resources it refers to.
func (g *graph) visit(t *testing.T, u urn.URN, from []urn.URN) {
	t.Helper()
	if slices.Contains(from, u) || g.resources[u] == nil {
		t.Fatalf("%v refer to %s, which is one of them or does not exist", from, u)
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

// replace returns a copy of a value with its references replaced.
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
	// order is the creation order.
	order []urn.URN
	// attempts counts the calls of Create and Find.
	attempts int
}

// start starts a plugin. Remaining resources are deleted at the end of the test.
func start(t *testing.T, c plugin.Command) *engine {
	t.Helper()
	p := must.Get(plugin.Start(t.Context(), c))(t)
	e := &engine{
		Plugin: p, t: t, types: map[tokens.Type]*lumi.Description{}, names: map[urn.URN]urn.URN{},
		state: map[urn.URN]*resource{},
	}
	t.Cleanup(func() {
		e.remove()
		_ = p.Close() // The test checks the exit status if it gets that far.
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

// resolve replaces references with their values, and returns the resources that capabilities refer to.
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

// lineage is the environment's secret, from which the seeds are derived.
const lineage = "a-lineage-of-the-tests"

// check checks a resource, and gets its name from the provider unless the program sets one.
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
		e.t.Fatalf("%s: %v", u, err)
	}
	if e.types[v.Type].Named {
		return u, checked.Properties, references
	}
	named, err := p.Name(e.t.Context(), &lumi.NameRequest{URN: u, Properties: checked.Properties, References: references})
	if err != nil {
		e.t.Fatalf("%s: %v", u, err)
	}
	before, _ := strings.CutSuffix(string(u), "::"+u.Name())
	return urn.URN(before + "::" + named.Name), checked.Properties, references
}

// create creates all resources of a graph.
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

// make creates a resource exactly once, even if it takes several attempts.
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
		switch lumi.Meaning(err).(type) { //nolint:errorlint // Errors with a meaning are not wrapped.
		case *lumi.RetryError:
			time.Sleep(10 * time.Millisecond)
			continue
		case *lumi.UncertainError:
		default:
			e.t.Fatalf("%s: %v", request.URN, err)
		}
		if e.types[typ].IdempotentCreate {
			continue
		}
		e.attempts++
		found, err := p.Find(ctx, (*lumi.FindRequest)(request))
		if errors.Is(err, lumi.ErrNotFound) {
			continue // Nothing was created.
		}
		if err != nil {
			e.t.Fatalf("%s: %v", request.URN, err)
		}
		e.exists(typ, found.ID, request, request.Properties)
		e.adopt(request)
		return
	}
}

// exists records a resource.
func (e *engine) exists(typ tokens.Type, id lumi.ID, request *lumi.CreateRequest, properties lumi.Bag) {
	e.state[request.URN] = &resource{typ, id, properties, request.References}
	e.order = append(e.order, request.URN)
}

// adopt updates a possibly incomplete resource returned by Find to the requested properties.
func (e *engine) adopt(request *lumi.CreateRequest) {
	e.t.Helper()
	r := e.state[request.URN]
	p, ctx := e.provider(r.typ), e.t.Context()
	got, err := p.Get(ctx, &lumi.GetRequest{
		URN: request.URN, ID: r.id, Purpose: lumi.Refresh, Old: r.properties, References: r.references,
	})
	if err != nil {
		e.t.Fatalf("%s: %v", request.URN, err)
	}
	all := maps.Clone(got.Properties.Struct().GetFields())
	for _, property := range e.types[r.typ].Properties {
		if v := request.Properties.Struct().GetFields()[property.Name]; property.Flags&lumi.In != 0 && v != nil {
			all[property.Name] = v // which is never read back
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
		e.t.Fatalf("%s: %v", request.URN, err)
	}
	all = maps.Clone(inspected.Properties.Struct().GetFields())
	maps.Copy(all, updated.Properties.Struct().GetFields())
	r.properties = lumi.BagOf(&structpb.Struct{Fields: all})
}

// inspect returns the changes from a resource to the wanted properties.
func (e *engine) inspect(name urn.URN, want lumi.Bag, references lumi.References) *lumi.InspectChangeResponse {
	e.t.Helper()
	r := e.state[name]
	inspected, err := e.provider(r.typ).InspectChange(e.t.Context(), &lumi.InspectChangeRequest{
		URN: name, ID: r.id, Old: r.properties, New: want, References: references,
	})
	if err != nil {
		e.t.Fatalf("%s: %v", name, err)
	}
	return inspected
}

// changes returns the changes from the existing resources to a graph.
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

// remove deletes all resources in reverse order and checks that they are gone. It retries transient and uncertain
// failures, since deletes are idempotent.
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
			e.t.Errorf("%s: %v", name, err)
		}
		if _, err := p.Get(ctx, &lumi.GetRequest{ID: r.id, Purpose: lumi.Import}); !errors.Is(err, lumi.ErrNotFound) {
			e.t.Errorf("reading %s after it was deleted: %v", name, err)
		}
	}
	e.order = nil
}
