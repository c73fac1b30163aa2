package dynamodb

import (
	"testing"

	"github.com/lumi-idl/lumi/internal/testkit/roundtrip"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

func TestRoundTrip(t *testing.T) {
	roundtrip.Test(t, "../../idl", "dynamodb", map[tokens.Type]func() lumi.Object{
		Table: func() lumi.Object { return new(table) },
	})
}
