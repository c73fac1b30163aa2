package run

import (
	"sync"
	"time"

	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/internal/dag"
	"github.com/lumi-idl/lumi/taskgraph/schedule"
)

// execution is the execution of a run by this process, from claim to end. The fields of the loop belong to one goroutine.
type execution struct {
	*Engine
	*job.Held
	name     string // of the run
	request  Request
	refused  error // why the schedule could not be restored
	schedule *schedule.Schedule

	// The following fields belong to the goroutine that advances the run.
	vertices   []vertex
	names      []string
	tokens     string // the prefix of tokens
	dependents dag.Graph
	left       int     // the number of items that have not ended
	queue      []int32 // items that wait only for a free slot
	again      []int32 // items to restart
	ended      []int32 // vertices whose dependents are not yet notified
	limits     limits
	wrong      map[int32]string // why items failed or are unknown
	halted     int32            // 1 + the item that prevents new tasks from starting, or 0
	stopped    bool             // no new tasks start because of Stop, Cancel or ctx
	now        time.Time
	running    int
	err        error
	// Pending records for the next transaction: rows of ended items, then of items to start; output; and ends.
	rows          []store.TaskRun
	starting      []int32
	lines, events []store.Event

	// The following fields are shared with workers.
	mutex             sync.Mutex
	todo              []int32 // items whose intents are recorded
	outcomes, handled []outcome
	busy              bool // a goroutine is advancing the run
	poked             bool // it must check again
	helping           bool // a worker is about to start
	finished          chan struct{}

	output
}

// vertex is an item or a join of the schedule.
type vertex struct {
	waits   int32 // the number of unfinished dependencies
	blame   int32 // 1 + the item that causes it to be skipped, or 0
	attempt int32
	tries   int8
	status  status
	resumed bool // started by an earlier process
	started time.Time
}

type status uint8

const (
	waiting status = iota
	running
	good // dependents can run
	failed
	unknown
	skipped // a dependency failed or is unknown
)

// outcome is the result of a task.
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
