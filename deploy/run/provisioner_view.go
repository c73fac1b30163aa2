package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/provision"
	"github.com/lumi-idl/lumi/deploy/run/execute"
	"github.com/lumi-idl/lumi/lumigl"
)

// Details returns the provisioners' plans. It returns nil for an idle plan. If some provisioners fail, it returns the
// details of the others and a *[plan.Error] that names the failed ones.
func (e *Engine) Details(ctx context.Context, p Planned) (all []plan.TaskDetails, err error) {
	if p.Idle {
		return nil, nil
	}
	var wrong plan.Error
	for i, in := range p.Inputs() {
		task := p.Tasks[i]
		in = execute.MadeBy(task.Provisioner, in)
		provisioner := e.Provisioners[task.Provisioner]
		if provisioner == nil {
			continue
		}
		secrets := execute.Secrets(in, p.request.Desired, p.Transition.Graph)
		d, err := provisioner.Plan(provision.WithSecrets(ctx, secrets...), in)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			message := fmt.Sprintf("%s: %v", p.Module, execute.WrapError(task.Provisioner, err, secrets))
			wrong.Faults = append(wrong.Faults, plan.Fault{Message: message})
			continue
		}
		masked := func(text string) string { return provision.Mask(errors.New(text), secrets...).Error() }
		d.Text = masked(d.Text)
		for i, further := range d.Tasks {
			d.Tasks[i] = masked(further)
		}
		all = append(all, plan.TaskDetails{Task: task.Number, Provisioner: task.Provisioner, Details: d})
	}
	return all, orNil(&wrong)
}

// refusals lists the options that provisioners do not support and the reason.
var refusals = []struct{ option, why string }{
	{"import", "cannot import"},
	{"retainOnDelete", "deletes resources that leave the program"},
	{"replaceOnChanges", "makes its own replacement decisions"},
	{"deleteBeforeReplace", "makes its own replacement decisions"},
}

// checkProvisioners returns an error if a desired resource has more than one provisioner, or if it uses an option or a
// flag that its provisioner does not support.
func (e *Engine) checkProvisioners(r Request) error {
	if e.Provisioner == nil || r.Desired == nil {
		return nil
	}
	var wrong plan.Error
	fault := func(v *lumigl.Vertex, format string, args ...any) {
		wrong.Faults = append(wrong.Faults, plan.Fault{URN: v.URN(), Source: v.Source, Message: fmt.Sprintf(format, args...)})
	}
	reported := map[string]bool{} // each message is reported once, for the first resource
	for v := range r.Desired.Vertices() {
		name, err := e.Provisioner(v.Type)
		if err != nil && !reported[err.Error()] {
			reported[err.Error()] = true
			fault(v, "%s", err)
		}
		if err != nil || name == "" {
			continue
		}
		if graph.IsRead(v.Options) {
			fault(v, "provisioner %s cannot look up resources or call functions: map only resource types to it", name)
		}
		for _, no := range refusals {
			option := v.Options.Get(no.option)
			if set, isFlag := option.Bool(); option.Exists() && (set || !isFlag) {
				fault(v, "provisioner %s %s: remove the option %q", name, no.why, no.option)
			}
		}
		if slices.Contains(r.Replace, v.URN()) {
			fault(v, "provisioner %s makes its own replacement decisions: omit --replace", name)
		}
	}
	return orNil(&wrong)
}

// checkHandlers returns an error if a plan changes or deletes resources that were created by another provisioner.
// Forgotten resources are allowed.
func (e *Engine) checkHandlers(p *plan.Plan) error {
	var wrong plan.Error
	reported := map[string]bool{} // each message is reported once, for the first resource
	for _, s := range p.Steps {
		if s.Old == nil || s.Old.ID == "" || s.Replaced || s.Kind == plan.Forget { // An empty ID means that the resource is not created yet.
			continue
		}
		if err := e.checkHandler(s.Old); err != nil && !reported[err.Error()] {
			reported[err.Error()] = true
			f := plan.Fault{URN: s.Old.URN, Message: err.Error()}
			if s.New != nil {
				f.Source = s.New.Source
			}
			wrong.Faults = append(wrong.Faults, f)
		}
	}
	return orNil(&wrong)
}

// checkHandler returns an error if a resource's type is no longer handled by the provisioner or provider that created
// the resource.
func (e *Engine) checkHandler(r *graph.Resource) error {
	by := ""
	if e.Provisioner != nil {
		var err error
		if by, err = e.Provisioner(r.Type()); err != nil {
			return err
		}
	}
	if by == r.Provisioner {
		return nil
	}
	return fmt.Errorf("it was created by %s, but Lumi.yaml now maps its type to %s: restore the mapping, or remove the resource from the state with 'lumi state forget %s'",
		handler(r.Provisioner), handler(by), r.URN.Name())
}

// handler returns the name of a provisioner for use in messages. For "", it returns the name of the provider.
func handler(provisioner string) string {
	if provisioner == "" {
		return "its provider"
	}
	return "provisioner " + provisioner
}

func orNil(err *plan.Error) error {
	if len(err.Faults) == 0 {
		return nil
	}
	return err
}
