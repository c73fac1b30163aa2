package iam

import (
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/roundtrip"
)

func TestRoundTrip(t *testing.T) {
	roundtrip.Test(t, "../../idl", "iam", map[tokens.Type]func() lumi.Object{
		Group:     func() lumi.Object { return new(group) },
		Policy:    func() lumi.Object { return new(policy) },
		Role:      func() lumi.Object { return new(role) },
		User:      func() lumi.Object { return new(user) },
		AccessKey: func() lumi.Object { return new(accessKey) },
	})
}
