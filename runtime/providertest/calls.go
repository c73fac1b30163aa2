package providertest

import (
	"context"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// This file has the calls of the provider, as the transcript shows them.

// called notes how a call ended, and returns the properties in its answer. Asked are those in the request. What was a
// secret in old, those of an existing resource, may be one in the answer wherever the author moved it.
func (r *Resource) called(c *call, answer func() lumi.Bag, asked, old *structpb.Struct) (*structpb.Struct, error) {
	if c.err == nil && answer != nil {
		c.out = clone(answer().Struct())
		if old == nil {
			r.learn(asked, c.out)
		}
	}
	c.r = r
	r.found = append(r.found, r.h.calls.add(c)...)
	return c.out, c.err
}

func (r *Resource) callCheck(ctx context.Context, bag *structpb.Struct) (*structpb.Struct, error) {
	u := r.URN()
	resp, err := r.provider.Check(ctx, &lumi.CheckRequest{
		URN: u, Properties: lumi.BagOf(bag), Old: lumi.BagOf(r.wanted), Seed: r.seed(),
		References: r.h.references(bag, r.wanted),
	})
	c := &call{name: "Check", urn: u, in: bag, old: r.wanted, err: err}
	return r.called(c, func() lumi.Bag { return resp.Properties }, bag, r.wanted)
}

func (r *Resource) callName(ctx context.Context, bag *structpb.Struct) (string, error) {
	u := r.URN()
	resp, err := r.provider.Name(ctx, &lumi.NameRequest{
		URN: u, Properties: lumi.BagOf(bag), References: r.h.references(bag),
	})
	c := &call{name: "Name", urn: u, in: bag, err: err}
	if err == nil {
		c.said = resp.Name
	}
	_, err = r.called(c, nil, nil, nil)
	return c.said, err
}

func (r *Resource) callCreate(ctx context.Context, bag *structpb.Struct) (lumi.ID, *structpb.Struct, error) {
	u := r.URN()
	resp, err := r.provider.Create(ctx, &lumi.CreateRequest{
		URN: u, Properties: lumi.BagOf(bag), Token: r.intent(r.attempt), References: r.h.references(bag),
	})
	c := &call{name: "Create", urn: u, id: r.intent(r.attempt), in: bag, err: err}
	computed, err := r.called(c, func() lumi.Bag {
		c.said = string(resp.ID)
		return resp.Properties
	}, nil, nil)
	return lumi.ID(c.said), computed, err
}

func (r *Resource) callFind(ctx context.Context, bag *structpb.Struct, token string) (lumi.ID, error) {
	u := r.URN()
	resp, err := r.provider.Find(ctx, &lumi.FindRequest{
		URN: u, Properties: lumi.BagOf(bag), Token: token, References: r.h.references(bag),
	})
	c := &call{name: "Find", urn: u, id: token, in: bag, err: err}
	if err == nil {
		c.said = string(resp.ID)
	}
	_, err = r.called(c, nil, nil, nil)
	return lumi.ID(c.said), err
}

// callGet reads the resource for either purpose. For an import, the provider is told nothing but the id.
func (r *Resource) callGet(
	ctx context.Context, purpose lumi.Purpose, id lumi.ID, old *structpb.Struct,
) (*structpb.Struct, error) {
	var u urn.URN
	var refs lumi.References
	if purpose == lumi.Import {
		old = nil
	} else {
		u, refs = r.URN(), r.h.references(old)
	}
	resp, err := r.provider.Get(ctx, &lumi.GetRequest{
		ID: id, Purpose: purpose, URN: u, Old: lumi.BagOf(old), References: refs,
	})
	c := &call{name: nameOf(purpose), urn: u, id: string(id), old: old, err: err}
	return r.called(c, func() lumi.Bag { return resp.Properties }, nil, old)
}

func (r *Resource) callInspect(
	ctx context.Context, old, want *structpb.Struct,
) (*lumi.InspectChangeResponse, error) {
	u := r.URN()
	resp, err := r.provider.InspectChange(ctx, &lumi.InspectChangeRequest{
		URN: u, ID: r.ID(), Old: lumi.BagOf(old), New: lumi.BagOf(want), References: r.h.references(old, want),
	})
	c := &call{name: "InspectChange", urn: u, id: string(r.ID()), old: old, new: want, err: err}
	if err == nil {
		c.said = summary(resp)
	}
	_, err = r.called(c, nil, nil, nil)
	return resp, err
}

func (r *Resource) callUpdate(ctx context.Context, old, want *structpb.Struct) (*structpb.Struct, error) {
	u := r.URN()
	resp, err := r.provider.Update(ctx, &lumi.UpdateRequest{
		URN: u, ID: r.ID(), Old: lumi.BagOf(old), New: lumi.BagOf(want), References: r.h.references(old, want),
	})
	c := &call{name: "Update", urn: u, id: string(r.ID()), old: old, new: want, err: err}
	return r.called(c, func() lumi.Bag { return resp.Properties }, nil, nil)
}

func (r *Resource) callDelete(ctx context.Context, id lumi.ID, state *structpb.Struct) error {
	u := r.URN()
	_, err := r.provider.Delete(ctx, &lumi.DeleteRequest{
		URN: u, ID: id, Properties: lumi.BagOf(state), References: r.h.references(state),
	})
	_, err = r.called(&call{name: "Delete", urn: u, id: string(id), in: state, err: err}, nil, nil, nil)
	return err
}
