package job

import (
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
)

// afterlife is the maximum time for which plugins outlive their parent process.
const afterlife = 2 * time.Second

// IsGone reports whether a job has no holder because its lease has expired or its process has exited. now is the time of the
// transaction that has read the job.
func (r *Runner) IsGone(now time.Time, j store.Job) bool {
	return !now.Before(j.Expires) || j.Owner != r.Owner && r.IsDead(j.Owner)
}

// IsFree is like IsGone, but returns false for a short time after a process has exited, until its plugins have exited,
// too.
func (r *Runner) IsFree(now time.Time, j store.Job) bool {
	if !r.IsGone(now, j) || !now.Before(j.Expires) {
		return r.IsGone(now, j)
	}
	seen, _ := r.dead.LoadOrStore(j.Owner, time.Now())
	return time.Since(seen.(time.Time)) >= afterlife
}

// Expires returns the expiration time of a lease that starts with the transaction.
func (t *Tx) Expires() time.Time { return t.Now().Add(t.runner.Lease) }
