package provision

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Simulate returns providers that change nothing and read nothing that exists. Check, Name, InspectChange and Describe are
// those of the given providers. Create and Update succeed with made-up outputs, such as "simulated-NAME-PROPERTY", Update
// with those that the resource has, if there are any. Delete succeeds, Find finds nothing, and Get returns what is known.
//
// Outputs without a plain value are absent: capabilities, assets, archives and those of any kind. Those that are declared
// secret are secrets.
func Simulate(providers Providers) Providers { return simulation{providers} }

type simulation struct{ Providers }

// Provider implements [Providers].
func (s simulation) Provider(
	ctx context.Context, t tokens.Type, configuration lumigl.Value,
) (p lumi.ResourceProvider, version string, err error) {
	p, version, err = s.Providers.Provider(ctx, t, configuration)
	return simulated{p}, version, err
}

const made = "simulated-" // begins made-up IDs and outputs

type simulated struct{ lumi.ResourceProvider }

// Check implements [lumi.ResourceProvider]. Where it refuses properties with made-up values, these may be the reason.
func (s simulated) Check(ctx context.Context, r *lumi.CheckRequest) (*lumi.CheckResponse, error) {
	resp, err := s.ResourceProvider.Check(ctx, r)
	var invalid *lumi.InvalidError
	if errors.As(err, &invalid) && strings.Contains(r.Properties.Struct().String(), made) {
		note := lumi.Fault{Message: "some values are simulated, which may be why"}
		return nil, &lumi.InvalidError{Faults: append(slices.Clone(invalid.Faults), note)}
	}
	return resp, err
}

// Create implements [lumi.ResourceProvider].
func (s simulated) Create(ctx context.Context, r *lumi.CreateRequest) (*lumi.CreateResponse, error) {
	id := made + r.URN.Name()
	outputs, err := s.outputs(ctx, id, nil)
	return &lumi.CreateResponse{ID: lumi.ID(id), Properties: outputs}, err
}

// Update implements [lumi.ResourceProvider].
func (s simulated) Update(ctx context.Context, r *lumi.UpdateRequest) (*lumi.UpdateResponse, error) {
	outputs, err := s.outputs(ctx, made+r.URN.Name(), r.Old.Struct().GetFields())
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

// Get implements [lumi.ResourceProvider]. Of an imported resource, only outputs are read.
func (s simulated) Get(ctx context.Context, r *lumi.GetRequest) (*lumi.GetResponse, error) {
	if r.Purpose == lumi.Refresh {
		return &lumi.GetResponse{Properties: r.Old}, nil
	}
	outputs, err := s.outputs(ctx, made+r.URN.Name(), nil)
	return &lumi.GetResponse{Properties: outputs}, err
}

// outputs returns the outputs of a resource: those that it has, and made-up ones.
func (s simulated) outputs(ctx context.Context, id string, has map[string]*structpb.Value) (lumi.Bag, error) {
	d, err := s.Describe(ctx)
	if err != nil {
		return lumi.Bag{}, err
	}
	all := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	for _, p := range d.Properties {
		switch v := cmp.Or(has[p.Name], madeUp(p.Kind, id+"-"+p.Name)); {
		case p.Flags&lumi.Out == 0 || v == nil:
		case p.Flags&lumi.Secret != 0:
			all.Fields[p.Name] = lumi.NewSecret(v)
		default:
			all.Fields[p.Name] = v
		}
	}
	return lumi.BagOf(all), nil
}

// madeUp returns a value of a kind, or nil if there is no plain one.
func madeUp(kind lumi.Kind, text string) *structpb.Value {
	switch kind {
	case lumi.KindString:
		return structpb.NewStringValue(text)
	case lumi.KindNumber:
		return structpb.NewNumberValue(0)
	case lumi.KindBool:
		return structpb.NewBoolValue(false)
	case lumi.KindList:
		return structpb.NewListValue(&structpb.ListValue{})
	case lumi.KindMap, lumi.KindObject:
		return structpb.NewStructValue(&structpb.Struct{})
	}
	return nil
}
