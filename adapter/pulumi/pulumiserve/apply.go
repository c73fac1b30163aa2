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

func isUncertain(err error) bool { return errors.As(err, new(*lumi.UncertainError)) }

// planned returns the properties after a Create or Update, as far as they are known before it.
func (r *target) planned(c *change) *structpb.Struct {
	set, old := map[string]*structpb.Value{}, c.old.Struct().GetFields()
	for _, p := range r.Schema.Properties {
		switch {
		case !p.Out && (!p.Computed || c.want.Get(p.Name) != nil):
		case (p.Fixed || p.Computed) && c.old.Get(p.Name) != nil:
			set[p.Name] = old[p.Name]
		case p.Secret:
			set[p.Name] = lumi.NewSecret(lumi.NewUnknown())
		default:
			set[p.Name] = lumi.NewUnknown()
		}
	}
	return r.encode(merged(c.want, set))
}

func (r *target) create(ctx context.Context, req *pulumirpc.CreateRequest) (*pulumirpc.CreateResponse, error) {
	c, err := r.decode(ctx, "", nil, req.GetProperties())
	if err != nil {
		return nil, err
	}
	if req.GetPreview() {
		return &pulumirpc.CreateResponse{Properties: r.planned(c)}, nil
	}
	// The engine has no place for a token in which it would survive a crash.
	call := &lumi.CreateRequest{URN: r.urn, Properties: c.want, Token: rand.Text(), References: c.refs}
	resp, err := r.Create(ctx, call)
	if err != nil {
		resp = &lumi.CreateResponse{}
	}
	if isUncertain(err) && !errors.As(err, new(*lumi.PartialError)) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTime)
		defer cancel()
		found, lost := r.Find(ctx, (*lumi.FindRequest)(call))
		switch {
		case errors.Is(lost, lumi.ErrNotFound):
			return nil, fmt.Errorf("%s: the resource was not created", err.Error())
		case lost != nil:
			return nil, fmt.Errorf("%w: it is unknown whether the resource was created: %s", err, lost.Error())
		}
		resp.ID = found.ID
	}
	c.id = resp.ID
	outputs, err := r.outcome(ctx, c, resp.Properties, req.GetProperties(), err)
	return &pulumirpc.CreateResponse{Id: string(resp.ID), Properties: outputs}, err
}

func (r *target) update(ctx context.Context, req *pulumirpc.UpdateRequest) (*pulumirpc.UpdateResponse, error) {
	olds, isPlan := req.GetOlds(), r.server.unconfigured.Load()
	if isPlan { // Not all of the old state is known.
		olds = nil
	}
	c, err := r.decode(ctx, req.GetId(), olds, req.GetNews())
	if err != nil {
		return nil, err
	}
	if isPlan {
		return &pulumirpc.UpdateResponse{Properties: r.planned(c)}, nil
	}
	inspected, err := r.inspect(ctx, c)
	if err != nil {
		return nil, err
	}
	c.want = inspected.Properties // with the old values where only the notation differs, so that these are stored again
	if req.GetPreview() {
		return &pulumirpc.UpdateResponse{Properties: r.planned(c)}, nil
	}
	defer r.server.Forget(r.Token, c.id)
	resp, err := r.Update(ctx, &lumi.UpdateRequest{URN: r.urn, ID: c.id, Old: c.old, New: c.want, References: c.refs})
	if err != nil {
		resp = &lumi.UpdateResponse{}
	}
	outputs, err := r.outcome(ctx, c, resp.Properties, req.GetNews(), err)
	return &pulumirpc.UpdateResponse{Properties: outputs}, err
}

// outcome returns the properties after a Create or Update that returned computed properties or an error. After an uncertain call it
// reads the resource, and returns the error only if that fails or the resource is not as wanted.
func (r *target) outcome(ctx context.Context, c *change, computed lumi.Bag, inputs *structpb.Struct, err error) (*structpb.Struct, error) {
	if err == nil {
		return r.encode(merged(c.want, computed.Struct().GetFields())), nil
	}
	if partial := (*lumi.PartialError)(nil); errors.As(err, &partial) {
		return nil, partly(string(partial.ID), r.encode(partial.Properties), inputs, err)
	}
	if !isUncertain(err) {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTime)
	defer cancel()
	actual, unread := r.get(ctx, c.id, merged(c.old, c.want.Struct().GetFields()), c.refs)
	if unread != nil {
		return nil, fmt.Errorf("%w: cannot read the resource: %s", err, unread.Error())
	}
	left, failed := r.inspect(ctx, &change{c.id, actual, c.want, c.refs})
	if failed != nil || len(left.Changes) > 0 {
		return nil, partly(string(c.id), r.encode(actual), inputs, err)
	}
	return r.encode(actual), nil
}

func (r *target) delete(ctx context.Context, req *pulumirpc.DeleteRequest) (*emptypb.Empty, error) {
	c, err := r.decode(ctx, req.GetId(), req.GetProperties(), nil)
	if err != nil {
		return nil, err
	}
	defer r.server.Forget(r.Token, c.id)
	_, err = r.Delete(ctx, &lumi.DeleteRequest{URN: r.urn, ID: c.id, Properties: c.old, References: c.refs})
	if isUncertain(err) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTime)
		defer cancel()
		if _, gone := r.get(ctx, c.id, c.old, c.refs); errors.Is(gone, lumi.ErrNotFound) {
			err = nil
		}
	}
	return &emptypb.Empty{}, err
}
