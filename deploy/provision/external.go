package provision

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/provisioner"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// External is a provisioner implemented by a plugin. Each call starts a new process, so that provisioners cannot rely
// on in-memory state.
type External struct {
	// Name is the provisioner's name.
	Name string
	// Command returns the command that starts the plugin.
	Command func(name string) (plugin.Command, error)
}

var _ plan.Provisioner = (*External)(nil)

// Plan implements [plan.Provisioner].
func (e *External) Plan(ctx context.Context, in plan.Input) (d plan.Details, err error) {
	err = e.call(ctx, func(ctx context.Context, p provisioner.Provisioner) error {
		planned, err := p.Plan(ctx, changeOf(in))
		if err == nil {
			d = plan.Details{Text: planned.Text, Tasks: planned.Tasks}
		}
		return err
	})
	return d, err
}

// Provision implements [plan.Provisioner].
func (e *External) Provision(ctx context.Context, in plan.Input) (token string, err error) {
	err = e.call(ctx, func(ctx context.Context, p provisioner.Provisioner) (err error) {
		token, err = p.Provision(ctx, changeOf(in))
		return err
	})
	if len(token) > lumirpc.MaxToken {
		return "", fmt.Errorf("returned a token of %d bytes: must be at most %d", len(token), lumirpc.MaxToken)
	}
	return token, err
}

// Status implements [plan.Provisioner].
func (e *External) Status(ctx context.Context, token string) (s plan.Status, err error) {
	err = e.call(ctx, func(ctx context.Context, p provisioner.Provisioner) error {
		status, err := p.Status(ctx, token)
		if err != nil {
			return err
		}
		s = plan.Status{State: plan.State(status.State), Message: status.Message, Metadata: map[string]lumigl.Value{}}
		for key, metadata := range status.Metadata {
			s.Metadata[key] = valueOf(metadata)
		}
		return nil
	})
	return s, err
}

// call starts the plugin, calls f, and stops the plugin. If ctx is done, it stops the plugin gracefully, so that it can
// still answer.
func (e *External) call(ctx context.Context, f func(context.Context, provisioner.Provisioner) error) error {
	command, err := e.Command(e.Name)
	if err != nil {
		return &plan.UnreachedError{Err: err}
	}
	p, err := plugin.StartProvisioner(ctx, command)
	if err != nil {
		return &plan.UnreachedError{Err: cmp.Or(context.Cause(ctx), err)}
	}
	defer p.Close() //nolint:errcheck // already answered
	if p.Name != e.Name && !command.JSON {
		return &plan.UnreachedError{Err: fmt.Errorf("%s is provisioner %q: rename it to %s%[2]s", command.Path, p.Name, lumirpc.ProvisionerPrefix)}
	}
	defer context.AfterFunc(ctx, func() { _ = p.Close() })()
	err = f(context.WithoutCancel(ctx), p)
	cause := context.Cause(ctx)
	if err == nil || cause == nil {
		return err
	}
	if ended := (*plugin.Error)(nil); errors.As(err, &ended) && ended.Code != codes.Unknown { // The plugin gave no reason of its own.
		return cause
	}
	return fmt.Errorf("%w: %w", cause, err)
}

// changeOf converts an input to a change.
func changeOf(in plan.Input) *provisioner.Change {
	c := &provisioner.Change{Environment: in.Environment, Module: in.Module, Task: in.Task}
	for _, list := range []struct {
		from []plan.Vertex
		to   *[]*provisioner.Resource
	}{{in.New, &c.New}, {in.Old, &c.Old}, {in.Context, &c.Context}} {
		for _, v := range inOrder(list.from) {
			if v.Version != nil {
				*list.to = append(*list.to, versionOf(in.Environment, v.Version))
			} else {
				*list.to = append(*list.to, resourceOf(v.Resource))
			}
		}
	}
	return c
}

func inOrder(vertices []plan.Vertex) (all []plan.Vertex) {
	byURN, seen := map[urn.URN][]plan.Vertex{}, map[plan.Vertex]bool{}
	for _, v := range vertices {
		if v.Resource != nil {
			byURN[v.Resource.URN] = append(byURN[v.Resource.URN], v)
		}
	}
	var add func([]plan.Vertex)
	add = func(vertices []plan.Vertex) {
		for _, v := range vertices {
			if seen[v] {
				continue
			}
			if seen[v] = true; v.Resource != nil {
				for _, u := range v.Resource.Dependencies {
					add(byURN[u])
				}
			}
			all = append(all, v)
		}
	}
	add(vertices)
	return all
}

func resourceOf(r *graph.Resource) *provisioner.Resource {
	one := &provisioner.Resource{Key: r.Key(), URN: r.URN, Type: r.Type(), Dependencies: r.Dependencies}
	properties := r.NamedInputs() // including references to unknown values
	switch {
	case r.Provisioner == "" && r.ID != "":
		one.ID, properties = r.ID, r.Properties()
	case !properties.Exists():
		properties = r.Checked
	}
	one.Properties, _ = plainOf(properties).(map[string]any)
	one.Metadata, _ = plainOf(r.Metadata).(map[string]any)
	return one
}

// versionOf returns a version of a module with its provided values.
func versionOf(environment string, v *graph.Version) *provisioner.Resource {
	provides := map[string]any{}
	for _, p := range v.Outputs() {
		provides[p.Name] = plainOf(p.Result)
	}
	u, _ := urn.Format(urn.Parts{
		Environment: environment, Package: v.Module, Module: "index", Type: lumigl.ModuleType, Name: v.Module,
	})
	return &provisioner.Resource{
		Key: v.String(), URN: u, Type: lumigl.ModuleType, Properties: provisioner.Properties{"provides": provides},
	}
}
