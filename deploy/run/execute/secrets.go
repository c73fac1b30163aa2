package execute

import (
	"fmt"
	"slices"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/provision"
	"github.com/lumi-idl/lumi/lumigl"
)

// WrapError returns a provisioner's error with the provisioner's name added and secrets masked.
func WrapError(provisioner string, err error, secrets []lumigl.Value) error {
	return fmt.Errorf("provisioner %s: %w", provisioner, provision.Mask(err, secrets...))
}

func (x *execution) secrets(in plan.Input) []lumigl.Value { return Secrets(in, x.Desired, x.graph) }

// Secrets returns all values that may contain secrets from the input, the desired state, and existing resources.
func Secrets(in plan.Input, desired *lumigl.Snapshot, g *graph.Graph) (all []lumigl.Value) {
	for _, v := range slices.Concat(in.New, in.Old, in.Context) {
		if v.Resource != nil {
			all = append(all, v.Resource.Properties())
		}
	}
	if desired != nil {
		for v := range desired.Vertices() {
			all = append(all, v.Properties)
		}
	}
	for _, module := range g.Modules() {
		for _, v := range g.Versions(module) {
			for r := range v.Resources() {
				all = append(all, r.Properties())
			}
		}
	}
	return all
}

// MadeBy returns the input of a provisioner without resources created by another provisioner, which may exist if the
// type's provisioner has changed.
func MadeBy(provisioner string, in plan.Input) plan.Input {
	context := in.Context
	in = in.Map(func(r *graph.Resource) *graph.Resource {
		if r.ID != "" && r.Provisioner != provisioner {
			return nil
		}
		return r
	})
	in.Context = context
	return in
}
