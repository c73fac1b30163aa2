package graph_test

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// world runs scripts on the graph of an environment. A script has one command per line. Deployments are numbered from
// 1.
//
//	deploy a db lb(db) =foo:lb =bar() b.baz   deploys module a with the resources db and lb, which depends on db; the
//	                                          value foo, which comes from lb; the verb bar; and a use of b's value baz
//	deploy a db! lb^(db) x* old>new !b        changes db in place, replaces lb (delete first) and x (create first), moves
//	                                          old to new, and may interrupt b
//	cleanup a | destroy a
//	leave a                                   makes the deletions of the last transition pending, as if they had failed
//	fail a +new db! lb-                       fails to deploy a after creating new, changing db, and deleting lb
//
// By default, resources of the newest version are unchanged. A dependency a.db is the newest resource db of another
// module, recorded in Referents; a~db is recorded in Sources. A deployment with conflicts has no effect. The verb
// foo(xy) takes the numbers x and y. All other values are strings. A use a.foo?PREDICATE has a predicate, in which _
// denotes a space.
type world struct {
	g          *graph.Graph
	deployment graph.Deployment
	last       *graph.Transition // last transition without conflicts
	// removed lists the resources deleted by the last failed deployment.
	removed []*graph.Resource
	// failed is set once a deployment has failed.
	failed bool
}

// run runs a script and returns the output of its last line.
func (w *world) run(script string) (output string, err error) {
	for line := range strings.Lines(script) {
		if line = strings.TrimSpace(line); line != "" {
			if output, err = w.command(strings.Fields(line)); err != nil {
				return "", fmt.Errorf("%s: %w", line, err)
			}
		}
	}
	return strings.ReplaceAll(output, ":t:i:T::", "."), nil
}

func (w *world) command(words []string) (string, error) {
	if w.g == nil {
		w.g = &graph.Graph{Environment: "dev"}
	}
	command, module, items := words[0], words[1], words[2:]
	before := w.g
	var t *graph.Transition
	var err error
	switch w.removed = nil; command {
	case "deploy":
		w.deployment++
		t, err = w.g.Deploy(w.update(module, items))
	case "destroy":
		t, err = w.g.Destroy(module)
	case "cleanup":
		t = w.g.Cleanup(module)
	case "fail":
		w.deployment++
		w.failed = true
		t = &graph.Transition{Graph: w.fail(module, items)}
	case "leave":
		var pending []graph.Pending
		for _, r := range w.last.Deleted {
			pending = append(pending, graph.Pending{Resource: r})
		}
		t = &graph.Transition{Graph: w.g.Leave(module, pending...)}
	}
	if err != nil {
		return err.Error() + "\n", nil
	}
	if len(t.Conflicts) > 0 {
		return transitionText(t), nil
	}
	w.last, w.g = t, t.Graph
	if err := w.g.Check(); err != nil {
		return "", err
	}
	return transitionText(t) + graphText(w.g), w.compare(before, words)
}

func urnOf(module, name string) urn.URN {
	return urn.URN("urn:lumi:dev::" + module + ":index::t:i:T::" + name)
}

func vertexOf(u urn.URN) *lumigl.Vertex {
	v, err := lumigl.NewResource(u)
	if err != nil {
		panic(err)
	}
	return v
}

