package providertest

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// watch detects providers that modify requests. It works only in process.
type watch struct {
	mu    sync.Mutex
	found []string
}

// provider returns a copy of p in which w watches each provider.
func (w *watch) provider(p serve.Plugin) serve.Plugin {
	p.Resources = maps.Clone(p.Resources)
	for token, r := range p.Resources {
		if v := reflect.ValueOf(r); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
			continue // Package serve reports it.
		}
		watched := &watched{ResourceProvider: r, watch: w}
		p.Resources[token] = watched
		if typed, ok := r.(interface{ Token() tokens.Type }); ok {
			p.Resources[token] = &watchedType{watched, typed.Token()}
		}
	}
	return p
}

// take returns the violations found since the last call of take.
func (w *watch) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := w.found
	w.found = nil
	return found
}

// given starts watching the references in the request of a call. Calling done stops watching and records the modifications.
func (w *watch) given(call string, refs lumi.References) (done func()) {
	known := maps.Clone(refs)
	return func() {
		var found []string
		for u, ref := range known {
			if now, ok := refs[u]; !ok || now != ref {
				found = append(found, fmt.Sprintf("%s modifies the reference to %s in its request", call, u))
			}
		}
		slices.Sort(found)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.found = append(w.found, found...)
	}
}

type watched struct {
	lumi.ResourceProvider
	watch *watch
}

// watchedType is a watched provider with a Token method.
type watchedType struct {
	*watched
	token tokens.Type
}

// Token returns the token of the provider's type. Package serve calls it for generated providers.
func (w *watchedType) Token() tokens.Type { return w.token }

// Validate implements [serve.Validator].
func (w *watched) Validate(ctx context.Context, properties lumi.Bag, found ...lumi.Fault) error {
	if v, ok := w.ResourceProvider.(serve.Validator); ok {
		return v.Validate(ctx, properties, found...)
	}
	return &lumi.InvalidError{Faults: found}
}

func (w *watched) Check(ctx context.Context, req *lumi.CheckRequest) (*lumi.CheckResponse, error) {
	defer w.watch.given("Check", req.References)()
	return w.ResourceProvider.Check(ctx, req)
}

func (w *watched) Name(ctx context.Context, req *lumi.NameRequest) (*lumi.NameResponse, error) {
	defer w.watch.given("Name", req.References)()
	return w.ResourceProvider.Name(ctx, req)
}

func (w *watched) Create(ctx context.Context, req *lumi.CreateRequest) (*lumi.CreateResponse, error) {
	defer w.watch.given("Create", req.References)()
	return w.ResourceProvider.Create(ctx, req)
}

func (w *watched) Find(ctx context.Context, req *lumi.FindRequest) (*lumi.FindResponse, error) {
	defer w.watch.given("Find", req.References)()
	return w.ResourceProvider.Find(ctx, req)
}

func (w *watched) Get(ctx context.Context, req *lumi.GetRequest) (*lumi.GetResponse, error) {
	defer w.watch.given("Get", req.References)()
	return w.ResourceProvider.Get(ctx, req)
}

func (w *watched) InspectChange(
	ctx context.Context, req *lumi.InspectChangeRequest,
) (*lumi.InspectChangeResponse, error) {
	defer w.watch.given("InspectChange", req.References)()
	return w.ResourceProvider.InspectChange(ctx, req)
}

func (w *watched) Update(ctx context.Context, req *lumi.UpdateRequest) (*lumi.UpdateResponse, error) {
	defer w.watch.given("Update", req.References)()
	return w.ResourceProvider.Update(ctx, req)
}

func (w *watched) Delete(ctx context.Context, req *lumi.DeleteRequest) (*lumi.DeleteResponse, error) {
	defer w.watch.given("Delete", req.References)()
	return w.ResourceProvider.Delete(ctx, req)
}
