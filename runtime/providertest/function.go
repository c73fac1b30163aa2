package providertest

import (
	"context"
	"maps"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Function is a function under test. It is not safe for concurrent use.
type Function struct{ r *Resource }

// Call is a call of a function.
type Call struct {
	// Arguments holds the program's arguments.
	Arguments Properties
	// Expect holds results that the call must return. It may omit some.
	Expect Properties
	// Computed lists optional results that the call must return.
	Computed []string
	// MayBeEmpty lists results that may be "" or 0. See [Resource.MayBeEmpty].
	MayBeEmpty []string
}

// Function returns a function of the provider under test. It ends the test if the provider does not serve it.
func (h *Harness) Function(token tokens.Type) *Function {
	h.t.Helper()
	f := &Function{&Resource{h: h, token: token, described: h.types[token]}}
	var err error
	if f.r.function, err = h.plugin.Function(token); err != nil {
		h.fatalf("%v", err)
	}
	if f.r.described == nil {
		h.fatalf("the provider serves function %q but does not describe it", token)
	}
	return f
}

// Call calls the function and checks the results. Then it repeats the call, which must return the same results.
func (f *Function) Call(t TB, c Call, options ...Option) {
	t.Helper()
	r := f.r
	r.declared(t, "Computed", paths(c.Computed))
	r.declared(t, "MayBeEmpty", paths(c.MayBeEmpty))
	r.mayBeEmpty, r.state = c.MayBeEmpty, nil
	s := r.step(t, "call", options)
	s.expected = c.Expect
	bag := s.encode(c.Arguments)
	results, err := r.callCall(s.ctx, bag)
	if !s.called("Call", err) {
		return
	}
	s.end()
	r.state = s.answer("Call", results)
	s.results(c, r.state)
	again, err := r.callCall(s.ctx, bag)
	if s.then("call again").called("Call", err) {
		s.differs("Call returns different results for the same arguments", results, again, nil)
	}
}

// Output returns the value at a path of the last call's results, for use in [Properties]. It returns nil if there is none.
func (f *Function) Output(path lumi.Path) *structpb.Value { return at(f.r.state, path) }

// results checks the results of a call.
func (s *step) results(c Call, bag *structpb.Struct) {
	s.t.Helper()
	s.computed("Call", bag)
	for _, name := range slices.Sorted(maps.Keys(bag.GetFields())) {
		kind := lumi.Kind("")
		for _, p := range s.r.described.Properties {
			if p.Name == name {
				kind = p.Kind
			}
		}
		switch {
		case kind == "":
			s.errorf("Call returns %s, which is not declared", name)
		case !isOf(kind, reveal(bag.Fields[name])):
			s.errorf("Call returns %s as %s, but it is declared as %s", name, show(s.r.wrapped(bag).Fields[name]), kind)
		}
	}
	for _, name := range c.Computed {
		if isNull(bag.Fields[name]) {
			s.errorf("Call does not return %s", name)
		}
	}
	s.asExpected()
}

// isOf reports whether a value that is not a secret may have the given kind. Null means absent.
func isOf(kind lumi.Kind, v *structpb.Value) bool {
	kinds := []lumi.Kind{kind}
	switch v.AsInterface().(type) {
	case bool:
		kinds = []lumi.Kind{lumi.KindBool}
	case float64:
		kinds = []lumi.Kind{lumi.KindNumber}
	case string:
		kinds = []lumi.Kind{lumi.KindString, lumi.KindCapability}
	case []any:
		kinds = []lumi.Kind{lumi.KindList}
	case map[string]any:
		kinds = map[string][]lumi.Kind{
			"": {lumi.KindMap, lumi.KindObject}, wire.Asset: {lumi.KindAsset}, wire.Archive: {lumi.KindArchive},
		}[signature(v)]
	}
	return kind == lumi.KindAny || slices.Contains(kinds, kind)
}

func (r *Resource) callCall(ctx context.Context, bag *structpb.Struct) (*structpb.Struct, error) {
	c := r.call("Call", "", bags{bag})
	resp, err := orEmpty(r.function.Call(ctx, &lumi.CallRequest{Arguments: lumi.BagOf(bag), References: c.refs}))
	return c.answered(resp.Results, "", err)
}
