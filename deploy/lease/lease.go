// Package lease decides which process may run a deployment. A process holds it for a limited time, and renews that while it
// lives. Each claim has a new fencing token, which every transaction of the holder checks with [store.Tx.Touch]; so one that
// was taken for dead cannot write any more.
package lease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
)

// Holder is a process that claims deployments. It may be used concurrently.
type Holder struct {
	// Owner identifies the process: by default its host, its ID and when it started.
	Owner string
	// IsDead reports whether the process with an identity is known to have ended. By default, that is found out on this host.
	IsDead func(owner string) bool
	// Length is how long a deployment stays claimed after its holder has disappeared: 30 seconds by default.
	Length time.Duration

	dead sync.Map // when owners were first seen dead
}

// New returns a holder. What is zero has its default.
func New(owner string, isDead func(owner string) bool, length time.Duration) *Holder {
	h := &Holder{Owner: cmp.Or(owner, self()), IsDead: isDead, Length: cmp.Or(length, 30*time.Second)}
	if isDead == nil {
		h.IsDead = hasEnded
	}
	return h
}

// afterlife is how long the plugins of a process that has ended may live on.
const afterlife = 2 * time.Second

// IsGone reports whether nothing holds a deployment: its lease has expired, or the process has ended.
func (h *Holder) IsGone(d store.Job) bool {
	return !time.Now().Before(d.Expires) || d.Owner != h.Owner && h.IsDead(d.Owner)
}

// IsFree is like IsGone, except that the lease of a process that has ended holds for as long as its plugins may need to end, too.
func (h *Holder) IsFree(d store.Job) bool {
	if !h.IsGone(d) || !time.Now().Before(d.Expires) {
		return h.IsGone(d)
	}
	seen, _ := h.dead.LoadOrStore(d.Owner, time.Now())
	return time.Since(seen.(time.Time)) >= afterlife
}

// Claim makes this process the holder of a deployment, with a new fencing token.
func (h *Holder) Claim(d *store.Job) {
	d.Fence++
	d.Owner, d.Expires = h.Owner, time.Now().Add(h.Length).UTC()
}

// Keep calls renew until ctx is done, or the lease, which expires at first, is lost. Then the error wraps [store.ErrFenced].
func (h *Holder) Keep(ctx context.Context, expires time.Time, renew func(expires time.Time) error) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(h.Length / 3):
		}
		next := time.Now().Add(h.Length).UTC()
		err := renew(next)
		if err == nil {
			expires = next
		}
		if errors.Is(err, store.ErrFenced) || err != nil && !time.Now().Before(expires) {
			return fmt.Errorf("%w: %w", store.ErrFenced, err)
		}
	}
}
