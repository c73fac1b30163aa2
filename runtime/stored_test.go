package lumi_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"pgregory.net/rapid"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/test/kit/bags"
	"github.com/lumi-idl/lumi/test/kit/must"
	testnet "github.com/lumi-idl/lumi/test/testprovider/net"
)

// FuzzStored passes random stored bags to all calls that take one. The author's Upgrade keeps all values.
func FuzzStored(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(checkOldBag))
}

func TestStored(t *testing.T) {
	rapid.Check(t, checkOldBag)
}

// hoarder implements networks with an Upgrade that keeps all stored values by moving them to other properties.
type hoarder struct {
	*networkOps
	upgrade func(old *lumi.State[*network], stored lumi.Bag)
}

func (h hoarder) Upgrade(_ context.Context, old *lumi.State[*network], stored lumi.Bag) error {
	h.upgrade(old, stored)
	return nil
}

// checkOldBag checks that calls do not modify the stored bag, return only documented errors, and leak no secrets.
func checkOldBag(t *rapid.T) {
	stored, wanted := lumi.BagOf(spoiltBag(t)), bag(t, minimal)
	if rapid.Bool().Draw(t, "left over") {
		bags.Set(&stored, "left", lumi.NewSecret(structpb.NewStringValue(hush)))
	}
	before := proto.CloneOf(stored.Struct())
	moved := rapid.SliceOfN(rapid.SampledFrom(append(propertyNames(), "left")), 0, 3).Draw(t, "moved")
	done := rapid.SliceOfN(rapid.SampledFrom(propertyNames()), 0, 3).Draw(t, "done")
	failure := rapid.SampledFrom([]error{nil, errHalf, lumi.Uncertain(nil), context.Canceled, &lumi.PartialError{}}).Draw(t, "error")
	upgrade := func(old *lumi.State[*network], stored lumi.Bag) {
		for _, name := range moved {
			old.Properties.Policy = []any{old.Properties.Policy, stored.Get(name)}
			if s, ok := stored.Get(name).(string); ok {
				old.Properties.ARN, old.Properties.Tags = s, map[string]string{"a": s}
			}
		}
		old.Done(done...)
	}
	p := testnet.NewNetworkProvider(hoarder{&networkOps{
		check: func(want *lumi.State[*network]) error {
			n, old := want.Properties, want.Old
			n.Comment, n.Tags, n.Policy, n.Rules, n.Code = old.Comment, old.Tags, old.Policy, old.Rules, old.Code
			return nil
		},
		get: func(_ lumi.ID, old *lumi.State[*network]) (*network, error) { return old.Properties, nil },
		update: func(old, want *lumi.State[*network], _ *lumi.Diff) error {
			want.Done(done...)
			return failure
		},
		delete: func(*lumi.State[*network]) error { return nil },
	}, upgrade})
	for call, do := range storedCalls(t, p, stored, wanted) {
		got, err := do()
		var invalid *lumi.InvalidError
		var partial *lumi.PartialError
		switch {
		case errors.As(err, &invalid):
			checkFaults(t, invalid.Faults)
		case errors.As(err, &partial):
			got = partial.Properties
		case err != nil && call != "Update" && !errors.As(err, new(*lumi.OutputError)):
			t.Fatalf("%s returned %v, want nil or an *OutputError", call, err)
		}
		if err != nil && strings.Contains(err.Error(), hush) {
			t.Fatalf("%s returned an error with a secret: %v", call, err)
		}
		if leaks(structpb.NewStructValue(got.Struct())) {
			t.Fatalf("%s returned an unwrapped secret: %v", call, got.Struct())
		}
		if !proto.Equal(before, stored.Struct()) {
			t.Fatalf("%s changed the stored bag to\n%v\nwant\n%v", call, stored.Struct(), before)
		}
	}
}

func TestStoredArchive(t *testing.T) {
	p := testnet.NewNetworkProvider(&networkOps{check: func(want *lumi.State[*network]) error {
		want.Properties.Code = want.Old.Code
		return nil
	}})
	for _, asset := range []string{
		`{"$sig": "$secret", "value": {"$sig": "$asset", "text": "hush!"}}`,
		`{"$sig": "$asset", "text": {"$sig": "$secret", "value": "hush!"}}`,
	} {
		old := bag(t, `{"code": {"$sig": "$archive", "assets": {"a": `+asset+`}}}`)
		resp := must.Get(p.Check(t.Context(), &lumi.CheckRequest{Properties: bag(t, minimal), Old: old}))(t)
		if got := resp.Properties.Struct(); got.Fields["code"] == nil || leaks(structpb.NewStructValue(got)) {
			t.Errorf("%s: unwrapped secret or missing archive: %v", asset, got)
		}
	}
}

// storedCalls returns all calls that take stored properties. Each returns the bag in its response.
func storedCalls(t *rapid.T, p *testnet.NetworkProvider, stored, wanted lumi.Bag) map[string]func() (lumi.Bag, error) {
	return map[string]func() (lumi.Bag, error){
		"Upgrade": func() (lumi.Bag, error) { return p.Upgrade(t.Context(), stored) },
		"Check": func() (lumi.Bag, error) {
			resp, err := p.Check(t.Context(), &lumi.CheckRequest{Properties: wanted, Old: stored})
			return *bagOf(resp, func() *lumi.Bag { return &resp.Properties }), err
		},
		"Get": func() (lumi.Bag, error) {
			resp, err := p.Get(t.Context(), &lumi.GetRequest{Purpose: lumi.Refresh, Old: stored})
			return *bagOf(resp, func() *lumi.Bag { return &resp.Properties }), err
		},
		"InspectChange": func() (lumi.Bag, error) {
			resp, err := p.InspectChange(t.Context(), &lumi.InspectChangeRequest{Old: stored, New: wanted})
			if err != nil {
				return lumi.Bag{}, err
			}
			told := &structpb.Struct{Fields: map[string]*structpb.Value{}}
			for _, c := range resp.Changes {
				told.Fields["old "+string(c.Path)], told.Fields["new "+string(c.Path)] = c.Old, c.New
			}
			return lumi.BagOf(told), nil
		},
		"Update": func() (lumi.Bag, error) {
			replaced := over(t, wanted, `{}`) // a copy whose change requires a replacement
			for _, p := range lumi.Describe(&network{}) {
				if v := stored.Struct().Fields[p.Name]; p.Flags&lumi.Replaces != 0 {
					bags.Set(&replaced, p.Name, v)
				}
			}
			resp, err := p.Update(t.Context(), &lumi.UpdateRequest{ID: "n-1", Old: stored, New: replaced})
			return *bagOf(resp, func() *lumi.Bag { return &resp.Properties }), err
		},
		"Delete": func() (lumi.Bag, error) {
			_, err := p.Delete(t.Context(), &lumi.DeleteRequest{Properties: stored})
			return lumi.Bag{}, err
		},
	}
}

// bagOf returns the bag in a response, or nil if resp is nil.
func bagOf[R any](resp *R, properties func() *lumi.Bag) *lumi.Bag {
	if resp == nil {
		return &lumi.Bag{}
	}
	return properties()
}

// leaks reports whether v contains secret text that is not wrapped.
func leaks(v *structpb.Value) bool {
	if isSecret(v) {
		return false
	}
	for _, elem := range v.GetListValue().GetValues() {
		if leaks(elem) {
			return true
		}
	}
	for _, field := range v.GetStructValue().GetFields() {
		if leaks(field) {
			return true
		}
	}
	return strings.Contains(v.GetStringValue(), hush)
}
