package serve

import (
	"context"
	"io"
	"maps"
	"slices"
	"sync"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/internal/bagrpc"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// secrets holds the secrets of the configuration and of calls in flight.
type secrets struct {
	configured *wire.Secrets

	mu    sync.Mutex
	calls map[*wire.Secrets]struct{}
}

func newSecrets() *secrets {
	return &secrets{configured: wire.NewSecrets(nil), calls: map[*wire.Secrets]struct{}{}}
}

// begin returns a context with the secrets of a call. They are masked in the log until end is called. Secrets of the
// configuration remain masked.
func (s *secrets) begin(ctx context.Context, req any) (_ context.Context, end func()) {
	call := s.configured
	if _, configure := req.(*bagrpc.ConfigureRequest); !configure {
		call = wire.NewSecrets(s.configured)
	}
	ctx = wire.WithSecrets(ctx, call)
	noteRequest(ctx, req)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[call] = struct{}{}
	return ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.calls, call)
	}
}

// noteRequest registers the secrets in the request of a provisioner. Those of a provider are registered once it is decoded.
func noteRequest(ctx context.Context, req any) {
	if r, ok := req.(interface{ GetChange() *lumirpc.GraphChange }); ok {
		for _, of := range slices.Concat(r.GetChange().GetNew(), r.GetChange().GetOld(), r.GetChange().GetContext()) {
			lumi.NoteSecrets(ctx, lumi.BagOf(of.GetProperties()))
			lumi.NoteSecrets(ctx, lumi.BagOf(of.GetMetadata()))
		}
	}
}

// maskedLog is a writer that masks secrets.
type maskedLog struct {
	*secrets
	to io.Writer
}

// Write implements [io.Writer].
func (l maskedLog) Write(data []byte) (int, error) {
	l.mu.Lock()
	all := append(slices.Collect(maps.Keys(l.calls)), l.configured)
	l.mu.Unlock()
	if _, err := io.WriteString(l.to, wire.Mask(string(data), all...)); err != nil {
		return 0, err
	}
	return len(data), nil
}
