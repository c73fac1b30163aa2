package serve

import (
	"context"
	"errors"
	"log/slog"
	"net"
)

// Serve serves the plugin in this process. The listener must not be reachable by others, for instance because it is in
// memory, since no secret is used. It is intended for tests, such as those of package providertest, and otherwise
// handles calls as [Main] does. It returns when the context is done or the caller cancels everything, and closes the
// listener. The error is nil if all calls have ended.
func Serve(ctx context.Context, p Plugin, listener net.Listener, log *slog.Logger) error {
	if err := p.validate(); err != nil {
		_ = listener.Close() // An error would not matter to anyone.
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
