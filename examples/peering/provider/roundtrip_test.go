package peering

import (
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/roundtrip"
)

func TestRoundTrip(t *testing.T) {
	roundtrip.Test(t, "../idl", "index", map[tokens.Type]func() lumi.Object{
		Connection: func() lumi.Object { return new(connection) },
	})
}
