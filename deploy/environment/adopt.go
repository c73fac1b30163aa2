package environment

import (
	"cmp"
	"math"
	"time"

	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/store"
)

// adopted is the question of jobs that ran when the state was copied.
const adopted = "it was running when the state was copied, and its calls may have taken effect since: check the resources first"

// Adopt takes all unfinished jobs in a copied store away from their holders, which belong to the original. Jobs that were
// running become ASK; Adopt returns them.
func Adopt(tx store.Tx) (asks []store.Job, err error) {
	environments, err := tx.Environments()
	for i := 0; err == nil && i < len(environments); i++ {
		name := environments[i].Name
		queue, err1 := tx.Queue(name)
		runs, err2 := tx.Runs(name, 0, math.MaxInt32)
		err = cmp.Or(err1, err2)
		for _, d := range append(queue, runs...) {
			if err != nil || d.State.IsFinal() {
				continue
			}
			d.Fence++
			d.Owner, d.Expires = "", time.Time{}
			if d.State == store.Running || d.State == store.Aborting {
				d.State, d.Message = store.Ask, adopted
				asks = append(asks, d)
				err = tx.AddEvents(name, []store.Event{{
					Time: tx.Now(), Deployment: d.ID, Name: job.Name(d), State: d.State, Message: d.Message,
				}})
			}
			err = cmp.Or(err, tx.PutJob(d))
		}
	}
	return asks, err
}
