package providertest

import (
	"context"
	"fmt"
	"sync"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// call is a call to the provider, recorded in the transcript.
type call struct {
	name string
	r    *Resource // nil for Configure
	urn  urn.URN   // of the request
	refs lumi.References
	step string  // the name of the step, for reports
	of   stepKey // the key of the step
	id   string  // the resource's id, or the token of a Create or Find
	sent bags
	out  *structpb.Struct // nil if the response has no properties
	// said formats the response without its properties.
	said   string
	events []lumi.Event
	err    error
}

// bags holds the bags of a request, in this order: the properties, the old properties, and the new properties. An absent bag
// is nil.
type bags [3]*structpb.Struct

// bagNames holds the role and prefix of each bag in the transcript.
var bagNames = [3]struct{ role, mark string }{{"sent", ""}, {"old", "old "}, {"new", "new "}}

// call returns a new call with the resource's URN and the references in sent.
func (r *Resource) call(name, id string, sent bags) *call {
	return &call{name: name, r: r, urn: r.URN(), refs: r.h.references(sent[:]...), id: id, sent: sent}
}

// ended records the result of the call, adds it to the transcript, and returns err.
func (c *call) ended(said string, err error) error {
	c.said, c.err = said, err
	c.r.found = append(c.r.found, c.r.h.calls.add(c)...)
	return err
}

// answered is like ended, for a call whose response has properties. It returns a copy of them and err. Values wrapped only
// in the response must be declared secret, unless the author may have moved a secret from the old properties.
func (c *call) answered(properties lumi.Bag, said string, err error) (*structpb.Struct, error) {
	if err == nil {
		c.out = clone(properties.Struct())
		if c.sent[1] == nil || c.name == "Update" {
			c.r.learn(c.sent[0], c.out)
		}
	}
	return c.out, c.ended(said, err)
}

// orEmpty returns resp, or an empty response if err is not nil, and err.
func orEmpty[A any](resp *A, err error) (*A, error) {
	if err != nil {
		resp = new(A)
	}
	return resp, err
}

// twin is the second of two calls made at once: one that fails, if only one of them does. resp and err are its result.
type twin struct {
	isSent bool
	resp   any
	err    error
}

// send makes a call and returns its response, or an empty one if it fails. If r.twin is set, it makes the call twice at
// once, and the next send returns the result of the second one.
func send[A any](r *Resource, call func() (*A, error)) (*A, error) {
	second := r.twin
	if second == nil {
		return orEmpty(call())
	}
	if second.isSent {
		r.twin = nil
		return second.resp.(*A), second.err
	}
	second.isSent = true
	var wg sync.WaitGroup
	wg.Go(func() { second.resp, second.err = orEmpty(call()) })
	first, err := orEmpty(call())
	if wg.Wait(); err != nil && second.err == nil {
		first, second.resp, err, second.err = second.resp.(*A), first, nil, err
	}
	return first, err
}

func (r *Resource) callCheck(ctx context.Context, bag *structpb.Struct) (*structpb.Struct, error) {
	c := r.call("Check", "", bags{bag, r.wanted})
	resp, err := orEmpty(r.provider.Check(ctx, &lumi.CheckRequest{
		URN: c.urn, Properties: lumi.BagOf(bag), Old: lumi.BagOf(r.wanted), Seed: r.seed(), References: c.refs,
	}))
	return c.answered(resp.Properties, "", err)
}

func (r *Resource) callName(ctx context.Context, bag *structpb.Struct) (string, error) {
	c := r.call("Name", "", bags{bag})
	resp, err := orEmpty(r.provider.Name(ctx, &lumi.NameRequest{
		URN: c.urn, Properties: lumi.BagOf(bag), References: c.refs,
	}))
	return resp.Name, c.ended(resp.Name, err)
}

func (r *Resource) callCreate(ctx context.Context, bag *structpb.Struct) (lumi.ID, *structpb.Struct, error) {
	c := r.call("Create", r.intent(r.attempt), bags{bag})
	resp, err := send(r, func() (*lumi.CreateResponse, error) {
		return r.provider.Create(ctx, &lumi.CreateRequest{
			URN: c.urn, Properties: lumi.BagOf(bag), Token: c.id, References: c.refs,
		})
	})
	computed, err := c.answered(resp.Properties, string(resp.ID), err)
	return resp.ID, computed, err
}

func (r *Resource) callFind(ctx context.Context, bag *structpb.Struct, token string) (lumi.ID, error) {
	c := r.call("Find", token, bags{bag})
	resp, err := orEmpty(r.provider.Find(ctx, &lumi.FindRequest{
		URN: c.urn, Properties: lumi.BagOf(bag), Token: token, References: c.refs,
	}))
	return resp.ID, c.ended(string(resp.ID), err)
}

// callGet calls Get. For an import, it passes only the id.
func (r *Resource) callGet(
	ctx context.Context, purpose lumi.Purpose, id lumi.ID, old *structpb.Struct,
) (*structpb.Struct, error) {
	c := &call{name: nameOf(purpose), r: r, id: string(id)}
	if purpose == lumi.Refresh {
		c = r.call(c.name, c.id, bags{1: old})
	}
	resp, err := orEmpty(r.provider.Get(ctx, &lumi.GetRequest{
		ID: id, Purpose: purpose, URN: c.urn, Old: lumi.BagOf(c.sent[1]), References: c.refs,
	}))
	got, err := c.answered(resp.Properties, "", err)
	return r.h.resolved(got), err
}

func (r *Resource) callInspect(
	ctx context.Context, old, want *structpb.Struct,
) (*lumi.InspectChangeResponse, error) {
	c := r.call("InspectChange", string(r.ID()), bags{1: old, 2: want})
	resp, err := orEmpty(r.provider.InspectChange(ctx, &lumi.InspectChangeRequest{
		URN: c.urn, ID: r.ID(), Old: lumi.BagOf(old), New: lumi.BagOf(want), References: c.refs,
	}))
	return resp, c.ended(summary(resp), err)
}

// change is an Update, or a Delete if want is nil.
type change struct {
	token     string
	id        lumi.ID
	old, want *structpb.Struct
}

// newChange returns a change with a new token.
func (r *Resource) newChange(id lumi.ID, old, want *structpb.Struct) *change {
	r.changes++
	return &change{r.intent(fmt.Sprint("change ", r.changes)), id, old, want}
}

func (r *Resource) callUpdate(ctx context.Context, ch *change) (lumi.ID, *structpb.Struct, error) {
	c := r.call("Update", string(ch.id), bags{1: ch.old, 2: ch.want})
	resp, err := send(r, func() (*lumi.UpdateResponse, error) {
		return r.provider.Update(ctx, &lumi.UpdateRequest{
			URN: c.urn, ID: ch.id, Old: lumi.BagOf(ch.old), New: lumi.BagOf(ch.want), References: c.refs, Token: ch.token,
		})
	})
	computed, err := c.answered(resp.Properties, "", err)
	return ch.id, computed, err
}

func (r *Resource) callDelete(ctx context.Context, ch *change) error {
	c := r.call("Delete", string(ch.id), bags{ch.old})
	_, err := send(r, func() (*lumi.DeleteResponse, error) {
		return r.provider.Delete(ctx, &lumi.DeleteRequest{
			URN: c.urn, ID: ch.id, Properties: lumi.BagOf(ch.old), References: c.refs, Token: ch.token,
		})
	})
	return c.ended("", err)
}