func (w *world) update(module string, items []string) graph.Update {
	u := graph.Update{Became: map[*graph.Resource]*graph.Resource{}}
	var resources []*graph.Resource
	old := func(string) *graph.Resource { return nil }
	if newest := w.g.Newest(module); newest != nil {
		old = func(name string) *graph.Resource { return newest.Resource(urnOf(module, name)) }
	}
	for _, p := range w.g.Versions(module) {
		if inner := old; p.Partial {
			old = func(name string) *graph.Resource {
				if r := p.Resource(urnOf(module, name)); r != nil {
					return r
				}
				return inner(name)
			}
		}
	}
	v := &graph.Version{}
	for _, item := range items {
		switch {
		case item[0] == '!':
			u.Interrupt = append(u.Interrupt, item[1:])
		case item[0] == '=':
			v.Provides = append(v.Provides, provided(module, item[1:]))
		case strings.Contains(strings.SplitN(item, "(", 2)[0], "."):
			v.Uses = append(v.Uses, use(item))
		default:
			resources = append(resources, w.resource(module, item, old, &u))
		}
	}
	held := graph.NewVersion(graph.VersionID{Module: module, Deployment: w.deployment}, resources)
	held.Provides, held.Uses = v.Provides, v.Uses
	slices.SortFunc(held.Provides, func(a, b graph.Provided) int { return strings.Compare(a.Name, b.Name) })
	slices.SortStableFunc(held.Uses, func(a, b graph.Edge) int {
		return strings.Compare(a.Module+" "+a.Name, b.Module+" "+b.Name)
	})
	for i, p := range held.Provides {
		for target, property := range p.Value.References() {
			if r := held.Resource(urn.URN(target.Key())); r != nil {
				held.Provides[i].Result, _ = r.Output(property)
			}
		}
	}
	u.Version = held
	return u
}

func (w *world) resource(module, item string, old func(string) *graph.Resource, u *graph.Update) *graph.Resource {
	item, list, _ := strings.Cut(strings.TrimSuffix(item, ")"), "(")
	name := strings.TrimRight(item, "!^*")
	how := item[len(name):]
	from, name, moved := strings.Cut(name, ">")
	if !moved {
		name = from
	}
	was := old(from)
	now := w.made(module, name, list)
	switch {
	case was == nil:
	case how == "^":
		u.Removed = append(u.Removed, was)
	case how == "*":
	case how == "!":
		now.ID = was.ID
		u.Became[was] = now
	case moved || !slices.Equal(was.Dependencies, now.Dependencies):
		dependencies := now.Dependencies
		*now = *was
		now.URN, now.Dependencies, now.Inputs = urnOf(module, name), dependencies, references(dependencies)
		u.Became[was] = now
	default:
		return was
	}
	return now
}

// made returns a resource as created by the current deployment.
func (w *world) made(module, name, dependencies string) *graph.Resource {
	text := fmt.Sprintf("%s:%d", name, w.deployment)
	r := &graph.Resource{
		URN: urnOf(module, name), Deployment: w.deployment, ID: module + "." + text,
		Outputs: lumigl.ObjectOf(lumigl.Member{Key: "v", Value: lumigl.TextOf(text)}),
	}
	for d := range strings.SplitSeq(dependencies, ",") {
		if other, of, ok := strings.Cut(d, "."); ok {
			to := w.newest(other).Resource(urnOf(other, of))
			checked := lumigl.ObjectOf(lumigl.Member{Key: "on", Value: lumigl.ReferenceTo(vertexOf(to.URN))})
			r.Referents = graph.ReferentsOf(checked, func(urn.URN) string { return to.ID })
		} else if other, of, ok := strings.Cut(d, "~"); ok {
			r.Sources = []string{"t:i:T " + w.newest(other).Resource(urnOf(other, of)).ID}
		} else if d != "" {
			r.Dependencies = append(r.Dependencies, urnOf(module, d))
		}
	}
	slices.Sort(r.Dependencies)
	r.Inputs = references(r.Dependencies)
	return r
}

// references returns inputs with references to the given resources.
func references(to []urn.URN) lumigl.Value {
	var all []lumigl.Value
	for _, u := range to {
		all = append(all, lumigl.ReferenceTo(vertexOf(u)))
	}
	return lumigl.ObjectOf(lumigl.Member{Key: "of", Value: lumigl.ListOf(all...)})
}

func (w *world) newest(module string) *graph.Version {
	if w.g == nil {
		return nil
	}
	return w.g.Newest(module)
}

