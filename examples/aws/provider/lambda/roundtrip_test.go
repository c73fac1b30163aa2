package lambda

import (
	"testing"

	"github.com/lumi-idl/lumi/internal/testkit/roundtrip"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

func TestRoundTrip(t *testing.T) {
	roundtrip.Test(t, "../../idl", "lambda", map[tokens.Type]func() lumi.Object{
		EventSourceMapping: func() lumi.Object { return new(eventSourceMapping) },
		Function:           func() lumi.Object { return new(function) },
		Permission:         func() lumi.Object { return new(permission) },
	})
}
