package run

import (
	"sync"
	"time"

	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/internal/dag"
	"github.com/lumi-idl/lumi/taskgraph/schedule"
)

// execution is the run of a run by this process, from its claim until it ends. One goroutine has the fields of the loop.
type execution struct {
	*Engine
	*job.Held
	name     string // of the run
	request  Request
	refused  error // why there is no schedule
	schedule *schedule.Schedule

	// What follows is of the goroutine that advances the run.
	vertices   []vertex
	names      []string
	tokens     string // what tokens start with
	dependents dag.Graph
	left       int     // how many items have not ended
	queue      []int32 // items that wait for nothing but a free slot
	again      []int32 // items to be begun anew
	ended      []int32 // vertices of which others do not know yet
	limits     limits
	wrong      map[int32]string // why items failed or are unknown
	halted     int32            // 1 + the item because of which no new tasks start, or 0
	stopped    bool             // no new tasks start because of Stop, Cancel or ctx
	now        time.Time
	running    int
	err        error
	// What the next transaction records: rows of items that ended, then those of items to be started; output, and ends.
	rows          []store.TaskRun
	starting      []int32
	lines, events []store.Event

	// Workers share what follows.
	mutex             sync.Mutex
	todo              []int32 // items whose intents are recorded
	outcomes, handled []outcome
	busy              bool // a goroutine advances the run
	poked             bool // it is to look again
	helping           bool // a worker is about to start
	finished          chan struct{}

	output
}

// vertex is an item or a join of the schedule.
type vertex struct {
	waits   int32 // for how many vertices
	blame   int32 // 1 + the item because of which it is skipped, or 0
	attempt int32
	tries   int8
	status  status
	resumed bool // an earlier process has started it
	started time.Time
}

type status uint8

const (
	waiting status = iota
	running
	good // what waits for it goes on
	failed
	unknown
	skipped // because of one that failed or is unknown
)

// outcome is how a task ended.
type outcome struct {
	item int32
	err  error
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
