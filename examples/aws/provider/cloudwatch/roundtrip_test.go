package cloudwatch

import (
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/roundtrip"
)

func TestRoundTrip(t *testing.T) {
	roundtrip.Test(t, "../../idl", "cloudwatch", map[tokens.Type]func() lumi.Object{
		Alarm:     func() lumi.Object { return new(alarm) },
		Dashboard: func() lumi.Object { return new(dashboard) },
	})
}
