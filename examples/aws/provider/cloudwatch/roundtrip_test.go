package cloudwatch

import (
	"testing"

	"github.com/lumi-idl/lumi/internal/testkit/roundtrip"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

func TestRoundTrip(t *testing.T) {
	roundtrip.Test(t, "../../idl", "cloudwatch", map[tokens.Type]func() lumi.Object{
		Alarm:     func() lumi.Object { return new(alarm) },
		Dashboard: func() lumi.Object { return new(dashboard) },
	})
}
