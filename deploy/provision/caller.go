package provision

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/internal/property"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Abilities returns the abilities of a type's provider.
func (c *Caller) Abilities(ctx context.Context, t tokens.Type) (a Abilities, err error) {
	err = c.send(ctx, t, &request{}, func(ctx context.Context, q *request) error {
		a = Abilities{
			Find: q.description.CanFind, Idempotent: q.description.IdempotentCreate, Repeatable: q.description.RepeatableChange,
			Version: q.version,
		}
		return nil
	})
	return a, err
}

// Describe implements [plan.Provider].
func (c *Caller) Describe(ctx context.Context, types []tokens.Type) ([]plan.Description, error) {
	all, errs := make([]plan.Description, len(types)), make([]error, len(types))
	var wg sync.WaitGroup // concurrently, since several plugins may have to start
	for i, t := range types {
		wg.Go(func() {
			errs[i] = c.send(ctx, t, &request{}, func(ctx context.Context, q *request) error {
				all[i] = plan.Description{
					Type: t, Named: q.description.Named, Replaces: q.names(lumi.Replaces), Outputs: q.names(lumi.Out), WriteOnly: q.names(lumi.In),
					Fixed: q.names(lumi.Fixed), Computed: q.names(lumi.Computed), Secrets: q.names(lumi.Secret), Name: plan.NameRules(q.description.Name),
					Function: q.description.Function,
				}
				for _, p := range q.description.Properties {
					if len(p.Was) > 0 {
						all[i].Renamed = append(all[i].Renamed, graph.Renamed{Name: p.Name, Was: p.Was})
					}
				}
				return nil
			})
		})
	}
	wg.Wait()
	return all, cmp.Or(errs...)
}

// Check implements [plan.Provider].
func (c *Caller) Check(ctx context.Context, r plan.CheckRequest) (checked lumigl.Value, err error) {
	err = c.call(ctx, r.Desired, r.Old, func(ctx context.Context, q *request) error {
		resp, err := q.Check(ctx, &lumi.CheckRequest{
			URN: r.URN, Properties: q.properties, Old: q.old, Seed: r.Seed, References: q.references,
		})
		if err == nil {
			checked, _ = q.read(resp.Properties)
		}
		return err
	})
	return checked, err
}

// Name implements [plan.Provider].
func (c *Caller) Name(ctx context.Context, r plan.Desired) (name string, err error) {
	err = c.call(ctx, r, lumigl.Value{}, func(ctx context.Context, q *request) error {
		resp, err := q.Name(ctx, &lumi.NameRequest{URN: r.URN, Properties: q.properties, References: q.references})
		switch {
		case err != nil:
			return err
		case wire.Mask(resp.Name, q.secrets()) != resp.Name: // Names are neither sealed nor masked.
			return errors.New("the provider derives the resource's name from a secret: use a value that is not secret")
		}
		name = resp.Name
		return nil
	})
	return name, err
}

// InspectChange implements [plan.Provider].
func (c *Caller) InspectChange(ctx context.Context, r plan.InspectChangeRequest) (d plan.Difference, err error) {
	err = c.call(ctx, r.Desired, r.Old, func(ctx context.Context, q *request) error {
		resp, err := q.InspectChange(ctx, &lumi.InspectChangeRequest{
			URN: r.URN, ID: lumi.ID(r.ID), Old: q.old, New: q.properties, References: q.references,
		})
		if err != nil {
			return err
		}
		replaces := lumi.Paths{}
		for _, p := range resp.Replaces {
			replaces[p] = struct{}{}
		}
		d.DeleteFirst = resp.DeleteBeforeReplace
		for _, change := range resp.Changes {
			d.Changes = append(d.Changes, plan.Change{
				Path: string(change.Path), Unknown: change.Unknown, Replaces: replaces.Within(change.Path),
			})
		}
		if !resp.Properties.IsZero() && !property.Equal(resp.Properties.Object(), q.properties.Object()) {
			d.Properties, _ = q.read(resp.Properties)
		}
		return nil
	})
	return d, err
}

// Create creates a resource and returns its ID and computed properties.
func (c *Caller) Create(ctx context.Context, r CreateRequest) (id string, outputs lumigl.Value, err error) {
	err = c.call(ctx, r.Desired, lumigl.Value{}, func(ctx context.Context, q *request) error {
		resp, err := q.Create(ctx, &lumi.CreateRequest{
			URN: r.URN, Properties: q.properties, Token: r.Token, References: q.references,
		})
		if err == nil {
			id = string(resp.ID)
			outputs = q.readComputed(resp.Properties)
		}
		return err
	})
	return id, outputs, err
}

