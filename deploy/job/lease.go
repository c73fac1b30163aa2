package job

import (
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
)

// afterlife is how long the plugins of a process that has ended may live on.
const afterlife = 2 * time.Second

// IsGone reports whether nothing holds a job: its lease has expired, or the process has ended.
func (r *Runner) IsGone(j store.Job) bool {
	return !time.Now().Before(j.Expires) || j.Owner != r.Owner && r.IsDead(j.Owner)
}

// IsFree is like IsGone, except that the lease of a process that has ended holds for as long as its plugins may need to end, too.
func (r *Runner) IsFree(j store.Job) bool {
	if !r.IsGone(j) || !time.Now().Before(j.Expires) {
		return r.IsGone(j)
	}
	seen, _ := r.dead.LoadOrStore(j.Owner, time.Now())
	return time.Since(seen.(time.Time)) >= afterlife
}

// Expires returns when a lease that begins now expires.
func (r *Runner) Expires() time.Time { return time.Now().Add(r.Lease).UTC() }
