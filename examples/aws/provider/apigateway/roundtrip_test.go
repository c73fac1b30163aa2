package apigateway

import (
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/roundtrip"
)

func TestRoundTrip(t *testing.T) {
	roundtrip.Test(t, "../../idl", "apigateway", map[tokens.Type]func() lumi.Object{
		Deployment: func() lumi.Object { return new(deployment) },
		Model:      func() lumi.Object { return new(model) },
		Resource:   func() lumi.Object { return new(resource) },
		RestAPI:    func() lumi.Object { return new(restAPI) },
	})
}