func (w *world) fail(module string, items []string) *graph.Graph {
	var results []graph.Result
	for _, item := range items {
		name := strings.Trim(item, "+!-")
		var old *graph.Resource
		for _, v := range w.g.Versions(module) {
			if r := v.Resource(urnOf(module, name)); r != nil {
				old = r
			}
		}
		now := w.made(module, name, "")
		switch {
		case item[0] == '+':
			results = append(results, graph.Result{New: now})
		case old == nil:
		case strings.HasSuffix(item, "!"):
			now.ID, now.Dependencies = old.ID, old.Dependencies
			results = append(results, graph.Result{Old: old, New: now})
		default:
			w.removed = append(w.removed, old)
			results = append(results, graph.Result{Old: old})
		}
	}
	return w.g.Overlay(graph.VersionID{Module: module, Deployment: w.deployment}, lumigl.Value{}, results)
}

// typed splits an item into a name and a type.
func typed(item string) (name string, t graph.Type) {
	name, count, isVerb := strings.Cut(strings.TrimSuffix(item, ")"), "(")
	if !isVerb {
		return name, graph.Type{Form: lumigl.TextOf("string")}
	}
	request := lumigl.ObjectOf()
	for _, letter := range count {
		request = request.With(string(letter), lumigl.TextOf("number"))
	}
	verb := lumigl.ObjectOf(
		lumigl.Member{Key: "request", Value: lumigl.ObjectOf(lumigl.Member{Key: "object", Value: request})},
		lumigl.Member{Key: "response", Value: lumigl.TextOf("number")},
	)
	return name, graph.Type{Form: lumigl.ObjectOf(lumigl.Member{Key: "verb", Value: verb})}
}

func provided(module, item string) graph.Provided {
	item, source, hasSource := strings.Cut(item, ":")
	p := graph.Provided{Value: lumigl.TextOf("https://" + module)}
	p.Name, p.Type = typed(item)
	if hasSource {
		p.Value = lumigl.PropertyOf(vertexOf(urnOf(module, source)), "v")
	}
	p.Result = p.Value
	return p
}

func use(item string) graph.Edge {
	item, where, _ := strings.Cut(item, "?")
	module, item, _ := strings.Cut(item, ".")
	e := graph.Edge{Constraint: graph.Constraint{Module: module, Where: strings.ReplaceAll(where, "_", " ")}}
	e.Name, e.Type = typed(item)
	return e
}

// transitionText formats the effects of a transition, one per line.
func transitionText(t *graph.Transition) string {
	var out strings.Builder
	for _, b := range t.Bound {
		fmt.Fprintf(&out, "%s binds %s to %s%s\n", b.From, b.Edge.Name, b.Edge.To, marks(b))
	}
	for _, b := range t.Moved {
		fmt.Fprintf(&out, "%s moves %s from %s to %s%s\n", b.From, b.Edge.Name, b.Was, b.Edge.To, marks(b))
	}
	for _, b := range t.Stayed {
		fmt.Fprintf(&out, "%s leaves %s at %s: %s%s\n", b.From, b.Edge.Name, b.Edge.To, b.Reason, marks(b))
	}
	for _, c := range t.Conflicts {
		what := "changes"
		if c.Deletes {
			what = "deletes"
		}
		fmt.Fprintf(&out, "conflict: %s %s, which %s needs for %s of %s\n", what, c.Resource.Key(), c.Version, c.Name, c.User)
	}
	for _, r := range t.Deleted {
		fmt.Fprintf(&out, "delete %s\n", r.Key())
	}
	if t.Cleanups != nil {
		fmt.Fprintf(&out, "cleanup %s\n", strings.Join(t.Cleanups, " "))
	}
	return out.String()
}

func marks(b graph.Binding) string {
	text := ""
	if b.Stale {
		text += " (stale)"
	}
	if b.Edge.Broken != "" {
		text += " (broken)"
	}
	if b.Unchecked {
		text += " (unchecked)"
	}
	return text
}

