package plan

import (
	"slices"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/internal/dag"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// group sorts the plan's steps and sets its tasks: consecutive steps with the same provisioner form a task. The
// module's own task comes after all creations and changes, and before all deletions that no change waits for. Steps are
// reordered, subject to their After, to minimize the number of tasks.
func (p *Plan) group() {
	names := []string{""} // group names; the first group needs no provisioner
	group := make([]int32, len(p.Steps)+1)
	module, number := int32(len(p.Steps)), numbers(p.Steps)
	var g dag.Graph
	for i, s := range p.Steps {
		name := ""
		if s.IsProvisioned() {
			name = p.provisioner(s.URN.Type())
		}
		of := slices.Index(names, name)
		if of < 0 {
			of, names = len(names), append(names, name)
		}
		group[i] = int32(of)
		for _, a := range s.After {
			g.To = append(g.To, number[a])
		}
		if s.removes() && !s.DeleteFirst {
			g.To = append(g.To, module)
		}
		g.End()
	}
	group[module] = int32(len(names))
	names = append(names, p.provisioner(lumigl.ModuleType))
	for i, s := range p.Steps {
		if !s.removes() {
			g.To = append(g.To, int32(i))
		}
	}
	g.End()

	var all []Task
	sorted, last := make([]*Step, 0, len(p.Steps)), int32(0)
	for _, v := range g.Gather(group, len(names)) {
		if group[v] != 0 && group[v] != last {
			last = group[v]
			all = append(all, Task{Number: len(all) + 1, Provisioner: names[last]})
		}
		if v == module {
			continue
		}
		sorted = append(sorted, p.Steps[v])
		if group[v] != 0 {
			task := &all[len(all)-1]
			task.Steps = append(task.Steps, p.Steps[v])
		}
	}
	p.Steps, p.Tasks = sorted, all
}

// Inputs returns the input of each task.
func (p *Plan) Inputs() []Input {
	inputs := make([]Input, len(p.Tasks))
	now := map[string][]Vertex{} // current vertices by provisioner, after all steps that need no provisioner
	old, new := ends(slices.DeleteFunc(slices.Clone(p.Steps), (*Step).IsProvisioned))
	for _, v := range changed(vertices(p.before, p.Module), old, new) {
		name := p.provisioner(lumigl.ModuleType)
		if v.Resource != nil {
			name = p.provisioner(v.Resource.Type())
		}
		now[name] = append(now[name], v)
	}
	for i, t := range p.Tasks {
		old, new := ends(t.Steps)
		if len(t.Steps) == 0 {
			old, new = versions(p.before, p.Module), versions(p.Transition.Graph, p.Module)
		}
		in := &inputs[i]
		in.Environment, in.Module = p.Environment, p.Module
		in.Old = now[t.Provisioner]
		in.New = changed(in.Old, old, new)
		in.Context = p.context(in.New, func(u urn.URN) bool { return p.provisioner(u.Type()) == t.Provisioner })
		now[t.Provisioner] = in.New
	}
	return inputs
}

// vertices returns the vertices of a module: its versions, except partial ones, and its resources, possibly with
// duplicates.
func vertices(g *graph.Graph, module string) []Vertex {
	all := versions(g, module)
	for _, v := range g.Versions(module) {
		for r := range v.Resources() {
			all = append(all, Vertex{Resource: r})
		}
	}
	for _, p := range g.Pending(module) {
		all = append(all, Vertex{Resource: p.Resource})
	}
	return all
}

func versions(g *graph.Graph, module string) []Vertex {
	var all []Vertex
	for _, v := range g.Versions(module) {
		if !v.Partial {
			all = append(all, Vertex{Version: v})
		}
	}
	return all
}

// ends returns the vertices that steps remove (old) and add (new).
func ends(steps []*Step) (old, new []Vertex) {
	for _, s := range steps {
		if s.Old != nil && s.Old != s.New && s.Kind != Replace { // a separate Delete removes the replaced resource
			old = append(old, Vertex{Resource: s.Old})
		}
		if s.New != nil && s.New != s.Old {
			new = append(new, Vertex{Resource: s.New})
		}
	}
	return old, new
}

// changed returns vertices minus old plus new, sorted and without duplicates.
func changed(vertices, old, new []Vertex) []Vertex {
	gone := make(map[Vertex]bool, len(old))
	for _, v := range old {
		gone[v] = true
	}
	all := slices.DeleteFunc(slices.Clone(vertices), func(v Vertex) bool { return gone[v] })
	all = append(all, new...)
	slices.SortFunc(all, Vertex.compare)
	return slices.Compact(all)
}

// context returns the direct dependencies of vertices that are not handled by the same provisioner, and the module
// versions used by these vertices. It does not include resources of the used versions.
func (p *Plan) context(of []Vertex, handles func(urn.URN) bool) []Vertex {
	after := p.Transition.Graph
	holders := slices.Concat(p.before.Versions(p.Module), after.Versions(p.Module))
	slices.Reverse(holders) // The newest version that contains a resource determines its dependencies.
	var all []Vertex
	for _, v := range of {
		if v.Version != nil {
			for _, e := range v.Version.Uses {
				all = append(all, Vertex{Version: after.Version(e.To)})
			}
			continue
		}
		others := slices.DeleteFunc(slices.Clone(v.Resource.Dependencies), handles)
		if i := slices.IndexFunc(holders, func(h *graph.Version) bool { return h.Holds(v.Resource) }); i >= 0 {
			for _, u := range others {
				all = append(all, Vertex{Resource: holders[i].Resource(u)})
			}
		}
	}
	return changed(all, []Vertex{{}}, nil) // Drop the zero Vertex of a removed version.
}

// Map returns the input with its resources replaced by the results of to. Resources for which to returns nil are
// omitted.
func (in Input) Map(to func(*graph.Resource) *graph.Resource) Input {
	mapped := func(all []Vertex) []Vertex {
		all = slices.Clone(all)
		for i, v := range all {
			if v.Resource != nil {
				all[i].Resource = to(v.Resource)
			}
		}
		return slices.DeleteFunc(all, func(v Vertex) bool { return v == Vertex{} })
	}
	in.New, in.Old, in.Context = mapped(in.New), mapped(in.Old), mapped(in.Context)
	return in
}
