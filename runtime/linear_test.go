package lumi_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/test/kit/bags"
	testnet "github.com/lumi-idl/lumi/test/testprovider/net"
)

// secretElements returns n strings, each wrapped as a secret.
func secretElements(n int) []*structpb.Value {
	values := make([]*structpb.Value, n)
	for i := range values {
		values[i] = lumi.NewSecret(structpb.NewStringValue(fmt.Sprint("secret ", i)))
	}
	return values
}

func listOfValues(values []*structpb.Value) *structpb.Value {
	return structpb.NewListValue(&structpb.ListValue{Values: values})
}

func mapOfValues(values []*structpb.Value) *structpb.Value {
	fields := map[string]*structpb.Value{}
	for i, v := range values {
		fields[fmt.Sprint("key ", i)] = v
	}
	return structpb.NewStructValue(&structpb.Struct{Fields: fields})
}

// All calls take linear time. The test measures allocated memory instead, which is deterministic, and which would be
// quadratic for quadratic algorithms.
func TestLinear(t *testing.T) {
	const few = 250
	unknown := func(n int) *structpb.Value {
		values := secretElements(n)
		values[0] = lumi.NewUnknown()
		return listOfValues(values)
	}
	below := func(key string) func(n int) *structpb.Value {
		return func(n int) *structpb.Value { return object(key, listOfValues(secretElements(n))) }
	}
	for name, test := range map[string]struct {
		property string
		make     func(n int) *structpb.Value
	}{
		"list":             {"required", func(n int) *structpb.Value { return listOfValues(secretElements(n)) }},
		"any":              {"policy", func(n int) *structpb.Value { return listOfValues(secretElements(n)) }},
		"keys":             {"tags", func(n int) *structpb.Value { return mapOfValues(secretElements(n)) }},
		"unknown":          {"required", unknown},
		"below a long key": {"policy", below(strings.Repeat("k", 10_000))},
		"deep":             {"policy", func(n int) *structpb.Value { return nest(90, listOfValues(secretElements(n))) }},
	} {
		t.Run(name, func(t *testing.T) {
			p := testnet.NewNetworkProvider(&networkOps{})
			check := func(n int) uint64 {
				props := bag(t, minimal)
				bags.Set(&props, test.property, test.make(n))
				return allocated(t, func() error {
					_, err := p.Check(t.Context(), &lumi.CheckRequest{Properties: props})
					return err
				})
			}
			inspect := func(n int) uint64 {
				old, props := bag(t, minimal), bag(t, minimal)
				bags.Set(&old, test.property, test.make(n))
				bags.Set(&props, test.property, test.make(n))
				if test.property == "required" {
					bags.Set(&old, "required", listOfValues(secretElements(n)))
				}
				return allocated(t, func() error {
					_, err := p.InspectChange(t.Context(), &lumi.InspectChangeRequest{Old: old, New: props})
					return err
				})
			}
			again := func(n int) uint64 {
				old, props := bag(t, minimal), bag(t, minimal)
				bags.Set(&old, test.property, listOfValues(secretElements(n)))
				bags.Set(&props, test.property, test.make(n))
				return allocated(t, func() error {
					_, err := p.Check(t.Context(), &lumi.CheckRequest{Properties: props, Old: old})
					return err
				})
			}
			half := func(n int) uint64 {
				old, props := bag(t, minimal), bag(t, minimal)
				bags.Set(&old, test.property, test.make(n))
				bags.Set(&props, test.property, test.make(n+1))
				failing := testnet.NewNetworkProvider(&networkOps{update: func(_, want *lumi.State[*network], _ *lumi.Diff) error {
					want.Done(test.property)
					return errHalf
				}})
				return allocated(t, func() error {
					_, err := failing.Update(t.Context(), &lumi.UpdateRequest{ID: "n-1", Old: old, New: props})
					if name != "unknown" {
						failed(t, err, "n-1", "partially done: half way")
					}
					return nil
				})
			}
			for call, measure := range map[string]func(int) uint64{
				"Check": check, "InspectChange": inspect, "Check with old properties": again, "Update": half,
			} {
				measure(few) // Exclude one-time allocations.
				if one, eight := measure(few), measure(8*few); eight > 12*one {
					t.Errorf("%s allocated %d bytes for %d elements and %d for %d, want linear growth", call, one, few, eight, 8*few)
				}
			}
		})
	}
}

// nest returns v inside depth nested lists.
func nest(depth int, v *structpb.Value) *structpb.Value {
	for range depth {
		v = listOfValues([]*structpb.Value{v})
	}
	return v
}

func allocated(t *testing.T, f func() error) uint64 {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := f()
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	return after.TotalAlloc - before.TotalAlloc
}

// Decoding stops when the context is done, without visiting the remaining elements.
func TestDecodeCanceled(t *testing.T) {
	p := testnet.NewNetworkProvider(&networkOps{check: func(*lumi.State[*network]) error {
		t.Error("Check called the author's code, want it to stop before")
		return nil
	}})
	props := bag(t, minimal)
	bags.Set(&props, "required", listOfValues(secretElements(100_000)))
	for call, make := range map[string]func(ctx context.Context) error{
		"Check": func(ctx context.Context) error {
			_, err := p.Check(ctx, &lumi.CheckRequest{Properties: props})
			return err
		},
		"Delete": func(ctx context.Context) error {
			_, err := p.Delete(ctx, &lumi.DeleteRequest{ID: "x", Properties: props})
			return err
		},
	} {
		ctx := &endingContext{Context: t.Context(), looks: 3}
		if err := make(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s returned %v, want context.Canceled", call, err)
		}
		if ctx.looked > 6 {
			t.Errorf("%s checked the context %d times, want at most 6", call, ctx.looked)
		}
	}
}

// Rendering paths stops when the context is done. Paths below a long key take longest.
func TestPathsCanceled(t *testing.T) {
	const n = 1000
	below := func(elem func(i int) *structpb.Value) lumi.Bag {
		values := make([]*structpb.Value, n)
		for i := range values {
			values[i] = elem(i)
		}
		props := bag(t, minimal)
		bags.Set(&props, "policy", object(strings.Repeat("k ", n), listOfValues(values)))
		return props
	}
	number := func(i int) *structpb.Value { return structpb.NewNumberValue(float64(i)) }
	other := func(i int) *structpb.Value { return structpb.NewNumberValue(float64(i + 1)) }
	unknown := func(int) *structpb.Value { return lumi.NewUnknown() }
	p := testnet.NewNetworkProvider(&networkOps{})
	first, second, third := below(number), below(other), below(unknown)
	for call, make := range map[string]func(ctx context.Context) error{
		"Check": func(ctx context.Context) error {
			_, err := p.Check(ctx, &lumi.CheckRequest{Properties: third})
			return err
		},
		"InspectChange": func(ctx context.Context) error {
			_, err := p.InspectChange(ctx, &lumi.InspectChangeRequest{Old: first, New: second})
			return err
		},
	} {
		if err := make(&endingContext{Context: t.Context(), looks: n / 2}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s returned %v, want context.Canceled", call, err)
		}
		took := allocated(t, func() error { return make(t.Context()) })
		if output := uint64(n * 2 * n); took > 5*output/2 {
			t.Errorf("%s allocated %d bytes, want at most 2.5 times the %d of the paths", call, took, output)
		}
	}
}

// endingContext is a context that is canceled at call number looks of Err.
type endingContext struct {
	context.Context
	looks, looked int
}

func (c *endingContext) Err() error {
	if c.looked++; c.looked >= c.looks {
		return context.Canceled
	}
	return nil
}