// graphText formats the versions of a graph, one per line. A star marks the newest version of each module.
func graphText(g *graph.Graph) string {
	var out strings.Builder
	for _, module := range g.Modules() {
		for _, v := range g.Versions(module) {
			out.WriteString(v.String())
			switch {
			case v.Partial:
				out.WriteString(" partial")
			case v == g.Newest(module):
				out.WriteString("*")
			}
			for r := range v.Resources() {
				fmt.Fprintf(&out, " %s:%d", r.URN.Name(), r.Deployment)
			}
			for _, e := range v.Uses {
				fmt.Fprintf(&out, " %s→%s", e.Name, e.To)
				if e.Broken != "" {
					fmt.Fprintf(&out, " (broken: %s)", e.Broken)
				}
			}
			out.WriteString("\n")
		}
		for _, p := range g.Pending(module) {
			fmt.Fprintf(&out, "pending %s", p.Resource.Key())
			if p.Held {
				out.WriteString(" (held)")
			}
			out.WriteString("\n")
		}
	}
	return out.String()
}

// compare returns an error if a command changed the graph in a way that is not allowed.
func (w *world) compare(before *graph.Graph, words []string) error {
	held := map[string]bool{}
	for v := range versions(w.g) {
		for r := range v.Resources() {
			held[r.ID] = true
			for _, u := range r.Dependencies {
				if v.Resource(u) == nil && !v.Partial && !w.failed && slices.Contains(w.g.Kept(v.Module), v) {
					return fmt.Errorf("%s contains %s without %s", v, r.Key(), u)
				}
			}
		}
		if slices.ContainsFunc(w.last.Deleted, v.Holds) {
			return fmt.Errorf("%s contains a deleted resource", v)
		}
	}
	for _, r := range slices.Concat(w.last.Deleted, w.removed) {
		held[r.ID] = true
	}
	for _, p := range pending(w.g) {
		held[p.Resource.ID] = true
		keys := slices.Clone(p.Resource.Sources)
		for key := range p.Resource.Referents.Members() {
			keys = append(keys, key)
		}
		for _, key := range keys {
			refers := func(r *graph.Resource) bool { return key == string(r.Type())+" "+r.ID }
			if words[0] != "fail" && !strings.Contains(strings.Join(words, " "), "^") && slices.ContainsFunc(w.last.Deleted, refers) {
				return fmt.Errorf("%s is deleted, although %s refers to it", key, p.Resource.Key())
			}
		}
	}
	for v := range versions(before) {
		for r := range v.Resources() {
			if !held[r.ID] {
				return fmt.Errorf("%s disappeared", r.Key())
			}
		}
	}
	return w.compareNeeds(before, words)
}

// compareNeeds returns an error if a user lost a resource that it needs without being interrupted.
func (w *world) compareNeeds(before *graph.Graph, words []string) error {
	if words[0] == "fail" {
		return nil
	}
	for old := range versions(before) {
		now := w.g.Version(old.VersionID)
		for r, edges := range before.Needs(old.VersionID) {
			for _, b := range edges {
				from := w.g.Version(b.From)
				stays := func(e graph.Edge) bool {
					return e.Module == b.Edge.Module && e.Name == b.Edge.Name && e.To == b.Edge.To
				}
				if from == nil || !slices.Contains(w.g.Kept(from.Module), from) || !slices.ContainsFunc(from.Uses, stays) || slices.Contains(words, "!"+from.Module) {
					continue
				}
				same := func(n *graph.Resource) bool { return n.ID == r.ID && n.Outputs.Equal(r.Outputs) }
				if !slices.ContainsFunc(slices.Collect(now.Resources()), same) {
					return fmt.Errorf("%s uses %s of %s, but lost %s", from, b.Edge.Name, old, r.Key())
				}
			}
		}
	}
	return nil
}

func pending(g *graph.Graph) (all []graph.Pending) {
	for _, module := range g.Modules() {
		all = append(all, g.Pending(module)...)
	}
	return all
}

func versions(g *graph.Graph) iter.Seq[*graph.Version] {
	return func(yield func(*graph.Version) bool) {
		for _, module := range g.Modules() {
			for _, v := range g.Versions(module) {
				if !yield(v) {
					return
				}
			}
		}
	}
}
