package deployments

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/program"
	lumiyaml "github.com/lumi-idl/lumi/deploy/workspace"
	"github.com/lumi-idl/lumi/internal/cli/document"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/lang/muranopl/catalog"
	"github.com/lumi-idl/lumi/lang/muranopl/desired"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
)

// isModel reports whether a file is a MuranoPL object model, whose root object has the key "?".
func isModel(in *document.Input) bool {
	if !strings.Contains(in.Src, `"?"`) && !strings.Contains(in.Src, `'?'`) { // a fast path for large LumiGL files
		return false
	}
	model, _ := catalog.Model(in.Name, []byte(in.Src))
	return model.Get("?") != nil
}

// moduleOf returns the module whose object model is the given file. If there is none, it returns the only module with
// an object model.
func moduleOf(s *workspace.Session, file string) (string, error) {
	all := slices.Sorted(maps.Keys(s.Workspace.Models))
	for _, module := range all {
		if relative(s, s.Workspace.Models[module].File) == filepath.Clean(file) {
			return module, nil
		}
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return "", fmt.Errorf(`%s is an object model: add its module to %s, as "modules: {NAME: {model: FILE, classes: FOLDER}}"`,
		file, s.Workspace.File)
}

// relative converts a path from Lumi.yaml to one relative to the working directory.
func relative(s *workspace.Session, path string) string {
	path = s.Path(path)
	if here, err := filepath.Abs("."); err == nil {
		if short, err := filepath.Rel(here, path); err == nil {
			return short
		}
	}
	return path
}

func relatives(s *workspace.Session, paths []string) []string {
	all := make([]string, len(paths))
	for i, path := range paths {
		all[i] = relative(s, path)
	}
	return all
}

// evaluateModel evaluates in or, if in is nil, the object model of a module. If the model or its classes have errors,
// it prints them and returns [console.ErrWrong].
func evaluateModel(ctx context.Context, s *workspace.Session, engine *environment.Environment, module string, in *document.Input) (*lumigl.Snapshot, error) {
	m := s.Workspace.Models[module]
	var err error
	if in == nil {
		if in, err = document.ReadFile(s.Console, relative(s, m.File)); err != nil {
			return nil, err
		}
	}
	classes, err := document.OpenClasses(s.Console, relatives(s, m.Classes))
	if err != nil {
		return nil, document.PrintClassErrors(s.Console, classes, err)
	}
	classes.Sources[in.Name] = in.Src
	o := desired.Input{Module: module, Environment: s.Environment.Name, Classes: classes}
	if o.Model, err = catalog.Model(in.Name, []byte(in.Src)); err != nil {
		return nil, document.PrintClassErrors(s.Console, classes, err)
	}
	if o.Schemas, err = document.ReadSchemas(s.Console, relatives(s, m.Schemas)); err != nil {
		return nil, err
	}
	if o.Last, err = savedModel(ctx, s, engine, module); err != nil {
		return nil, err
	}
	settings, err := s.Config(ctx, engine.Journal.Key, module)
	if err != nil {
		return nil, err
	}
	if o.Config, err = program.Values(settings); err != nil {
		return nil, err
	}
	o.Log = func(level, message string) { s.Say("%s: %s: %s", module, level, message) }
	s.Doing("evaluating %s", module)
	ctx, release := s.Interruptible(ctx)
	defer release()
	evaluated, saved, err := desired.Evaluate(ctx, o)
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("module %q: stopped before the object model was evaluated: %w", module, ctx.Err())
	case err != nil:
		return nil, document.PrintClassErrors(s.Console, classes, err)
	}
	// A model declares configuration by reading it, so a key may be unused only in this evaluation.
	isShared := func(s lumiyaml.Setting) bool { return !s.Own }
	warnUndeclared(s, slices.DeleteFunc(settings, isShared), evaluated)
	for v := range evaluated.Vertices() {
		v.Source = fromFolder(s, v.Source)
	}
	return evaluated, graph.SetModel(evaluated, s.Environment.Name, saved)
}

// fromFolder converts a path relative to the working directory to one relative to the folder of Lumi.yaml, as used in
// source positions.
func fromFolder(s *workspace.Session, path string) string {
	if full, err := filepath.Abs(path); err == nil && path != "" {
		if short, err := filepath.Rel(s.Folder(), full); err == nil {
			return filepath.ToSlash(short)
		}
	}
	return path
}

// savedModel returns the object model saved by a module's last deployment, or an absent value if there is none.
func savedModel(ctx context.Context, s *workspace.Session, engine *environment.Environment, module string) (lumigl.Value, error) {
	g, err := engine.Graph(ctx)
	if err != nil {
		return lumigl.Value{}, err
	}
	newest := g.Newest(module)
	if newest == nil || newest.Provided(graph.ModelName) == nil {
		return lumigl.Value{}, nil
	}
	model := newest.Provided(graph.ModelName).Result
	if engine.Journal.Key == nil && s.Environment.Key != "" && !expr.IsKnown(model) {
		return model, fmt.Errorf("the saved model of %s contains secrets: evaluating it requires the key of %s", module, s.Environment.Name)
	}
	return model, nil
}
