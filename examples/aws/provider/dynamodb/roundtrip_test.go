package dynamodb

import (
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/roundtrip"
)

func TestRoundTrip(t *testing.T) {
	roundtrip.Test(t, "../../idl", "dynamodb", map[tokens.Type]func() lumi.Object{
		Table: func() lumi.Object { return new(table) },
	})
}
