// Package client makes the calls of the provider protocol in the types of package lumi: it converts their requests,
// responses, and errors.
package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/internal/bagrpc"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Resource is a [lumi.ResourceProvider] for one resource type of a plugin, or one of its functions as a [lumi.Function].
type Resource struct {
	// Client makes the calls. Its errors are those of [ErrorOf] and [Outcome].
	Client bagrpc.ResourceProviderClient
	Type   tokens.Type
	// Descriptions returns the descriptions of the given types.
	Descriptions func(ctx context.Context, types ...tokens.Type) ([]*lumi.Description, error)
}

// Describe implements [lumi.ResourceProvider].
func (r *Resource) Describe(ctx context.Context) (*lumi.Description, error) {
	all, err := r.Descriptions(ctx, r.Type)
	if err != nil {
		return nil, err
	}
	if len(all) != 1 {
		return nil, fmt.Errorf("the plugin described %d types, expected one", len(all))
	}
	return all[0], nil
}

// Check implements [lumi.ResourceProvider].
func (r *Resource) Check(ctx context.Context, req *lumi.CheckRequest) (*lumi.CheckResponse, error) {
	resp, err := r.Client.Check(ctx, &bagrpc.CheckRequest{
		Type: string(r.Type), Urn: string(req.URN), Properties: bagrpc.Encode(req.Properties), Old: bagrpc.Encode(req.Old), Seed: req.Seed,
		References: bagrpc.EncodeReferences(req.References),
	})
	if err != nil {
		return nil, err
	}
	properties, err := decode("", resp.GetProperties())
	if err != nil {
		return nil, err
	}
	return &lumi.CheckResponse{Properties: properties}, nil
}

// Name implements [lumi.ResourceProvider].
func (r *Resource) Name(ctx context.Context, req *lumi.NameRequest) (*lumi.NameResponse, error) {
	resp, err := r.Client.Name(ctx, &bagrpc.NameRequest{
		Type: string(r.Type), Urn: string(req.URN), Properties: bagrpc.Encode(req.Properties), References: bagrpc.EncodeReferences(req.References),
	})
	if err != nil {
		return nil, err
	}
	return &lumi.NameResponse{Name: resp.GetName()}, nil
}

// Create implements [lumi.ResourceProvider].
func (r *Resource) Create(ctx context.Context, req *lumi.CreateRequest) (*lumi.CreateResponse, error) {
	resp, err := r.Client.Create(ctx, &bagrpc.CreateRequest{
		Type: string(r.Type), Urn: string(req.URN), Properties: bagrpc.Encode(req.Properties), Token: req.Token,
		References: bagrpc.EncodeReferences(req.References),
	})
	if err != nil {
		return nil, err
	}
	failure := resp.GetFailure()
	properties, err := decode(lumirpc.ResourceProvider_Create_FullMethodName, resp.GetProperties())
	switch {
	case err != nil:
		return nil, err
	case resp.GetId() == "": // The resource may exist, but its id is unknown.
		return nil, lumi.Uncertain(cmp.Or(ErrorOf(status.FromProto(failure)), errNoID))
	case failure != nil:
		return nil, partly(lumi.ID(resp.GetId()), properties, failure)
	}
	return &lumi.CreateResponse{ID: lumi.ID(resp.GetId()), Properties: properties}, nil
}

// Find implements [lumi.ResourceProvider].
func (r *Resource) Find(ctx context.Context, req *lumi.FindRequest) (*lumi.FindResponse, error) {
	resp, err := r.Client.Find(ctx, &bagrpc.FindRequest{
		Type: string(r.Type), Urn: string(req.URN), Properties: bagrpc.Encode(req.Properties), Token: req.Token,
		References: bagrpc.EncodeReferences(req.References),
	})
	if err != nil {
		return nil, err
	}
	if resp.GetId() == "" {
		return nil, errNoID
	}
	return &lumi.FindResponse{ID: lumi.ID(resp.GetId())}, nil
}

// Get implements [lumi.ResourceProvider].
func (r *Resource) Get(ctx context.Context, req *lumi.GetRequest) (*lumi.GetResponse, error) {
	resp, err := r.Client.Get(ctx, &bagrpc.GetRequest{
		Type: string(r.Type), Id: string(req.ID), Purpose: purposes[req.Purpose], Urn: string(req.URN), Old: bagrpc.Encode(req.Old),
		References: bagrpc.EncodeReferences(req.References),
	})
	if err != nil {
		return nil, err
	}
	properties, err := decode("", resp.GetProperties())
	if err != nil {
		return nil, err
	}
	return &lumi.GetResponse{Properties: properties}, nil
}

