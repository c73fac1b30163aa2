package postgres

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// interval is the minimum time between two notifications. Each of them takes a lock of the whole server.
const interval = 20 * time.Millisecond

const channelSuffix = "_changed"

// channel returns the name of the channel for notifications, whose payloads are names of environments.
func (s *Store) channel() string { return s.schema + channelSuffix }

// notify notifies listeners of a change, after the transaction and in the background.
func (s *Store) notify(environment string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed[environment] = true
	if s.notifying == nil {
		done := make(chan struct{})
		s.notifying = done
		go func() {
			defer close(done)
			for s.sendNotifications() {
				time.Sleep(interval)
			}
		}()
	}
}

// sendNotifications sends outstanding notifications. It returns false if there are none.
func (s *Store) sendNotifications() bool {
	s.mu.Lock()
	names := slices.Sorted(maps.Keys(s.changed))
	clear(s.changed)
	if len(names) == 0 {
		s.notifying = nil
	}
	s.mu.Unlock()
	if len(names) == 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, _ = s.pool.Exec(ctx, "SELECT pg_notify($1, name) FROM unnest(CAST($2 AS text[])) AS name", s.channel(), names) // listeners also poll
	return true
}

// Watch implements [store.Store]. It does nothing if connections go through a pooler, which loses notifications.
func (s *Store) Watch(ctx context.Context, f func(environment string)) {
	if s.pooled {
		<-ctx.Done()
		return
	}
	for ctx.Err() == nil {
		s.listen(ctx, f)
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// listen calls f for notifications until ctx is done or the connection breaks.
func (s *Store) listen(ctx context.Context, f func(environment string)) {
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return
	}
	conn := c.Hijack()
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{s.channel()}.Sanitize()); err != nil {
		return
	}
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return
		}
		f(n.Payload)
	}
}
