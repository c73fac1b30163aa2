package run

import (
	"sync"
	"time"

	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/internal/dag"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
	"github.com/lumi-idl/lumi/taskgraph/schedule"
)

// execution is the execution of a run by this process, from the time it is claimed until it ends.
type execution struct {
	*Engine
	*job.Held
	name     string // display name of the run
	request  Request
	refused  error // error that prevented restoring the schedule
	schedule *schedule.Schedule

	// The following fields belong to the goroutine that is advancing the run.
	vertices   []vertex
	names      []string
	tokens     string // prefix of tokens
	dependents dag.Graph
	left       int     // number of items that have not ended
	queue      []int32 // items waiting only for a free slot
	again      []int32 // items to restart
	ended      []int32 // vertices whose dependents have not been notified yet
	limits     limits
	windows    *windows
	wrong      map[int32]string // reasons why items failed or are unknown
	halted     int32            // 1 + index of the item that prevents new tasks from starting, or 0
	stopped    bool             // whether Stop, Cancel, or ctx prevents new tasks from starting
	now        time.Time
	running    int
	err        error
	// Records for the next transaction: rows of ended items followed by rows of items to start, output, and end events.
	rows          []store.TaskRun
	starting      []int32
	lines, events []store.Event

	// The following fields are shared with workers.
	mutex             sync.Mutex
	todo              []int32 // items that have been recorded and can run
	outcomes, handled []outcome
	busy              bool // whether a goroutine is advancing the run
	poked             bool // whether that goroutine must check again
	helping           bool // whether a worker is starting
	finished          chan struct{}
	reading           sync.Mutex // protects values
	values            inventory.Data

	output
}

// vertex is an item or a join of the schedule.
type vertex struct {
	waits   int32 // number of unfinished dependencies
	blame   int32 // 1 + index of the item that causes it to be skipped, or 0
	attempt int32
	tries   int8
	status  status
	resumed bool // whether an earlier process started it
	started time.Time
}

type status uint8

const (
	waiting status = iota
	running
	good // dependents can run
	failed
	unknown
	skipped // a dependency failed or its outcome is unknown
)

// outcome is the result of executing a task.
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
