package sns

import (
	"testing"

	"github.com/lumi-idl/lumi/internal/testkit/roundtrip"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

func TestRoundTrip(t *testing.T) {
	roundtrip.Test(t, "../../idl", "sns", map[tokens.Type]func() lumi.Object{
		Subscription: func() lumi.Object { return new(subscription) },
		Topic:        func() lumi.Object { return new(topic) },
	})
}
