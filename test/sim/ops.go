package sim

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// ops implements the operations of a type.
type ops struct {
	c *Cloud
	t Type
}

// finder adds the optional operation Find.
type finder struct{ *ops }

// Find implements [lumi.Finder].
func (o finder) Find(ctx context.Context, want *state) (id lumi.ID, err error) {
	call := Call{At: At{Op: Find}, URN: want.URN, Token: want.Token}
	_, err = o.c.do(ctx, call, func(a *attempt) error {
		r := o.c.withToken(o.t, want.Token)
		if r == nil {
			return lumi.ErrNotFound
		}
		id, a.ID, a.wait = r.ID, r.ID, r.hiddenFor()
		return nil
	})
	return id, err
}

// IdempotentCreate implements [lumi.IdempotentCreator].
func (o *ops) IdempotentCreate() bool { return o.t.Idempotent }

// RepeatableChange implements [lumi.RepeatableChanger].
func (o *ops) RepeatableChange() bool { return o.t.Repeatable }

// Check generates a missing name, or copies it from the old state. It returns a fault if the size is a string.
func (o *ops) Check(_ context.Context, want *state) error {
	name := want.Properties.values["name"]
	if *name == nil && !want.Unknown.Has("name") {
		if want.Old != nil {
			*name = *want.Old.values["name"]
		}
		if *name == nil {
			*name = want.Seed.Name(strings.ToLower(o.t.Token.Name())+"-", 8, lumi.LowerAlphanumeric)
		}
	}
	if _, ok := (*want.Properties.values["size"]).(string); ok {
		return lumi.Faultf("size", "is a string")
	}
	return nil
}

// Name implements [lumi.NamingOps].
func (o *ops) Name(_ context.Context, want *state) (string, error) {
	if want.Unknown.Within("name") {
		return "", lumi.Faultf("name", "must be known")
	}
	return fmt.Sprint(*want.Properties.values["name"]), nil
}

// Create implements [lumi.Ops].
func (o *ops) Create(ctx context.Context, want *state) (lumi.ID, error) {
	inputs, err := inputs(want)
	if err != nil {
		return "", err
	}
	var r *resource
	given := maps.Clone(inputs)
	call := Call{At: At{Op: Create}, URN: want.URN, Token: want.Token}
	known, err := o.c.do(ctx, call, func(a *attempt) (err error) {
		for _, property := range []string{"size", "mode", "password", "on", "at"} {
			if a.skips() {
				delete(given, property)
			}
		}
		r, err = o.c.create(a, o.t, inputs, given)
		return err
	})
	if !known {
		return "", err
	}
	o.report(want, r, given)
	return r.ID, err
}

// InspectChange implements [lumi.Inspector].
func (o *ops) InspectChange(_ context.Context, _, _ *state, diff *lumi.Diff) error {
	if o.t.Unique {
		diff.DeleteBeforeReplace()
	}
	return nil
}

// Update implements [lumi.Ops]. Like most providers, it writes only the differences between old and want, so it does not
// revert drift.
func (o *ops) Update(ctx context.Context, old, want *state, diff *lumi.Diff) error {
	inputs, err := inputs(want)
	if err != nil {
		return err
	}
	var r *resource
	given := map[string]any{}
	call := Call{At: At{Op: Update}, URN: want.URN, ID: old.ID, Token: want.Token}
	known, err := o.c.do(ctx, call, func(a *attempt) error {
		if r = o.c.alive(old.ID); r == nil {
			return lumi.ErrNotFound
		}
		for _, property := range slices.Sorted(maps.Keys(inputs)) {
			if diff.Changed(lumi.Path(property)) && (len(given) == 0 || !a.skips()) {
				given[property] = inputs[property]
			}
		}
		if err := o.c.reach(given); err != nil {
			return err
		}
		if o.c.isLate(a, o.t, r) {
			return nil
		}
		if before := r.Resource; r.hiddenFor() == 0 {
			r.before, r.settled = &before, time.Now().Add(a.share(o.c.options.Lag))
		}
		o.c.write(a, r, given)
		return nil
	})
	if known {
		o.report(want, r, given)
	}
	return err
}

// report sets the outputs in want and marks the given inputs as done.
func (o *ops) report(want *state, r *resource, given map[string]any) {
	defer o.c.lock()()
	for property, v := range r.Outputs {
		*want.Properties.values[property] = v
	}
	want.Done(slices.Collect(maps.Keys(given))...)
}

// Get implements [lumi.Ops].
func (o *ops) Get(ctx context.Context, id lumi.ID, old *state) (*object, error) {
	call := Call{At: At{Op: Get}, ID: id}
	if old != nil {
		call.URN = old.URN
	}
	var shown Resource
	_, err := o.c.do(ctx, call, func(a *attempt) error {
		r := o.c.resources[id]
		if r == nil || r.Type != o.t.Token {
			return lumi.ErrNotFound
		}
		shown = r.Resource
		if r.before != nil && time.Now().Before(r.settled) {
			shown = *r.before
		}
		a.wait = r.hiddenFor()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return objectOf(o.t, &shown, old), nil
}

// Delete implements [lumi.Ops].
func (o *ops) Delete(ctx context.Context, old *state) error {
	call := Call{At: At{Op: Delete}, URN: old.URN, ID: old.ID, Token: old.Token}
	_, err := o.c.do(ctx, call, func(a *attempt) error {
		r := o.c.resources[old.ID]
		if r == nil {
			return lumi.ErrNotFound
		}
		if r.gone.IsZero() {
			if user := o.c.userOf(r); user != nil {
				o.c.violate("Delete of %s, although %s refers to it", old.URN, user.ID)
				return fmt.Errorf("%s still refers to it", user.ID)
			}
			o.c.note(a)
			r.gone = time.Now().Add(a.share(o.c.options.Deletion))
		}
		a.wait = time.Until(r.gone)
		return nil
	})
	return err
}
