package serve

import (
	"context"
	"path"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/lumi-idl/lumi/runtime/lumirpc"
)

// turn records whether the handshake is complete, and rejects other calls before it.
type turn struct{ greeted atomic.Bool }

// greet completes the handshake with an engine. It returns a refusal if the engine's protocol version is not supported.
func (t *turn) greet(version int32) error {
	if version != lumirpc.ProtocolVersion {
		return refuse(codes.FailedPrecondition,
			"the engine speaks protocol version %d, the plugin speaks version %d: update the older one",
			version, lumirpc.ProtocolVersion)
	}
	t.greeted.Store(true)
	return nil
}

// inTurn is a [grpc.UnaryServerInterceptor] that rejects calls before the handshake.
func (t *turn) inTurn(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if method := path.Base(info.FullMethod); !t.greeted.Load() && method != "Handshake" {
		return nil, outOfTurn(method)
	}
	return handler(ctx, req)
}

func (t *turn) serveEvents(e *events, stream grpc.ServerStreamingServer[lumirpc.Event]) error {
	if !t.greeted.Load() {
		return outOfTurn("Events").Err()
	}
	return e.serve(stream)
}

func outOfTurn(method string) refusal {
	return refuse(codes.FailedPrecondition, "%s was called before Handshake", method)
}
