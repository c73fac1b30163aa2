package provision

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/internal/property"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Simulate returns providers that neither change nor read real resources. Describe, Check, Name, and InspectChange call
// the given providers. Create, Update, and Call return made-up outputs such as "simulated-NAME-PROPERTY"; Update preserves
// existing outputs. Delete always succeeds, Find never finds a resource, and Get returns the known properties.
//
// Outputs of kinds without a plain value are absent: capabilities, assets, archives, and values of any kind. Outputs
// declared as secret are secrets.
func Simulate(providers Providers) Providers { return simulation{providers} }

type simulation struct{ Providers }

// Provider implements [Providers].
func (s simulation) Provider(
	ctx context.Context, t tokens.Type, configuration lumigl.Value,
) (p lumi.ResourceProvider, version string, err error) {
	p, version, err = s.Providers.Provider(ctx, t, configuration)
	return simulated{p}, version, err
}

const made = "simulated-" // prefix of made-up IDs and outputs

type simulated struct{ lumi.ResourceProvider }

// Check implements [lumi.ResourceProvider]. If the provider rejects properties that contain made-up values, Check adds
// a note to the error.
func (s simulated) Check(ctx context.Context, r *lumi.CheckRequest) (*lumi.CheckResponse, error) {
	resp, err := s.ResourceProvider.Check(ctx, r)
	var invalid *lumi.InvalidError
	if errors.As(err, &invalid) && strings.Contains(fmt.Sprint(r.Properties.Object().Plain()), made) {
		note := lumi.Fault{Message: "some values are simulated, which may be the cause"}
		return nil, &lumi.InvalidError{Faults: append(slices.Clone(invalid.Faults), note)}
	}
	return resp, err
}

// Create implements [lumi.ResourceProvider].
func (s simulated) Create(ctx context.Context, r *lumi.CreateRequest) (*lumi.CreateResponse, error) {
	id := made + r.URN.Name()
	outputs, err := s.outputs(ctx, id, nil, &r.Properties)
	return &lumi.CreateResponse{ID: lumi.ID(id), Properties: outputs}, err
}

// Update implements [lumi.ResourceProvider].
func (s simulated) Update(ctx context.Context, r *lumi.UpdateRequest) (*lumi.UpdateResponse, error) {
	outputs, err := s.outputs(ctx, made+r.URN.Name(), r.Old.Object(), &r.New)
	return &lumi.UpdateResponse{Properties: outputs}, err
}

// Delete implements [lumi.ResourceProvider].
func (simulated) Delete(context.Context, *lumi.DeleteRequest) (*lumi.DeleteResponse, error) {
	return &lumi.DeleteResponse{}, nil
}

// Find implements [lumi.ResourceProvider].
func (simulated) Find(context.Context, *lumi.FindRequest) (*lumi.FindResponse, error) {
	return nil, lumi.ErrNotFound
}

// Get implements [lumi.ResourceProvider]. For a resource to import, it returns only outputs.
func (s simulated) Get(ctx context.Context, r *lumi.GetRequest) (*lumi.GetResponse, error) {
	if r.Purpose == lumi.Refresh {
		return &lumi.GetResponse{Properties: r.Old}, nil
	}
	outputs, err := s.outputs(ctx, made+r.URN.Name(), nil, nil)
	return &lumi.GetResponse{Properties: outputs}, err
}

// Call implements [lumi.Function].
func (s simulated) Call(ctx context.Context, _ *lumi.CallRequest) (*lumi.CallResponse, error) {
	d, err := s.Describe(ctx)
	if err != nil {
		return nil, err
	}
	results, err := s.outputs(ctx, made+d.Type.Name(), nil, nil)
	return &lumi.CallResponse{Results: results}, err
}

// outputs returns the existing outputs of a resource, with made-up values for missing ones.
func (s simulated) outputs(ctx context.Context, id string, has *property.Value, request *lumi.Bag) (lumi.Bag, error) {
	d, err := s.Describe(ctx)
	if err != nil {
		return lumi.Bag{}, err
	}
	all := property.ObjectOf()
	for _, p := range d.Properties {
		chosen := p.Flags&lumi.Computed != 0 && request != nil && request.Object().Get(p.Name).IsNull()
		v := has.Get(p.Name).OrAbsent()
		if v.Kind() == property.Absent {
			v = madeUp(p.Kind, id+"-"+p.Name)
		}
		switch {
		case p.Flags&lumi.Out == 0 && !chosen || v.Kind() == property.Absent:
		case p.Flags&lumi.Secret != 0:
			all = all.With(p.Name, lumi.SecretOf(v))
		default:
			all = all.With(p.Name, v)
		}
	}
	return lumi.BagFrom(&all), nil
}

// madeUp returns a value of the given kind, which is absent if the kind has no plain values.
func madeUp(kind lumi.Kind, text string) property.Value {
	switch kind {
	case lumi.KindString:
		return property.StringOf(text)
	case lumi.KindNumber:
		return property.NumberOf(0)
	case lumi.KindBool:
		return property.BoolOf(false)
	case lumi.KindList:
		return property.ListOf(nil)
	case lumi.KindMap, lumi.KindObject:
		return property.ObjectOf()
	}
	return property.Value{}
}

// SimulatedProvisioner simulates provisioners without changing anything or calling a plugin. A new resource gets
// made-up metadata for the properties referenced in desired states. An existing resource keeps its metadata.
type SimulatedProvisioner struct {
	Desired func() []*lumigl.Snapshot
	ended   sync.Map // metadata by token
}

var _ plan.Provisioner = (*SimulatedProvisioner)(nil)

// Plan implements [plan.Provisioner].
func (*SimulatedProvisioner) Plan(context.Context, plan.Input) (d plan.Details, err error) {
	return d, nil
}

// Provision implements [plan.Provisioner].
func (s *SimulatedProvisioner) Provision(_ context.Context, in plan.Input) (string, error) {
	values := map[string]lumigl.Value{} // by URN
	note := func(v *lumigl.Vertex, property string) (lumigl.Value, bool) {
		if !v.Properties.Get(property).Exists() {
			values[v.Key()] = values[v.Key()].With(property, lumigl.TextOf(made+v.URN().Name()+"-"+property))
		}
		return lumigl.Value{}, false
	}
	for _, desired := range s.Desired() {
		for v := range desired.Vertices() {
			_, _ = expr.Evaluate(v.Properties, note) // Errors are reported by the plan.
		}
	}
	metadata := map[string]lumigl.Value{}
	for _, v := range in.New {
		if r := v.Resource; r != nil && r.Metadata.Len() == 0 {
			metadata[r.Key()] = orEmpty(values[string(r.URN)])
		}
	}
	token := rand.Text()
	s.ended.Store(token, metadata)
	return token, nil
}

// Status implements [plan.Provisioner].
func (s *SimulatedProvisioner) Status(_ context.Context, token string) (plan.Status, error) {
	ended, _ := s.ended.Load(token)
	metadata, _ := ended.(map[string]lumigl.Value)
	return plan.Status{State: plan.Done, Metadata: metadata}, nil
}
