package execute

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/run/journal"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// oldKey returns the value of a step's OldKey that identifies a vertex. oldOf parses it.
func oldKey(r *graph.Resource) string { return fmt.Sprintf("%d %s", r.Deployment, r.URN) }

func oldOf(row store.Step) identity {
	number, u, _ := strings.Cut(row.OldKey, " ")
	deployment, _ := strconv.ParseInt(number, 10, 64)
	return identity{urn.URN(u), graph.Deployment(deployment), row.OldID}
}

type stored struct {
	store.Step
	old, new *graph.Resource
}

// hasResult reports whether the result of the step is known, even if it is partial.
func (s stored) hasResult() bool {
	return s.State == store.Done || s.State == store.Failed && s.new != nil
}

// stored decodes the stored steps of the deployment.
func (x *execution) stored(t *journal.Tx, g *graph.Graph) ([]stored, error) {
	rows, err := t.Steps(x.Job.ID)
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, row := range rows {
		if row.New != "" {
			texts = append(texts, row.New)
		}
	}
	resources, err := x.journal.Codec().Resources(texts)
	if err != nil {
		return nil, err
	}
	all, made := make([]stored, len(rows)), map[identity]*graph.Resource{}
	for i, row := range rows {
		s := stored{Step: row}
		if row.OldKey != "" {
			old := oldOf(row)
			if s.old = made[old]; s.old == nil {
				s.old = g.Find(old.urn, old.deployment, old.id)
			}
			if s.old == nil { // A failed change may have given it another URN.
				s.old = g.WithID(old.urn.Type(), old.id)
			}
		}
		if row.New != "" { // Decode New last, since it may have the same identity as the old resource.
			s.new, resources = resources[0], resources[1:]
			made[identityOf(s.new)] = s.new
		}
		all[i] = s
	}
	return all, nil
}

// fold moves the results of steps into the resource graph without changing its versions. Steps with an unknown outcome
// stay in the store.
func (x *execution) fold(t *journal.Tx) (*graph.Graph, error) {
	g, err := t.Graph()
	if err != nil {
		return nil, err
	}
	all, err := x.stored(t, g)
	if err != nil {
		return nil, err
	}
	var results []graph.Result
	for _, s := range all {
		if s.hasResult() && (s.old != nil || s.new != nil) {
			results = append(results, graph.Result{Old: s.old, New: s.new})
		}
	}
	if len(results) > 0 {
		version := graph.VersionID{Module: x.Job.Module}
		if x.Job.Kind == store.Deploy && !x.isCommitted(g) {
			version.Deployment = graph.Deployment(x.Job.Number)
		}
		g = g.Overlay(version, x.Configuration, results)
	}
	if err := t.SetGraph(g); err != nil {
		return nil, err
	}
	return g, t.DeleteSteps(x.Job.ID, store.Started, store.Unknown)
}
