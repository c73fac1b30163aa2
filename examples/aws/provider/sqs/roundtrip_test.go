package sqs

import (
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/roundtrip"
)

func TestRoundTrip(t *testing.T) {
	roundtrip.Test(t, "../../idl", "sqs", map[tokens.Type]func() lumi.Object{
		Queue:       func() lumi.Object { return new(queue) },
		QueuePolicy: func() lumi.Object { return new(queuePolicy) },
	})
}
