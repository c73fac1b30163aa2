package ec2

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Memory stands in for Amazon: it keeps security groups as long as the process lives. The zero Memory is empty and
// ready for use, by several goroutines at once.
type Memory struct {
	mu     sync.Mutex
	groups map[string]groupRecord
	made   int
}

// groupRecord is what Amazon knows of a security group. It knows its network by id, and knows nothing of URNs.
type groupRecord struct {
	name, description, vpcID string
	ingress, egress          []SecurityGroupRule
}

// maxRules is how many rules there may be in each direction.
const maxRules = 60

var (
	errNoGroup      = errors.New("InvalidGroup.NotFound")
	errTooManyRules = fmt.Errorf("RulesPerSecurityGroupLimitExceeded: at most %d rules in each direction", maxRules)
)

// createGroup makes a group without rules, as Amazon does: rules take a request of their own.
func (m *Memory) createGroup(name, description, vpcID string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.groups == nil {
		m.groups = map[string]groupRecord{}
	}
	m.made++
	id := fmt.Sprintf("sg-%08x", m.made)
	m.groups[id] = groupRecord{name: name, description: description, vpcID: vpcID}
	return id
}

func (m *Memory) group(id string) (groupRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	g, ok := m.groups[id]
	if !ok {
		return groupRecord{}, errNoGroup
	}
	g.ingress, g.egress = slices.Clone(g.ingress), slices.Clone(g.egress)
	return g, nil
}

// setRules replaces all rules of a group, or none.
func (m *Memory) setRules(id string, ingress, egress []SecurityGroupRule) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	g, ok := m.groups[id]
	switch {
	case !ok:
		return errNoGroup
	case len(ingress) > maxRules || len(egress) > maxRules:
		return errTooManyRules
	}
	g.ingress, g.egress = slices.Clone(ingress), slices.Clone(egress)
	m.groups[id] = g
	return nil
}

func (m *Memory) deleteGroup(id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.groups[id]; !ok {
		return errNoGroup
	}
	delete(m.groups, id)
	return nil
}
