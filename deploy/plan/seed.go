package plan

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"

	"github.com/lumi-idl/lumi/runtime/urn"
)

// collectSeeds finds the seeds of all resources of the module.
func (p *planner) collectSeeds() {
	p.seeds = map[string]bool{}
	for _, v := range p.Graph.Versions(p.module.Name) {
		for r := range v.Resources() {
			p.seeds[string(r.Seed)] = true
		}
	}
	for _, pending := range p.Graph.Pending(p.module.Name) {
		p.seeds[string(pending.Resource.Seed)] = true
	}
}

// newSeed returns what generated values of a resource derive from: one that no resource of the module has, since a number
// such as #1 may have been that of another resource before.
func (p *planner) newSeed(u urn.URN, incarnation int) []byte {
	for ; ; incarnation++ {
		mac := hmac.New(sha256.New, []byte(p.Graph.Lineage))
		mac.Write(binary.BigEndian.AppendUint64([]byte(u), uint64(incarnation)))
		if seed := mac.Sum(nil); !p.seeds[string(seed)] {
			return seed
		}
	}
}
