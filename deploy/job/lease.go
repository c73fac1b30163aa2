package job

import (
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
)

// afterlife is the maximum time for which plugins outlive their parent process.
const afterlife = 2 * time.Second

// IsGone reports whether a job has no holder because its lease has expired or its process has exited.
func (r *Runner) IsGone(j store.Job) bool {
	return !time.Now().Before(j.Expires) || j.Owner != r.Owner && r.IsDead(j.Owner)
}

// IsFree is like IsGone, but returns false for a short time after a process has exited, until its plugins have exited,
// too.
func (r *Runner) IsFree(j store.Job) bool {
	if !r.IsGone(j) || !time.Now().Before(j.Expires) {
		return r.IsGone(j)
	}
	seen, _ := r.dead.LoadOrStore(j.Owner, time.Now())
	return time.Since(seen.(time.Time)) >= afterlife
}

// Expires returns the expiration time of a lease that starts now.
func (r *Runner) Expires() time.Time { return time.Now().Add(r.Lease).UTC() }
