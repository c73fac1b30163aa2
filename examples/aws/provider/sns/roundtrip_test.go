package sns

import (
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/roundtrip"
)

func TestRoundTrip(t *testing.T) {
	roundtrip.Test(t, "../../idl", "sns", map[tokens.Type]func() lumi.Object{
		Subscription: func() lumi.Object { return new(subscription) },
		Topic:        func() lumi.Object { return new(topic) },
	})
}
