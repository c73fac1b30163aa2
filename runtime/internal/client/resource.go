// Package client makes the calls of the provider protocol in the types of package lumi: it converts their requests,
// responses, and errors.
package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Resource is a [lumi.ResourceProvider] for one resource type of a plugin, or one of its functions as a [lumi.Function].
type Resource struct {
	// Client makes the calls. Its errors are those of [ErrorOf] and [Outcome].
	Client lumirpc.ResourceProviderClient
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
	resp, err := r.Client.Check(ctx, &lumirpc.CheckRequest{
		Type: string(r.Type), Urn: string(req.URN), Properties: req.Properties.Struct(), Old: req.Old.Struct(), Seed: req.Seed,
		References: references(req.References),
	})
	if err != nil {
		return nil, err
	}
	return &lumi.CheckResponse{Properties: present(resp.GetProperties())}, nil
}

// Name implements [lumi.ResourceProvider].
func (r *Resource) Name(ctx context.Context, req *lumi.NameRequest) (*lumi.NameResponse, error) {
	resp, err := r.Client.Name(ctx, &lumirpc.NameRequest{
		Type: string(r.Type), Urn: string(req.URN), Properties: req.Properties.Struct(), References: references(req.References),
	})
	if err != nil {
		return nil, err
	}
	return &lumi.NameResponse{Name: resp.GetName()}, nil
}

// Create implements [lumi.ResourceProvider].
func (r *Resource) Create(ctx context.Context, req *lumi.CreateRequest) (*lumi.CreateResponse, error) {
	resp, err := r.Client.Create(ctx, &lumirpc.CreateRequest{
		Type: string(r.Type), Urn: string(req.URN), Properties: req.Properties.Struct(), Token: req.Token,
		References: references(req.References),
	})
	if err != nil {
		return nil, err
	}
	failure := resp.GetFailure()
	switch {
	case resp.GetId() == "": // The resource may exist, but its id is unknown.
		return nil, lumi.Uncertain(cmp.Or(ErrorOf(status.FromProto(failure)), errNoID))
	case failure != nil:
		return nil, partly(lumi.ID(resp.GetId()), resp.GetProperties(), failure)
	}
	return &lumi.CreateResponse{ID: lumi.ID(resp.GetId()), Properties: present(resp.GetProperties())}, nil
}

// Find implements [lumi.ResourceProvider].
func (r *Resource) Find(ctx context.Context, req *lumi.FindRequest) (*lumi.FindResponse, error) {
	resp, err := r.Client.Find(ctx, &lumirpc.FindRequest{
		Type: string(r.Type), Urn: string(req.URN), Properties: req.Properties.Struct(), Token: req.Token,
		References: references(req.References),
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
	resp, err := r.Client.Get(ctx, &lumirpc.GetRequest{
		Type: string(r.Type), Id: string(req.ID), Purpose: purposes[req.Purpose], Urn: string(req.URN), Old: req.Old.Struct(),
		References: references(req.References),
	})
	if err != nil {
		return nil, err
	}
	return &lumi.GetResponse{Properties: present(resp.GetProperties())}, nil
}

// InspectChange implements [lumi.ResourceProvider].
func (r *Resource) InspectChange(
	ctx context.Context, req *lumi.InspectChangeRequest,
) (*lumi.InspectChangeResponse, error) {
	resp, err := r.Client.InspectChange(ctx, &lumirpc.InspectChangeRequest{
		Type: string(r.Type), Urn: string(req.URN), Id: string(req.ID), Old: req.Old.Struct(), New: req.New.Struct(),
		References: references(req.References),
	})
	if err != nil {
		return nil, err
	}
	out := &lumi.InspectChangeResponse{
		Replaces: paths(resp.GetReplaces()), DeleteBeforeReplace: resp.GetDeleteBeforeReplace(), Properties: req.New,
	}
	if resp.GetProperties() != nil {
		out.Properties = lumi.BagOf(resp.GetProperties())
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
	resp, err := r.Client.Update(ctx, &lumirpc.UpdateRequest{
		Type: string(r.Type), Urn: string(req.URN), Id: string(req.ID), Old: req.Old.Struct(), New: req.New.Struct(),
		References: references(req.References),
	})
	if err != nil {
		return nil, err
	}
	if failure := resp.GetFailure(); failure != nil {
		return nil, partly(req.ID, resp.GetProperties(), failure)
	}
	return &lumi.UpdateResponse{Properties: present(resp.GetProperties())}, nil
}

// Delete implements [lumi.ResourceProvider].
func (r *Resource) Delete(ctx context.Context, req *lumi.DeleteRequest) (*lumi.DeleteResponse, error) {
	_, err := r.Client.Delete(ctx, &lumirpc.DeleteRequest{
		Type: string(r.Type), Urn: string(req.URN), Id: string(req.ID), Properties: req.Properties.Struct(),
		References: references(req.References),
	})
	if err != nil {
		return nil, err
	}
	return &lumi.DeleteResponse{}, nil
}

// Call implements [lumi.Function].
func (r *Resource) Call(ctx context.Context, req *lumi.CallRequest) (*lumi.CallResponse, error) {
	resp, err := r.Client.Call(ctx, &lumirpc.CallRequest{
		Type: string(r.Type), Properties: req.Arguments.Struct(), References: references(req.References),
	})
	if err != nil {
		return nil, err
	}
	return &lumi.CallResponse{Results: present(resp.GetProperties())}, nil
}

var errNoID = errors.New("the plugin returned neither an id nor an error")

// partly returns a *[lumi.PartialError] for a response that contains a failure.
func partly(id lumi.ID, properties *structpb.Struct, failure *spb.Status) error {
	err := ErrorOf(status.FromProto(failure))
	if err == nil {
		err = errors.New("the plugin gave no reason")
	}
	return &lumi.PartialError{ID: id, Properties: present(properties), Err: err}
}

var purposes = map[lumi.Purpose]lumirpc.GetRequest_Purpose{
	lumi.Refresh: lumirpc.GetRequest_REFRESH, lumi.Import: lumirpc.GetRequest_IMPORT,
}

var changeKinds = map[lumirpc.Change_Kind]lumi.ChangeKind{
	lumirpc.Change_ADDED: lumi.Added, lumirpc.Change_REMOVED: lumi.Removed, lumirpc.Change_MODIFIED: lumi.Modified,
}

func references(refs lumi.References) map[string]*lumirpc.Reference {
	if len(refs) == 0 {
		return nil
	}
	sent := make(map[string]*lumirpc.Reference, len(refs))
	for u, r := range refs {
		sent[string(u)] = &lumirpc.Reference{Id: string(r.ID), Properties: r.Properties.Struct()}
	}
	return sent
}

// present returns bag as a non-zero [lumi.Bag] with a non-nil Fields map, even if bag is nil.
func present(bag *structpb.Struct) lumi.Bag {
	if bag == nil {
		bag = &structpb.Struct{}
	}
	if bag.Fields == nil {
		bag.Fields = map[string]*structpb.Value{}
	}
	return lumi.BagOf(bag)
}
