package sqs

import (
	"testing"

	"github.com/lumi-idl/lumi/internal/testkit/roundtrip"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

func TestRoundTrip(t *testing.T) {
	roundtrip.Test(t, "../../idl", "sqs", map[tokens.Type]func() lumi.Object{
		Queue:       func() lumi.Object { return new(queue) },
		QueuePolicy: func() lumi.Object { return new(queuePolicy) },
	})
}
