package service

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/taskgraph"
)

// Effective implements [API].
func (s *Service) Effective(ctx context.Context, environment, graphType string, layers ...store.Layer) (Effective, error) {
	graphType = cmp.Or(graphType, taskgraph.DefaultType)
	return read(ctx, s, func(v *view) Effective {
		e := v.effective(environment, graphType, layers)
		return Effective{graphType, append([]taskgraph.Task{}, e.Tasks...), e.Origins}
	})
}

// effective returns the effective graph of an environment. If only is not empty, it merges only the graphs in these
// layers. It records an error if no layer contains a graph of the type.
func (v *view) effective(environment, graphType string, only []store.Layer) *taskgraph.Effective {
	for _, l := range only {
		if !slices.Contains(defaultOrder, l) {
			v.unknown(l)
		}
	}
	v.environment(environment)
	s := v.selection(environment)
	graphs := v.graphsOf(graphType, owners(s, only)...)
	if graphs == nil {
		near := suggest.DidYouMean(graphType, typesOf(v.graphsOf("", owners(s, only)...)))
		v.fail(NotFound, "%s has no graph of type %s%s", environment, graphType, cmp.Or(near, ": 'lumi tasks upload' adds one"))
	}
	e, err := v.merge(graphs, s.Whole)
	v.err = cmp.Or(v.err, err)
	return e
}

// merge merges graphs. It returns a *[taskgraph.Error] if plugins set an attribute to different values.
func (v *view) merge(graphs []store.TaskGraph, whole bool) (*taskgraph.Effective, error) {
	var layers, plugins []taskgraph.Layer
	at := 0 // position of the plugins among the layers
	for _, g := range graphs {
		name, _ := v.owner(g.Owner)
		l := taskgraph.Layer{Name: name, Tasks: plain(v.tasks(g).Tasks)}
		if g.Owner.Layer == store.PluginLayer {
			at, plugins = len(layers), append(plugins, l)
		} else {
			layers = append(layers, l)
		}
	}
	merged, err := taskgraph.MergePlugins(plugins)
	return taskgraph.Merge(slices.Insert(layers, at, merged), whole), err
}

// verify returns an error if the merged graphs are invalid.
func (v *view) verify(graphs []store.TaskGraph, whole bool) error {
	e, err := v.merge(graphs, whole)
	if err = cmp.Or(v.err, err); err == nil {
		_, err = taskgraph.Check(e, v.service.Types.Check)
	}
	return err
}

// checkOwner checks all graphs of a type that include the owner's graph: the graph of a release on its own, and the
// effective graphs of all environments that use the owner.
func (v *view) checkOwner(owner store.Owner, graphType string) {
	v.reload()
	if graphs := v.graphsOf(graphType, owner); v.err == nil && owner.Layer == store.ReleaseLayer && graphs != nil {
		v.err = v.verify(graphs, false)
	}
	v.check(v.users(owner), graphType)
}

// check checks the effective graphs of environments, either of the given type or, if it is "", of all types. It reports
// a problem shared by several environments only once, in a *[taskgraph.Error] that names layers.
func (v *view) check(environments []string, graphType string) {
	type problem struct {
		graphType string
		taskgraph.Problem
	}
	seen := map[problem]bool{}
	var all taskgraph.Error
	var one *taskgraph.Error
	for _, environment := range environments {
		s := v.selection(environment)
		graphs := v.graphsOf(graphType, owners(s, nil)...)
		for _, t := range typesOf(graphs) {
			err := v.verify(slices.DeleteFunc(slices.Clone(graphs), func(g store.TaskGraph) bool { return g.Type != t }), s.Whole)
			if err == nil {
				continue
			}
			if !errors.As(err, &one) || v.err != nil {
				v.err = err
				return
			}
			for _, p := range one.Problems {
				if key := (problem{t, p}); !seen[key] {
					seen[key] = true
					where := "graph " + t + " of " + environment
					if p.Layer != "" && p.Layer != "cluster "+environment {
						where = p.Layer + " (" + where + ")"
					}
					p.Layer = where
					all.Problems = append(all.Problems, p)
				}
			}
		}
	}
	if v.err == nil && all.Problems != nil {
		v.err = &all
	}
}
