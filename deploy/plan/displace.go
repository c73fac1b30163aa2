package plan

import (
	"fmt"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// displace sets the displaces of steps: a resource cannot be created under the physical name of another one until that
// is deleted. It records a fault if the other one is not deleted because it is not a target.
func (p *planner) displace(changes []*Step) {
	type physicalName struct {
		of   tokens.Type
		name string
	}
	created := map[physicalName][]*Step{}
	changed := map[*graph.Resource]*Step{}
	for _, s := range changes {
		changed[s.Old] = s
		name, ok := s.New.Checked.Get(nameProperty).Text()
		if t := s.New.Type(); ok && (s.Kind == Create || s.Kind == Replace) && p.types[t].Named {
			created[physicalName{t, name}] = append(created[physicalName{t, name}], s)
		}
	}
	if len(created) == 0 {
		return
	}
	seen := map[*graph.Resource]bool{nil: true}
	for _, v := range vertices(p.Graph, p.module.Name) {
		r := v.Resource
		if seen[r] || r.IsRead() || r.Gone() {
			continue
		}
		seen[r] = true
		name, _ := r.Checked.Get(nameProperty).Text()
		for _, s := range created[physicalName{p.typeOf(r), name}] {
			if s.Old != r && p.types[s.New.Type()].sameName(s.New.Checked, r.Checked) {
				p.displaceOne(s, r, changed[r])
			}
		}
	}
}

// displaceOne handles another resource with the physical name of a resource to be created by s. by is the step that
// changes it, or nil.
func (p *planner) displaceOne(s *Step, other *graph.Resource, by *Step) {
	switch {
	case by != nil && by.Kind == Same && len(p.Targets) > 0:
		p.faults[-1] = append(p.faults[-1], Fault{s.URN, s.New.Source, fmt.Sprintf(
			"%s has the same physical name: add it to the targets", other.URN.Name())})
	case by != nil && by.Kind != Replace: // The provider reports that the program uses a name twice.
	case other.Flag("retainOnDelete"):
		p.faults[-1] = append(p.faults[-1], Fault{s.URN, s.New.Source, fmt.Sprintf(
			`the option "retainOnDelete" of %s, which has the same physical name, keeps it: choose another name`, other.URN.Name())})
	default:
		s.displaces = append(s.displaces, other)
		if by != nil && !by.DeleteFirst {
			by.DeleteFirst, by.Reasons = true, append(by.Reasons, displacedBy(s))
		}
	}
}
