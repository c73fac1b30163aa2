package execute

import (
	"sync"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// identity identifies the vertex of a resource.
type identity struct {
	urn        urn.URN
	deployment graph.Deployment
	id         string
}

func identityOf(r *graph.Resource) identity { return identity{r.URN, r.Deployment, r.ID} }

// progress tracks the progress of an execution. It is safe for concurrent use.
type progress struct {
	mutex sync.Mutex
	rows  int // number of steps ever stored
	// called contains the numbers of steps whose calls were started by this execution.
	called map[int]bool
	done   map[*plan.Step]bool
	// deleted contains deleted resources. left contains the resources still to be deleted after the module's task, or
	// is nil before it.
	deleted, left map[identity]bool
	failures      []string
}

func newProgress() progress {
	return progress{called: map[int]bool{}, done: map[*plan.Step]bool{}, deleted: map[identity]bool{}}
}

// number returns the number of a new step.
func (p *progress) number() int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.rows++
	return p.rows
}

// setCalled marks the call of a step as started.
func (p *progress) setCalled(number int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.called[number] = true
}

func (p *progress) setDone(s *plan.Step) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.done[s] = true
}

func (p *progress) isDone(s *plan.Step) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.done[s] || !s.IsProvisioned()
}

func (p *progress) setDeleted(r *graph.Resource) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.deleted[identityOf(r)] = true
	delete(p.left, identityOf(r))
}

func (p *progress) isDeleted(r *graph.Resource) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.deleted[identityOf(r)]
}

// leave marks the module's task as done. all lists the resources to delete after it.
func (p *progress) leave(all []graph.Pending) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.left = map[identity]bool{}
	for _, one := range all {
		p.left[identityOf(one.Resource)] = true
	}
}

// isAfterModule reports whether the module's task is done.
func (p *progress) isAfterModule() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.left != nil
}

// isLeft reports whether a resource must still be deleted after the module's task.
func (p *progress) isLeft(r *graph.Resource) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.left[identityOf(r)]
}

// fail records a step's failure for the deployment's message.
func (p *progress) fail(message string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.failures = append(p.failures, message)
}
