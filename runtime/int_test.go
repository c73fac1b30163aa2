//go:build !386 && !arm

package lumi_test

import (
	"errors"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/test/kit/bags"
	"github.com/lumi-idl/lumi/test/kit/must"
	feature "github.com/lumi-idl/lumi/test/testprovider"
)

type pool = feature.Pool_

// poolOps fails the test if an operation is called.
type poolOps struct{ feature.PoolProviderOps }

const minimalPool = `{"offset": -1, "ports": [80], "zones": {"a": 0}, "serial": "1", "used": 2, "ranks": [0]}`

func TestIntRoundTrip(t *testing.T) {
	var p pool
	must.Do(t, lumi.Decode(with(t, minimalPool, `{"used": null, "ranks": null}`), &p))
	p.Used = 2
	if p.Offset != -1 || p.Ports[0] != 80 {
		t.Errorf("Decode returned %+v", p)
	}
	if *p.Size != 3 || float64(*p.Limit) != 1<<53-1 {
		t.Errorf("defaults: size = %d, limit = %d, want 3 and 2^53-1", *p.Size, *p.Limit)
	}
	encoded := must.Get(lumi.Encode(&p))(t)
	if got := encoded.Struct().Fields["used"]; got.GetNumberValue() != 2 {
		t.Errorf("used is encoded as %v, want the number 2", got)
	}
}

// A provider that returns an id beyond 2^53 must fail instead of rounding it.
func TestIntTooLarge(t *testing.T) {
	_, err := lumi.Encode(&pool{Ports: []int{1}, Zones: map[string]feature.Rank{"a": 1}, Used: 1 << 53, Ranks: []int{-1 << 53}})
	const want = "the provider returned an invalid result: " +
		"used: must be from -9007199254740991 to 9007199254740991, found 9007199254740992\n" +
		"ranks[0]: must be from -9007199254740991 to 9007199254740991, found -9007199254740992"
	if err == nil || err.Error() != want || !errors.As(err, new(*lumi.OutputError)) {
		t.Errorf("Encode: %v\nwant %s", err, want)
	}
}

// State stored when a property was a float64 is never truncated.
func TestIntStoredFraction(t *testing.T) {
	p := feature.NewPoolProvider(poolOps{})
	old := bag(t, minimalPool)
	bags.Set(&old, "used", structpb.NewNumberValue(1.5))
	_, err := p.Delete(t.Context(), &lumi.DeleteRequest{Properties: old})
	const want = "used: must be a whole number, found 1.5"
	if err == nil || err.Error() != want || !errors.As(err, new(*lumi.InvalidError)) {
		t.Errorf("Delete: %v\nwant %s", err, want)
	}
}
