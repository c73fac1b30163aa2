package tfserve

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/adapter/internal/bridge"
	"github.com/lumi-idl/lumi/idl/schema"
	lumi "github.com/lumi-idl/lumi/runtime"
)

// ApplyResourceChange implements [tfprotov6.ProviderServer]. The private data of a resource is its seed. It protects nothing else, since
// engines store private data only after a call, and in a replacement pass the one of the other resource.
func (s *Server) ApplyResourceChange(
	ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest,
) (*tfprotov6.ApplyResourceChangeResponse, error) {
	resp := &tfprotov6.ApplyResourceChangeResponse{NewState: req.PriorState, Private: req.PlannedPrivate}
	plan := updatePlan{req.PlannedPrivate, req.Config}
	if json.Unmarshal(req.PlannedPrivate, &plan) == nil { // Otherwise, nothing changes but the type, or it is no update.
		resp.Private = plan.Seed
	}
	resp.Diagnostics = s.call(ctx, req.TypeName, func(c *call) error {
		if err := c.ready(); err != nil {
			return err
		}
		ch, err := c.change(plan.Config, req.PriorState)
		if err != nil {
			return err
		}
		planned, err := c.value(req.PlannedState)
		if err != nil {
			return err
		}
		if planned.IsNull() {
			if err = ch.delete(); err == nil {
				resp.NewState, resp.Private = req.PlannedState, nil
			}
			return err
		}
		apply := ch.update
		if ch.seed = plan.Seed; ch.prior.IsNull() {
			ch.seed = lumi.Seed(rand.Text())
			apply = ch.create
		}
		made, failure := apply()
		resp.Private = ch.seed
		if made.IsZero() {
			return failure
		}
		if failure != nil { // What the author's code has not done is not in the state.
			planned = ch.encodeBag(string(ch.id), made)
		} else {
			planned = ch.compose(string(ch.id), planned, ch.decodeBag(planned), made)
		}
		state, err := c.dynamicValue(planned)
		if err == nil {
			resp.NewState = state
		}
		return errors.Join(failure, err)
	})
	return resp, nil
}

// create creates the resource, sets its id, and returns its properties, which may exist despite an error.
func (ch *change) create() (lumi.Bag, error) {
	wanted, err := ch.check(ch.seed)
	if err != nil {
		return lumi.Bag{}, err
	}
	req := &lumi.CreateRequest{URN: ch.urn, Properties: wanted, Token: rand.Text(), References: ch.refs}
	created, err := ch.Create(ch.ctx, req)
	var partial *lumi.PartialError
	switch {
	case err == nil:
		ch.id = created.ID
		return merged(wanted, created.Properties), nil
	case errors.As(err, &partial):
		ch.id = partial.ID
		return partial.Properties, err
	case errors.As(err, new(*lumi.UncertainError)):
		return ch.find(req, err)
	}
	return lumi.Bag{}, err
}

// patience is how long the search for a resource may take after a Create whose outcome is uncertain, even if the call is canceled.
const patience = time.Minute

// find looks up the resource after a Create that failed with an uncertain outcome.
func (ch *change) find(req *lumi.CreateRequest, failure error) (lumi.Bag, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ch.ctx), patience)
	defer cancel()
	found, err := ch.Find(ctx, (*lumi.FindRequest)(req))
	switch {
	case errors.Is(err, lumi.ErrNotFound):
		return lumi.Bag{}, fmt.Errorf("%w; the resource was not created", failure)
	case err != nil:
		if !errors.Is(err, errors.ErrUnsupported) {
			failure = errors.Join(failure, err)
		}
		return lumi.Bag{}, fmt.Errorf("%w\nthe resource may exist nevertheless: import or delete it before the next apply", failure)
	}
	ch.id, ch.urn = found.ID, ch.call.urn(found.ID)
	got, err := ch.Get(ctx, &lumi.GetRequest{ID: ch.id, Purpose: lumi.Refresh, URN: ch.urn, Old: req.Properties, References: ch.refs})
	if err != nil {
		return req.Properties, errors.Join(failure, err)
	}
	made := ch.completed(got.Properties, req.Properties)
	diff, err := ch.InspectChange(ctx, &lumi.InspectChangeRequest{URN: ch.urn, ID: ch.id, Old: made, New: req.Properties, References: ch.refs})
	if err != nil || len(diff.Changes) > 0 {
		return made, errors.Join(failure, err)
	}
	return made, nil
}

// update updates the resource and returns its properties, which may have changed despite an error.
func (ch *change) update() (lumi.Bag, error) {
	diff, err := ch.inspect()
	if err != nil {
		return lumi.Bag{}, err
	}
	wanted := diff.Properties.Struct().GetFields()
	outputs := ch.without(ch.old, func(p *schema.Property) bool {
		return !p.Out && (!p.Computed || !bridge.IsNull(wanted[p.Name]))
	})
	if len(diff.Changes) == 0 {
		return merged(diff.Properties, outputs), nil
	}
	defer ch.Forget(ch.Token, ch.id)
	updated, err := ch.Update(ch.ctx, &lumi.UpdateRequest{URN: ch.urn, ID: ch.id, Old: ch.old, New: diff.Properties, References: ch.refs})
	var partial *lumi.PartialError
	switch {
	case err == nil:
		return merged(diff.Properties, updated.Properties), nil
	case errors.As(err, &partial) && len(partial.Properties.Struct().GetFields()) > 0:
		return partial.Properties, err
	}
	return lumi.Bag{}, err // If the outcome is uncertain, the next plan reads the resource.
}

func (ch *change) delete() error {
	defer ch.Forget(ch.Token, ch.id)
	_, err := ch.Delete(ch.ctx, &lumi.DeleteRequest{URN: ch.urn, ID: ch.id, Properties: ch.old, References: ch.refs})
	return err
}

// merged returns the properties in a and b. The ones in b take precedence.
func merged(a, b lumi.Bag) lumi.Bag {
	fields := map[string]*structpb.Value{}
	maps.Copy(fields, a.Struct().GetFields())
	maps.Copy(fields, b.Struct().GetFields())
	return lumi.BagOf(&structpb.Struct{Fields: fields})
}

// completed returns properties that Get read with what it cannot return.
func (t *resourceType) completed(read, old lumi.Bag) lumi.Bag {
	inputs := t.without(old, func(p *schema.Property) bool { return !p.In })
	return merged(inputs, lumi.BagOf(&structpb.Struct{Fields: bridge.WithForeign(read.Struct().GetFields(), old.Struct().GetFields())}))
}
