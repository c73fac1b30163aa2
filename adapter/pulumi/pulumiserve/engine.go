package pulumiserve

import (
	"context"
	"log/slog"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// logTime is the maximum time for sending an event to the engine, which usually takes less than a millisecond.
const logTime = time.Second

// connect sets the engine that gets the events, unless it is known already.
func (s *server) connect(address string) error {
	if s.engine.Load() != nil || address == "" {
		return nil
	}
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err == nil && !s.engine.CompareAndSwap(nil, conn) {
		return conn.Close()
	}
	return err
}

// log returns a function that sends the events of a call to the engine. Errors become warnings, since only the outcome of a call is a
// reason for the engine to stop.
func log(ctx context.Context, engine *grpc.ClientConn, urn string) func(lumi.Event) {
	ctx = context.WithoutCancel(ctx)
	return func(event lumi.Event) {
		r := &pulumirpc.LogRequest{Urn: urn, Message: event.Message, Ephemeral: event.Progress, Severity: pulumirpc.LogSeverity_WARNING}
		switch {
		case event.Level < slog.LevelInfo:
			r.Severity = pulumirpc.LogSeverity_DEBUG
		case event.Level < slog.LevelWarn:
			r.Severity = pulumirpc.LogSeverity_INFO
		}
		ctx, cancel := context.WithTimeout(ctx, logTime)
		defer cancel()
		_, _ = pulumirpc.NewEngineClient(engine).Log(ctx, r) // An engine that is gone needs no events.
	}
}

// watch returns when nothing answers at the engine's address any more.
func watch(engine *grpc.ClientConn) {
	for {
		engine.Connect()
		state := engine.GetState()
		if state == connectivity.TransientFailure || !engine.WaitForStateChange(context.Background(), state) {
			return
		}
	}
}
