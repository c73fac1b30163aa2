package lambda

import (
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/roundtrip"
)

func TestRoundTrip(t *testing.T) {
	roundtrip.Test(t, "../../idl", "lambda", map[tokens.Type]func() lumi.Object{
		EventSourceMapping: func() lumi.Object { return new(eventSourceMapping) },
		Function:           func() lumi.Object { return new(function) },
		Permission:         func() lumi.Object { return new(permission) },
	})
}