// InspectChange implements [lumi.ResourceProvider].
func (r *Resource) InspectChange(
	ctx context.Context, req *lumi.InspectChangeRequest,
) (*lumi.InspectChangeResponse, error) {
	resp, err := r.Client.InspectChange(ctx, &bagrpc.InspectChangeRequest{
		Type: string(r.Type), Urn: string(req.URN), Id: string(req.ID), Old: bagrpc.Encode(req.Old), New: bagrpc.Encode(req.New),
		References: bagrpc.EncodeReferences(req.References),
	})
	if err != nil {
		return nil, err
	}
	out := &lumi.InspectChangeResponse{
		Replaces: paths(resp.GetReplaces()), DeleteBeforeReplace: resp.GetDeleteBeforeReplace(), Properties: req.New,
	}
	if resp.GetProperties() != nil {
		if out.Properties, err = decode("", resp.GetProperties()); err != nil {
			return nil, err
		}
	}
	for _, c := range resp.GetChanges() {
		kind, ok := changeKinds[c.GetKind()]
		if !ok {
			return nil, fmt.Errorf("the plugin reported an unknown kind of change: %v", c.GetKind())
		}
		out.Changes = append(out.Changes, lumi.Change{
			Kind: kind, Path: lumi.Path(c.GetPath()), Old: c.GetOld(), New: c.GetNew(),
			Unknown: c.GetUnknown(), Secret: c.GetSecret(),
		})
	}
	return out, nil
}

// Update implements [lumi.ResourceProvider].
func (r *Resource) Update(ctx context.Context, req *lumi.UpdateRequest) (*lumi.UpdateResponse, error) {
	resp, err := r.Client.Update(ctx, &bagrpc.UpdateRequest{
		Type: string(r.Type), Urn: string(req.URN), Id: string(req.ID), Old: bagrpc.Encode(req.Old), New: bagrpc.Encode(req.New),
		References: bagrpc.EncodeReferences(req.References), Token: req.Token,
	})
	if err != nil {
		return nil, err
	}
	properties, err := decode(lumirpc.ResourceProvider_Update_FullMethodName, resp.GetProperties())
	if err != nil {
		return nil, err
	}
	if failure := resp.GetFailure(); failure != nil {
		return nil, partly(req.ID, properties, failure)
	}
	return &lumi.UpdateResponse{Properties: properties}, nil
}

// Delete implements [lumi.ResourceProvider].
func (r *Resource) Delete(ctx context.Context, req *lumi.DeleteRequest) (*lumi.DeleteResponse, error) {
	_, err := r.Client.Delete(ctx, &bagrpc.DeleteRequest{
		Type: string(r.Type), Urn: string(req.URN), Id: string(req.ID), Properties: bagrpc.Encode(req.Properties),
		References: bagrpc.EncodeReferences(req.References), Token: req.Token,
	})
	if err != nil {
		return nil, err
	}
	return &lumi.DeleteResponse{}, nil
}

// Call implements [lumi.Function].
func (r *Resource) Call(ctx context.Context, req *lumi.CallRequest) (*lumi.CallResponse, error) {
	resp, err := r.Client.Call(ctx, &bagrpc.CallRequest{
		Type: string(r.Type), Properties: bagrpc.Encode(req.Arguments), References: bagrpc.EncodeReferences(req.References),
	})
	if err != nil {
		return nil, err
	}
	results, err := decode("", resp.GetProperties())
	if err != nil {
		return nil, err
	}
	return &lumi.CallResponse{Results: results}, nil
}

var errNoID = errors.New("the plugin returned neither an id nor an error")

// partly returns a *[lumi.PartialError] for a response that contains a failure.
func partly(id lumi.ID, properties lumi.Bag, failure *spb.Status) error {
	err := ErrorOf(status.FromProto(failure))
	if err == nil {
		err = errors.New("the plugin gave no reason")
	}
	return &lumi.PartialError{ID: id, Properties: properties, Err: err}
}

var purposes = map[lumi.Purpose]lumirpc.GetRequest_Purpose{
	lumi.Refresh: lumirpc.GetRequest_REFRESH, lumi.Import: lumirpc.GetRequest_IMPORT,
}

var changeKinds = map[lumirpc.Change_Kind]lumi.ChangeKind{
	lumirpc.Change_ADDED: lumi.Added, lumirpc.Change_REMOVED: lumi.Removed, lumirpc.Change_MODIFIED: lumi.Modified,
}

// decode decodes the properties in the response of a method. If they are absent, the result is an empty bag.
func decode(method string, properties [][]byte) (lumi.Bag, error) {
	if properties == nil {
		return lumi.BagOf(&structpb.Struct{}), nil
	}
	bag, err := bagrpc.Decode(properties)
	if err != nil {
		err = Outcome(method, &Error{Code: codes.Internal, Message: "the plugin returned " + err.Error()})
	}
	return bag, err
}
