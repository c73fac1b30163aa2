package environment

import (
	"cmp"
	"math"
	"time"

	"github.com/lumi-idl/lumi/deploy/state"
	"github.com/lumi-idl/lumi/deploy/store"
)

// Prunable returns the IDs of finished deployments and of finished runs of task graphs that are not among the latest keep of
// an environment, or that ended before the given time. A keep of 0 and a zero time mean no limit. Cleanups do not count. The
// latest deployment of each module that is done is kept, and so are the deployments that made a version in the graph.
func Prunable(tx store.Tx, environment string, keep int, before time.Time) (ids []int64, err error) {
	e, err := tx.Environment(environment)
	if err != nil {
		return nil, err
	}
	g, err := state.Codec{}.Outline(tx, e)
	if err != nil {
		return nil, err
	}
	needed := map[int64]bool{}
	for _, module := range g.Modules() {
		for _, v := range g.Versions(module) {
			needed[int64(v.Deployment)] = true
		}
	}
	history, err1 := tx.History(environment, 0, math.MaxInt32)
	runs, err2 := tx.Runs(environment, 0, math.MaxInt32)
	latest := map[string]bool{}
	for _, all := range [][]store.Job{history, runs} {
		count := 0
		for _, j := range all {
			if j.Kind != store.Cleanup {
				count++
			}
			kept := j.Kind != store.Tasks && needed[j.Number] || j.Ended.IsZero() || j.State == store.Ask
			if (j.Kind == store.Deploy || j.Kind == store.Destroy) && j.State == store.Done && !latest[j.Module] {
				latest[j.Module], kept = true, true
			}
			if old := keep > 0 && count > keep || j.Ended.Before(before); old && !kept {
				ids = append(ids, j.ID)
			}
		}
	}
	return ids, cmp.Or(err1, err2)
}
