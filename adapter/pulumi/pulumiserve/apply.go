package pulumiserve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// lookTime is the maximum time for finding out what an uncertain call has done. The call itself may have been canceled.
const lookTime = 30 * time.Second

func (r *target) create(ctx context.Context, req *pulumirpc.CreateRequest) (*pulumirpc.CreateResponse, error) {
	want := r.decode(req.GetProperties(), nil)
	if req.GetPreview() {
		return &pulumirpc.CreateResponse{Properties: r.encode(r.planned(want, lumi.Bag{}))}, nil
	}
	refs, err := r.server.References(ctx, want)
	if err != nil {
		return nil, err
	}
	// The engine has no place for a token in which it would survive a crash.
	call := &lumi.CreateRequest{URN: r.urn, Properties: want, Token: rand.Text(), References: refs}
	resp, err := r.Create(ctx, call)
	switch partial := (*lumi.PartialError)(nil); {
	case err == nil:
		return &pulumirpc.CreateResponse{Id: string(resp.ID), Properties: r.encode(merged(want, resp.Properties))}, nil
	case errors.As(err, &partial):
		return nil, partly(string(partial.ID), r.encode(partial.Properties), req.GetProperties(), err)
	case !errors.As(err, new(*lumi.UncertainError)):
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTime)
	defer cancel()
	found, lost := r.Find(ctx, (*lumi.FindRequest)(call))
	switch {
	case errors.Is(lost, lumi.ErrNotFound):
		return nil, fmt.Errorf("%s: the resource was not created", err.Error())
	case lost != nil:
		return nil, fmt.Errorf("%w: it is unknown whether the resource was created: %s", err, lost.Error())
	}
	outputs, err := r.outcome(ctx, found.ID, want, want, req.GetProperties(), err)
	return &pulumirpc.CreateResponse{Id: string(found.ID), Properties: outputs}, err
}

func (r *target) update(ctx context.Context, req *pulumirpc.UpdateRequest) (*pulumirpc.UpdateResponse, error) {
	known := map[string]*structpb.Value{}
	want := r.decode(req.GetNews(), known)
	if r.server.unconfigured.Load() {
		return &pulumirpc.UpdateResponse{Properties: r.encode(r.planned(want, lumi.Bag{}))}, nil
	}
	old, err := r.stored(ctx, req.GetOlds(), known)
	if err != nil {
		return nil, err
	}
	inspected, err := r.inspect(ctx, req.GetId(), old, want)
	if err != nil {
		return nil, err
	}
	want = inspected.Properties // with the old values where only the notation differs, so that these are stored again
	if req.GetPreview() {
		return &pulumirpc.UpdateResponse{Properties: r.encode(r.planned(want, old))}, nil
	}
	refs, err := r.server.References(ctx, old, want)
	if err != nil {
		return nil, err
	}
	defer r.server.Forget(r.Token, lumi.ID(req.GetId()))
	resp, err := r.Update(ctx, &lumi.UpdateRequest{URN: r.urn, ID: lumi.ID(req.GetId()), Old: old, New: want, References: refs})
	switch partial := (*lumi.PartialError)(nil); {
	case err == nil:
		return &pulumirpc.UpdateResponse{Properties: r.encode(merged(want, resp.Properties))}, nil
	case errors.As(err, &partial):
		return nil, partly(req.GetId(), r.encode(partial.Properties), req.GetNews(), err)
	case !errors.As(err, new(*lumi.UncertainError)):
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTime)
	defer cancel()
	outputs, err := r.outcome(ctx, lumi.ID(req.GetId()), want, merged(old, want), req.GetNews(), err)
	return &pulumirpc.UpdateResponse{Properties: outputs}, err
}

// outcome returns the properties of a resource after an uncertain call. Unless they are as wanted, or if the resource cannot be read,
// it returns an error that includes the cause.
func (r *target) outcome(
	ctx context.Context, id lumi.ID, want, all lumi.Bag, inputs *structpb.Struct, cause error,
) (*structpb.Struct, error) {
	refs, err := r.server.References(ctx, all)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", cause, err.Error())
	}
	got, err := r.Get(ctx, &lumi.GetRequest{ID: id, Purpose: lumi.Refresh, URN: r.urn, Old: all, References: refs})
	if err != nil {
		return nil, fmt.Errorf("%w: cannot read the resource: %s", cause, err.Error())
	}
	actual := r.withUnread(got.Properties, all)
	left, err := r.inspect(ctx, string(id), actual, want)
	if err != nil || len(left.Changes) > 0 {
		return nil, partly(string(id), r.encode(actual), inputs, cause)
	}
	return r.encode(actual), nil
}

// withUnread returns the properties that Get returned with those that it does not return, which are in all.
func (r *target) withUnread(got, all lumi.Bag) lumi.Bag {
	unread := map[string]*structpb.Value{}
	for _, p := range r.Schema.Properties {
		if v := all.Struct().GetFields()[p.Name]; p.In && v != nil {
			unread[p.Name] = v
		}
	}
	return merged(got, lumi.BagOf(&structpb.Struct{Fields: unread}))
}

func (r *target) delete(ctx context.Context, req *pulumirpc.DeleteRequest) (*emptypb.Empty, error) {
	old, err := r.stored(ctx, req.GetProperties(), nil)
	if err != nil {
		return nil, err
	}
	refs, err := r.server.References(ctx, old)
	if err != nil {
		return nil, err
	}
	id := lumi.ID(req.GetId())
	defer r.server.Forget(r.Token, id)
	_, err = r.Delete(ctx, &lumi.DeleteRequest{URN: r.urn, ID: id, Properties: old, References: refs})
	if errors.As(err, new(*lumi.UncertainError)) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTime)
		defer cancel()
		_, gone := r.Get(ctx, &lumi.GetRequest{ID: id, Purpose: lumi.Refresh, URN: r.urn, Old: old, References: refs})
		if errors.Is(gone, lumi.ErrNotFound) {
			err = nil
		}
	}
	return &emptypb.Empty{}, err
}
