package serve

import (
	"context"
	"errors"
	"log/slog"
	"net"
)

// Serve serves the plugin in this process, for tests such as those of package providertest. Since no secret is used,
// the listener must not be reachable by other processes; use one in memory, for example. Otherwise, Serve handles calls
// as [Main] does. When ctx is done or the client calls Cancel, it closes the listener and returns nil if all calls have
// ended.
func Serve(ctx context.Context, p Plugin, listener net.Listener, log *slog.Logger) error {
	if err := p.validate(); err != nil {
		_ = listener.Close() // Its error is irrelevant.
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	calls := newCalls(ctx, log, newSecrets())
	server := newGRPC(&p, calls, stop)
	defer server.Stop() // closes connections if a call did not end
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
