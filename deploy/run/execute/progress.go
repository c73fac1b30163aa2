package execute

import (
	"sync"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// identity tells the vertices of resources apart.
type identity struct {
	urn        urn.URN
	deployment graph.Deployment
	id         string
}

func identityOf(r *graph.Resource) identity { return identity{r.URN, r.Deployment, r.ID} }

// progress is what an execution has done so far. It may be used concurrently.
type progress struct {
	mutex sync.Mutex
	rows  int // how many steps the store has or had
	// called has the numbers of the steps whose calls this execution makes or made.
	called map[int]bool
	done   map[*plan.Step]bool
	// deleted holds what was deleted, left what is deleted after the task of the module; it is nil before.
	deleted, left map[identity]bool
	failures      []string
}

func newProgress() progress {
	return progress{called: map[int]bool{}, done: map[*plan.Step]bool{}, deleted: map[identity]bool{}}
}

// number returns the number of another step.
func (p *progress) number() int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.rows++
	return p.rows
}

// setCalled notes that the call of a step is made.
func (p *progress) setCalled(number int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.called[number] = true
}

// setDone notes that a step is done.
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

// setDeleted notes that a resource was deleted.
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

// leave notes that the task of the module is done, and what is to be deleted after it.
func (p *progress) leave(all []graph.Pending) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.left = map[identity]bool{}
	for _, one := range all {
		p.left[identityOf(one.Resource)] = true
	}
}

// isAfterModule reports whether the task of the module is done.
func (p *progress) isAfterModule() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.left != nil
}

// isLeft reports whether a resource is still to be deleted after the task of the module.
func (p *progress) isLeft(r *graph.Resource) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.left[identityOf(r)]
}

// fail notes why a step failed.
func (p *progress) fail(message string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.failures = append(p.failures, message)
}
