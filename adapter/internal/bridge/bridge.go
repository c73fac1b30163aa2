// Package bridge contains what the adapters to other engines share: the providers of a plugin with their types in the schema,
// and the resources that properties refer to.
package bridge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/internal/suggest"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Provider is a plugin's providers with the schema of their types. Its methods are safe for concurrent use.
type Provider struct {
	*serve.Local
	// Types finds the types in the schema.
	Types *schema.Index

	mu        sync.Mutex
	resources map[tokens.Type]*Resource
	functions map[tokens.Type]*Function
	referents map[referent]lumi.Reference
	// forgotten counts calls of Forget, so that what was read before one is not cached after it.
	forgotten int
}

type referent struct {
	token tokens.Type
	id    lumi.ID
}

// Resource is the provider of a resource type.
type Resource struct {
	lumi.ResourceProvider
	// Schema is the type, complete with all types of its properties.
	Schema *schema.Resource
	Token  tokens.Type
}

// Function is a function of the plugin.
type Function struct {
	lumi.Function
	// Schema is the function, complete with all types of its arguments and results.
	Schema *schema.Function
	Token  tokens.Type
}

// New returns the providers of a plugin. The schema is the constant of the generated package lumischema.
func New(p serve.Plugin, schemaJSON string) (*Provider, error) {
	types, err := schema.NewIndex(schemaJSON)
	if err != nil {
		return nil, err
	}
	if types.Name() != p.Package {
		return nil, fmt.Errorf("the schema describes package %s, but the plugin serves package %s", types.Name(), p.Package)
	}
	local, err := serve.NewLocal(p)
	if err != nil {
		return nil, err
	}
	return &Provider{
		Local: local, Types: types, resources: map[tokens.Type]*Resource{}, functions: map[tokens.Type]*Function{},
		referents: map[referent]lumi.Reference{},
	}, nil
}

// Resource returns the provider of a resource type, or an error if the schema lacks the type or the plugin does not serve it.
func (p *Provider) Resource(token tokens.Type) (*Resource, error) {
	return cached(p, p.resources, "resource", token, func(d schema.Decl) (*Resource, error) {
		served, err := p.Local.Resource(token)
		r, _ := d.(*schema.Resource)
		return &Resource{retrying{served}, r, token}, err
	})
}

// Function returns a function, or an error if the schema lacks it or the plugin does not serve it.
func (p *Provider) Function(token tokens.Type) (*Function, error) {
	return cached(p, p.functions, "function", token, func(d schema.Decl) (*Function, error) {
		served, err := p.Local.Function(token)
		f, _ := d.(*schema.Function)
		return &Function{retryingFunction{served}, f, token}, err
	})
}

func cached[T any](p *Provider, known map[tokens.Type]*T, kind string, token tokens.Type, load func(schema.Decl) (*T, error)) (*T, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one := known[token]; one != nil {
		return one, nil
	}
	d, err := p.Types.Find(string(token))
	if err != nil {
		return nil, err
	}
	if d == nil || d.Head().Kind != kind {
		return nil, fmt.Errorf("package %s has no %s %s%s",
			p.Types.Name(), kind, token, suggest.DidYouMean(string(token), p.Types.Tokens(kind)))
	}
	one, err := load(d)
	if err != nil {
		return nil, err
	}
	known[token] = one
	return one, nil
}

// References reads the resources that bags refer to by id. Resources that do not exist or belong to other packages have
// no properties. The results are cached until [Provider.Forget]. The error is the provider's and names the resource.
func (p *Provider) References(ctx context.Context, bags ...lumi.Bag) (lumi.References, error) {
	found := map[urn.URN]bool{}
	for _, bag := range bags {
		addURNs(found, structpb.NewStructValue(bag.Struct()))
	}
	refs := lumi.References{}
	for _, u := range slices.Sorted(maps.Keys(found)) {
		id, _ := u.ID()
		ref, err := p.read(ctx, referent{u.Type(), lumi.ID(id)})
		if err != nil {
			return nil, fmt.Errorf("cannot read %s %q, to which the resource refers: %w", u.Type(), id, err)
		}
		refs[u] = ref
	}
	return refs, nil
}

// Forget removes a resource from the cache. Call it after every Update and Delete.
func (p *Provider) Forget(token tokens.Type, id lumi.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forgotten++
	delete(p.referents, referent{token, id})
}

func (p *Provider) read(ctx context.Context, to referent) (lumi.Reference, error) {
	p.mu.Lock()
	ref, ok := p.referents[to]
	before := p.forgotten
	p.mu.Unlock()
	if ok {
		return ref, nil
	}
	ref.ID = to.id
	r, err := p.Local.Resource(to.token)
	if err != nil {
		return ref, nil //nolint:nilerr // Resources of other packages cannot be read here.
	}
	got, err := retrying{r}.Get(ctx, &lumi.GetRequest{ID: to.id, Purpose: lumi.Import})
	if errors.Is(err, lumi.ErrNotFound) {
		return ref, nil // It may be created, or exist later.
	}
	if err != nil {
		return ref, err
	}
	ref.Properties = got.Properties
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.forgotten == before {
		p.referents[to] = ref
	}
	return ref, nil
}

// addURNs adds the URNs by id in v. The contents of assets and archives have none.
func addURNs(found map[urn.URN]bool, v *structpb.Value) {
	switch k := v.GetKind().(type) {
	case *structpb.Value_StringValue:
		if u := urn.URN(k.StringValue); isByID(u) {
			found[u] = true
		}
	case *structpb.Value_ListValue:
		for _, element := range k.ListValue.GetValues() {
			addURNs(found, element)
		}
	case *structpb.Value_StructValue:
		if s := k.StructValue.GetFields()[wire.Signature].GetStringValue(); s == wire.Asset || s == wire.Archive {
			return
		}
		for _, field := range k.StructValue.GetFields() {
			addURNs(found, field)
		}
	}
}

func isByID(u urn.URN) bool {
	_, is := u.ID()
	return is
}
