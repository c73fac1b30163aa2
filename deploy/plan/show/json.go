package show

import (
	"encoding/json"
	"io"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/policy"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/diff"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// planJSON is the JSON form of a plan, described in docs/plan.md and docs/schema/plan.schema.json. Version is
// incremented when a member is removed or changes meaning, but not when one is added.
type planJSON struct {
	Version     int                 `json:"version"`
	Purpose     string              `json:"purpose"`
	Module      string              `json:"module"`
	Environment string              `json:"environment"`
	Deployment  graph.Deployment    `json:"deployment,omitempty"`
	Ref         string              `json:"ref"`
	Waits       []map[string]string `json:"waits"`
	Steps       []stepJSON          `json:"steps"`
	Provides    json.RawMessage     `json:"provides"`
	Config      json.RawMessage     `json:"config,omitempty"`
	Notes       []note              `json:"notes"`
	Cleanups    []map[string]any    `json:"cleanups"`
	Moves       []map[string]string `json:"moves"`
	Details     []plan.TaskDetails  `json:"details,omitempty"`
	Policy      []policy.Finding    `json:"policy,omitempty"`
	Totals      map[string]int      `json:"totals"`
	Digest      string              `json:"digest"`
}

type stepJSON struct {
	Kind        string          `json:"kind"`
	URN         urn.URN         `json:"urn"`
	OldURN      urn.URN         `json:"oldUrn,omitempty"`
	ID          string          `json:"id,omitempty"`
	Source      string          `json:"source,omitempty"`
	Possible    bool            `json:"possible,omitempty"`
	DeleteFirst bool            `json:"deleteFirst,omitempty"`
	Replaced    bool            `json:"replaced,omitempty"`
	NotCompared bool            `json:"notCompared,omitempty"`
	Waits       bool            `json:"waits,omitempty"`
	Reasons     []string        `json:"reasons,omitempty"`
	Changes     json.RawMessage `json:"changes,omitempty"`
}

// WriteJSON writes a plan to w as JSON. Secrets are omitted.
func WriteJSON(w io.Writer, p *plan.Plan, o Options) error {
	out := planJSON{
		Version: 1, Purpose: purposes[p.Purpose].name, Module: p.Module, Environment: p.Environment,
		Deployment: p.Deployment, Waits: []map[string]string{}, Steps: []stepJSON{}, Notes: notes(p),
		Cleanups: []map[string]any{}, Moves: []map[string]string{}, Totals: map[string]int{}, Digest: p.Digest, Details: o.Details, Policy: o.Findings,
	}
	for _, wait := range o.Waits {
		out.Waits = append(out.Waits, map[string]string{"for": wait.For.Name(), "reason": wait.Reason})
	}
	compared := []*diff.Resource{provides(p), config(p)}
	for _, s := range p.Steps {
		if !s.Replaced {
			out.Totals[kindOf(s).String()]++
		}
		if kindOf(s) != plan.Same {
			out.Steps = append(out.Steps, stepOf(s))
			compared = append(compared, changes(s))
		}
	}
	data := &lumigl.Snapshot{} // used to choose a reference tag that is not a key in the data
	for _, r := range compared {
		data.Pending.Deletes = append(data.Pending.Deletes, r.Old, r.New)
	}
	out.Ref = lumigl.TagOf(data)
	out.Provides = compared[0].JSON(out.Ref)
	if len(compared[1].Changes) > 0 {
		out.Config = compared[1].JSON(out.Ref)
	}
	for i, r := range compared[2:] {
		out.Steps[i].Changes = r.JSON(out.Ref)
	}
	for _, c := range p.Cleanups {
		steps := []stepJSON{}
		for _, s := range c.Steps() {
			steps = append(steps, stepOf(s))
		}
		out.Cleanups = append(out.Cleanups, map[string]any{"module": c.Module, "steps": steps})
	}
	for _, m := range p.Moves {
		out.Moves = append(out.Moves, map[string]string{"from": m.Old.Key(), "to": m.New.Key()})
	}
	text, err := term.JSON(out)
	if err == nil {
		_, err = w.Write(append(text, '\n'))
	}
	return err
}

// stepOf returns the JSON form of a step without its property changes.
func stepOf(s *plan.Step) stepJSON {
	one := stepJSON{
		Kind: kindOf(s).String(), URN: s.URN, ID: idOf(s), Possible: s.Possible, DeleteFirst: s.DeleteFirst,
		Replaced: s.Replaced, NotCompared: s.NotCompared, Waits: s.Waits(), Reasons: s.Reasons,
	}
	if s.Old != nil && s.Old.URN != s.URN {
		one.OldURN = s.Old.URN
	}
	if s.New != nil {
		one.Source = s.New.Source
	}
	return one
}
