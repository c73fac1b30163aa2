package providertest_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
)

// repeater implements volumes that recognize tokens. The id of a volume is its name. If a hook is set, it replaces the
// operation.
type repeater struct {
	*volumeOps
	mu     sync.Mutex
	known  map[string]bool
	create func(want *volumeState) (lumi.ID, error)
	update func(old, want *volumeState) error
	delete func(old *volumeState) error
}

func (*repeater) RepeatableChange() bool { return true }

func (r *repeater) once(token string, f func() error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known[token] {
		return nil
	}
	err := f()
	r.known[token] = err == nil
	return err
}

func (r *repeater) Create(_ context.Context, want *volumeState) (lumi.ID, error) {
	v := want.Properties
	v.Zones, v.ARN, v.Token = []string{v.Zone}, "arn:"+v.Name, new("token of "+v.Name)
	if r.create != nil {
		return r.create(want)
	}
	return lumi.ID(v.Name), r.once(want.Token, func() error { return r.make(lumi.ID(v.Name), v) })
}

func (r *repeater) make(id lumi.ID, v *volume) error {
	r.cloud.mu.Lock()
	defer r.cloud.mu.Unlock()
	r.cloud.put(id, v)
	return nil
}

func (r *repeater) Update(ctx context.Context, old, want *volumeState, diff *lumi.Diff) error {
	if r.update != nil {
		return r.update(old, want)
	}
	return r.once(want.Token, func() error { return r.volumeOps.Update(ctx, old, want, diff) })
}

func (r *repeater) Delete(ctx context.Context, old *volumeState) error {
	if r.delete != nil {
		return r.delete(old)
	}
	return r.once(old.Token, func() error { return r.volumeOps.Delete(ctx, old) })
}

// pair returns a function whose first two calls wait for each other. It reports whether a call is the second of them.
func pair() (meet func() bool) {
	var mu sync.Mutex
	calls, both := 0, make(chan struct{})
	return func() bool {
		mu.Lock()
		calls++
		n := calls
		if n == 2 {
			close(both)
		}
		mu.Unlock()
		select {
		case <-both:
		case <-time.After(10 * time.Second):
		}
		return n == 2
	}
}

// The report of each mistake is in its golden file.
func TestRepeatable(t *testing.T) {
	conflict := errors.New("409 conflict")
	for _, test := range []struct {
		name   string
		passes bool
		with   func(r *repeater)
	}{
		{"changes that recognize tokens", true, func(*repeater) {}},
		{"an update at once is retried", true, func(r *repeater) {
			meet := pair()
			r.update = func(old, want *volumeState) error {
				if meet() {
					return &lumi.RetryError{Err: conflict}
				}
				return r.once(want.Token, func() error { return r.make(old.ID, want.Properties) })
			}
		}},
		{"an update at once fails", false, func(r *repeater) {
			meet := pair()
			r.update = func(old, want *volumeState) error {
				if meet() {
					return conflict
				}
				return r.once(want.Token, func() error { return r.make(old.ID, want.Properties) })
			}
		}},
		{"updates at once both fail", false, func(r *repeater) {
			r.update = func(_, _ *volumeState) error { return &lumi.RetryError{Err: conflict} }
		}},
		{"a late update changes a volume", false, func(r *repeater) {
			r.update = func(old, want *volumeState) error {
				if _, err := r.Get(t.Context(), old.ID, nil); err != nil {
					return err
				}
				return r.make(old.ID, want.Properties)
			}
		}},
		{"a late update makes a volume", false, func(r *repeater) {
			last := ""
			r.update = func(old, want *volumeState) error {
				r.mu.Lock()
				defer r.mu.Unlock()
				if r.known[want.Token] && want.Token != last {
					return nil
				}
				last, r.known[want.Token] = want.Token, true
				return r.make(old.ID, want.Properties)
			}
		}},
		{"a deletion at once fails", false, func(r *repeater) {
			meet := pair()
			r.delete = func(old *volumeState) error {
				if meet() {
					return conflict
				}
				return r.once(old.Token, func() error { return r.volumeOps.Delete(t.Context(), old) })
			}
		}},
		{"a late deletion deletes a volume", false, func(r *repeater) {
			r.delete = func(old *volumeState) error { return r.volumeOps.Delete(t.Context(), old) }
		}},
		{"a creation at once fails", false, func(r *repeater) {
			meet := pair()
			r.create = func(want *volumeState) (lumi.ID, error) {
				if meet() {
					return "", conflict
				}
				return "v", r.make("v", want.Properties)
			}
		}},
		{"creations at once make two", false, func(r *repeater) {
			meet := pair()
			r.create = func(want *volumeState) (lumi.ID, error) {
				id := lumi.ID("v")
				if meet() {
					id = "w"
				}
				return id, r.make(id, want.Properties)
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			live := func(t providertest.TB) {
				r := &repeater{volumeOps: &volumeOps{newCloud()}, known: map[string]bool{}}
				test.with(r)
				h := providertest.InProcess(t, providertest.Resources(newVolumes(r)))
				h.Resource(volumeToken, "data").Life(t, providertest.Life{
					Create: small,
					Updates: []providertest.Change{
						{Set: providertest.Properties{"size": 20}}, {Set: providertest.Properties{"size": 30}},
					},
					Replaces: []providertest.Replacement{{Set: providertest.Properties{"zone": "b"}, DeleteFirst: true}},
				})
			}
			if test.passes {
				live(t)
				return
			}
			golden(t, test.name, said(run(t, live)))
		})
	}
}
