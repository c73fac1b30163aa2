package serve

import (
	"context"
	"errors"
	"log/slog"
	"net"
)

// Serve serves the plugin in this process, for tests. It handles calls like [Main], but without a secret, so the listener
// must not be reachable by other processes: use an in-memory listener, for example. When ctx is done or the client calls
// Cancel, Serve cancels all calls and closes the listener. It returns nil if all calls have ended, and an error otherwise.
func Serve(ctx context.Context, p Plugin, listener net.Listener, log *slog.Logger) error {
	if err := p.validate(); err != nil {
		_ = listener.Close() // The validation error is more important.
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	calls := newCalls(ctx, log, newSecrets())
	server := newGRPC(&p, calls, stop)
	defer server.Stop() // closes connections even if a call has not ended
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		stop(errors.New("the listener failed"))
		return err
	case <-ctx.Done():
		return shutDown(server, calls)
	}
}
