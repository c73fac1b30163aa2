package deployments

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/program"
	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/document"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/query"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// requestFlags restricts and modifies the plans of programs.
type requestFlags struct {
	targets, replace, interrupt []string
	refresh                     bool
}

func (f *requestFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringSliceVarP(&f.targets, "target", "t", nil, "plan only the resource `KEY` and its dependencies: a URN, the end of one, or a name; may be repeated")
	flags.StringSliceVar(&f.replace, "replace", nil, "replace the resource `KEY` even if nothing differs; may be repeated")
	flags.StringSliceVar(&f.interrupt, "interrupt", nil, "allow the plan to break what the module `MODULE` uses; may be repeated")
	flags.BoolVar(&f.refresh, "refresh", false, "read the real resources first, and undo what was changed outside Lumi")
	for _, name := range []string{"target", "replace"} {
		_ = c.RegisterFlagCompletionFunc(name, workspace.CompleteResources)
	}
	_ = c.RegisterFlagCompletionFunc("interrupt", workspace.CompleteModules)
}

// allRequests evaluates programs and returns their requests. The first dash arguments, or all if dash is -1, are module
// names or files. If there are none, all modules of the workspace are evaluated. The remaining arguments are passed to
// the program.
func allRequests(ctx context.Context, s *workspace.Session, engine *environment.Environment, f requestFlags, args []string, dash int) ([]run.Request, error) {
	var arguments []string
	if dash >= 0 {
		args, arguments = args[:dash], args[dash:]
	}
	if len(args) == 0 {
		args = s.Workspace.Names()
	}
	switch {
	case len(args) == 0:
		return nil, fmt.Errorf(`%s has no modules: add "program: FILE", or name a LumiGL file`, s.Workspace.File)
	case len(arguments) > 0 && len(args) > 1:
		return nil, console.Misused("arguments for a program require exactly one MODULE, got %d", len(args))
	}
	var all []run.Request
	for _, arg := range args {
		desired, err := desiredState(ctx, s, engine, arg, arguments)
		if err == nil {
			err = s.ConfigureProviders(ctx, desired)
		}
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(r run.Request) bool { return r.Desired.Package == desired.Package }) {
			return nil, console.Misused("duplicate module %s", desired.Package)
		}
		all = append(all, run.Request{
			Desired: desired, Interrupt: f.interrupt, Refresh: f.refresh,
			UniqueNames: s.Workspace.UniqueNames[s.Environment.Name],
		})
		s.Evaluated = append(s.Evaluated, desired)
	}
	if slices.Equal(slices.Sorted(slices.Values(args)), s.Workspace.Names()) { // all declarations are known
		shared, err := s.Settings("")
		if err != nil {
			return nil, err
		}
		warnUndeclared(s, shared, s.Evaluated...)
	}
	return choose(ctx, s, engine, f, all)
}

// readDesired returns the desired state in a file, which is either written by lumi-program or an object model to be
// evaluated.
func readDesired(ctx context.Context, s *workspace.Session, engine *environment.Environment, file string) (*lumigl.Snapshot, error) {
	in, err := document.Read(s.Console, file)
	if err != nil {
		return nil, err
	}
	if isModel(in) {
		module, err := moduleOf(s, in.Name)
		if err != nil {
			return nil, err
		}
		return evaluateModel(ctx, s, engine, module, in)
	}
	doc, err := lumigl.Parse(in.Src)
	if err != nil {
		return nil, document.Refuse(s.Console, in, err)
	}
	desired, ok := doc.(*lumigl.Snapshot)
	if !ok {
		return nil, fmt.Errorf("%s is a general graph, not the output of lumi-program", in.Name)
	}
	for v := range desired.Vertices() {
		if p, _ := v.URN().Parts(); p.Environment != s.Environment.Name {
			return nil, fmt.Errorf("%s is for the environment %s: evaluate the program with --environment=%s", in.Name, p.Environment, s.Environment.Name)
		}
	}
	return desired, nil
}

// choose applies --replace, --interrupt, and --target to requests. With --target, it returns only the requests that
// contain targets.
func choose(ctx context.Context, s *workspace.Session, engine *environment.Environment, f requestFlags, all []run.Request) ([]run.Request, error) {
	if len(f.targets)+len(f.replace)+len(f.interrupt) == 0 {
		return all, nil
	}
	g, err := engine.Graph(ctx)
	if err != nil {
		return nil, err
	}
	for _, module := range f.interrupt {
		if !slices.Contains(g.Modules(), module) {
			return nil, console.Misused("--interrupt=%s: %s has no such module; %s", module, s.Environment.Name, suggest.Instead(module, g.Modules()))
		}
	}
	indices := []*query.Index{query.New(g.Snapshot().Base())} // names as displayed in the plan
	for _, r := range all {
		indices = append(indices, query.New(r.Desired.Base()))
	}
	for _, key := range f.replace {
		i, u, err := find(key, all, indices)
		if err != nil {
			return nil, err
		}
		all[i].Replace = append(all[i].Replace, u)
	}
	for _, key := range f.targets {
		i, u, err := find(key, all, indices)
		if err != nil {
			return nil, err
		}
		all[i].Targets = append(all[i].Targets, u)
	}
	return slices.DeleteFunc(all, func(r run.Request) bool { return len(f.targets) > 0 && len(r.Targets) == 0 }), nil
}

// find returns the resource selected by key in any of the indices, and the index of its module's request in all.
func find(key string, all []run.Request, indices []*query.Index) (int, urn.URN, error) {
	found := map[urn.URN]int{}
	var wrong error
	for _, index := range indices {
		v, err := index.Find(key)
		if err != nil {
			wrong = err
			continue
		}
		p, _ := v.URN().Parts()
		if i := slices.IndexFunc(all, func(r run.Request) bool { return r.Desired.Package == p.Package }); i >= 0 {
			found[v.URN()] = i
		}
	}
	switch len(found) {
	case 0:
		return 0, "", cmp.Or(wrong, fmt.Errorf("no resource %q in this plan", key))
	case 1:
		for u, i := range found {
			return i, u, nil
		}
	}
	return 0, "", fmt.Errorf("%q is ambiguous; it matches %d:\n%s", key, len(found), joined(slices.Sorted(maps.Keys(found))))
}

// joined joins URNs with line breaks.
func joined(urns []urn.URN) string {
	var b strings.Builder
	for _, u := range urns {
		b.WriteString(string(u) + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// desiredState returns the desired state selected by an argument, which is a file, or a module with a program or an
// object model.
func desiredState(ctx context.Context, s *workspace.Session, engine *environment.Environment, arg string, arguments []string) (*lumigl.Snapshot, error) {
	if arg == document.StdinArg || strings.ContainsAny(arg, `.\ `) { // module names never contain these characters
		return readDesired(ctx, s, engine, arg)
	}
	if _, ok := s.Workspace.Models[arg]; ok && len(arguments) > 0 {
		return nil, console.Misused("module %s has an object model, which takes no arguments", arg)
	} else if ok {
		return evaluateModel(ctx, s, engine, arg, nil)
	}
	config, err := s.Config(ctx, engine.Journal.Key, arg)
	if err != nil {
		return nil, err
	}
	s.Doing("evaluating %s", arg)
	ctx, release := s.Interruptible(ctx) // do not let the program outlive this process
	defer release()
	return program.Evaluate(ctx, arg, program.Options{
		Workspace: s.Workspace, Environment: s.Environment.Name, Config: config, Arguments: arguments, Stderr: s.Stderr,
	})
}
