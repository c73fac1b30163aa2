package sim_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/sim"
)

// A deployer creates a resource, updates it to size 2, and then deletes it if i is odd.
type deployer func(e *engine, i int)

// within retries a call until it succeeds. Each attempt has a timeout of 10 seconds.
func within(call func(ctx context.Context) error) {
	for {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		err := call(ctx)
		cancel()
		if err == nil {
			return
		}
		time.Sleep(time.Second)
	}
}

// naive is a deployer that retries after every failure.
func naive(e *engine, i int) {
	within(func(ctx context.Context) error { return e.create(ctx, nil) })
	within(func(ctx context.Context) error { return e.update(ctx, map[string]any{"size": 2.0}) })
	if i%2 == 1 {
		within(e.delete)
	}
}

// careful is a deployer that handles each kind of error correctly.
func careful(e *engine, i int) {
	uncertain := false
	within(func(ctx context.Context) error {
		if uncertain && e.typ == server {
			switch id, err := e.find(ctx); {
			case err == nil: // read the state below, since the resource may be incomplete
				e.id, e.state = id, map[string]any{}
				return nil
			case !errors.Is(err, lumi.ErrNotFound):
				return err
			}
		}
		err := e.create(ctx, nil)
		uncertain = kind(err) == "uncertain"
		if strings.HasPrefix(kind(err), "partial") {
			return nil
		}
		return err
	})
	if len(e.state) == 0 {
		within(func(ctx context.Context) (err error) {
			e.state, err = e.get(ctx)
			return err
		})
	}
	within(func(ctx context.Context) error { return e.update(ctx, map[string]any{"size": 2.0}) })
	if i%2 == 1 {
		within(e.delete)
	}
}

// run deploys 16 resources concurrently. It returns the cloud's violations and the differences from the expected resources.
func run(t *testing.T, seed uint64, deploy deployer) (wrong []string) {
	inBubble(t, func(*testing.T, context.Context) {
		c := sim.New(chaos(seed))
		var wg sync.WaitGroup
		want := map[string]int{}
		for i := range 16 {
			e := newEngine(c, []tokens.Type{bucket, server}[i/2%2], fmt.Sprint("r", i))
			if i%2 == 0 {
				want[fmt.Sprintf("%s r%d of size 2", e.typ, i)] = 1
			}
			wg.Go(func() { deploy(e, i) })
		}
		wg.Wait()
		wrong = c.Violations()
		for _, r := range c.Resources() {
			want[fmt.Sprintf("%s %s of size %v", r.Type, r.Inputs["name"], r.Inputs["size"])]--
		}
		for _, r := range slices.Sorted(maps.Keys(want)) {
			if want[r] != 0 {
				wrong = append(wrong, fmt.Sprintf("%s: %d too few", r, want[r]))
			}
		}
	})
	return wrong
}

func TestExecutors(t *testing.T) {
	caught := 0
	for seed := range uint64(100) {
		if wrong := run(t, seed, careful); wrong != nil {
			t.Errorf("seed %d: careful deployer caused %q, want no errors", seed, wrong)
		}
		if run(t, seed, naive) != nil {
			caught++
		}
	}
	if caught < 95 {
		t.Errorf("naive deployer failed with %d of 100 seeds, want at least 95", caught)
	}
}