// Find returns the ID of the resource created by an earlier Create with the same request. It returns an error wrapping
// [lumi.ErrNotFound] if there is none.
func (c *Caller) Find(ctx context.Context, r CreateRequest) (id string, err error) {
	err = c.call(ctx, r.Desired, lumigl.Value{}, func(ctx context.Context, q *request) error {
		resp, err := q.Find(ctx, &lumi.FindRequest{
			URN: r.URN, Properties: q.properties, Token: r.Token, References: q.references,
		})
		if err == nil {
			id = string(resp.ID)
		}
		return err
	})
	return id, err
}

// Get implements [plan.Provider]. It resolves references by ID. If r.Properties exists, it refreshes the resource instead
// of importing it. A *[plan.NotFoundError] wraps [lumi.ErrNotFound].
func (c *Caller) Get(ctx context.Context, r plan.Existing) (inputs, outputs lumigl.Value, err error) {
	purpose := lumi.Refresh
	if !r.Properties.Exists() {
		purpose = lumi.Import
		var cancel context.CancelFunc
		ctx, cancel = c.limited(ctx)
		defer cancel()
	}
	err = c.call(ctx, plan.Desired{URN: r.URN, References: r.References}, r.Properties, func(ctx context.Context, q *request) error {
		resp, err := q.Get(ctx, &lumi.GetRequest{
			URN: r.URN, ID: lumi.ID(r.ID), Purpose: purpose, Old: q.old, References: q.references,
		})
		if err == nil {
			q.targets.byID = r.WithID
			inputs, outputs = q.read(resp.Properties)
		}
		return err
	})
	if errors.Is(err, lumi.ErrNotFound) {
		err = &plan.NotFoundError{Err: err}
	}
	return inputs, outputs, c.timedOut(ctx, err)
}

// Call implements [plan.Provider].
func (c *Caller) Call(ctx context.Context, r plan.Desired) (results lumigl.Value, err error) {
	ctx, cancel := c.limited(ctx)
	defer cancel()
	err = c.call(ctx, r, lumigl.Value{}, func(ctx context.Context, q *request) error {
		f, ok := q.ResourceProvider.(lumi.Function)
		if !ok {
			return fmt.Errorf("%s is not a function", r.URN.Type())
		}
		resp, err := f.Call(ctx, &lumi.CallRequest{Arguments: q.properties, References: q.references})
		if err == nil {
			_, results = q.read(resp.Results)
		}
		return err
	})
	return results, c.timedOut(ctx, err)
}

// timeoutError is the cause of a context whose time limit is over.
type timeoutError struct{ after time.Duration }

// Error returns the time limit.
func (e *timeoutError) Error() string { return fmt.Sprintf("timed out after %s", e.after) }

func (c *Caller) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.Timeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, c.Timeout, &timeoutError{c.Timeout})
}

// timedOut returns the cause of a failed call if its time limit is over, or err.
func (c *Caller) timedOut(ctx context.Context, err error) error {
	if cause, ok := errors.AsType[*timeoutError](context.Cause(ctx)); ok && err != nil {
		return cause
	}
	return err
}

// Update changes a resource in place to the properties in r and returns its computed properties.
func (c *Caller) Update(ctx context.Context, r UpdateRequest) (outputs lumigl.Value, err error) {
	err = c.call(ctx, r.Desired, r.Old, func(ctx context.Context, q *request) error {
		resp, err := q.Update(ctx, &lumi.UpdateRequest{
			URN: r.URN, ID: lumi.ID(r.ID), Old: q.old, New: q.properties, References: q.references, Token: r.Token,
		})
		if err == nil {
			outputs = q.readComputed(resp.Properties)
		}
		return err
	})
	return outputs, err
}

// Delete deletes a resource. It returns nil if the resource does not exist.
func (c *Caller) Delete(ctx context.Context, r DeleteRequest) error {
	d := plan.Desired{URN: r.URN, Properties: r.Properties, References: r.References}
	return c.call(ctx, d, lumigl.Value{}, func(ctx context.Context, q *request) error {
		_, err := q.Delete(ctx, &lumi.DeleteRequest{
			URN: r.URN, ID: lumi.ID(r.ID), Properties: q.properties, References: q.references, Token: r.Token,
		})
		if lumi.Meaning(err) == lumi.ErrNotFound { //nolint:errorlint // Meaning returns unwrapped errors.
			return nil
		}
		return err
	})
}
