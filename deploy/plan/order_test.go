package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// urnOf returns the URN in module a for a short name such as "aws/x".
func urnOf(name string) urn.URN {
	pkg, name, _ := strings.Cut(name, "/")
	return urn.URN("urn:lumi:test::a:index::" + pkg + ":index:Thing::" + name)
}

func nameOf(u urn.URN) string { return u.Type().Package() + "/" + u.Name() }

// resource parses a line with the name, dependencies, and options of a resource, such as "aws/x aws/y +protect".
func resource(line string, deployment graph.Deployment) *graph.Resource {
	words := strings.Fields(line)
	r := &graph.Resource{URN: urnOf(words[0]), Deployment: deployment, ID: words[0], Inputs: lumigl.ObjectOf(), Source: "main.ts:1:1"}
	for _, word := range words[1:] {
		if option, ok := strings.CutPrefix(word, "+"); ok {
			r.Options = r.Options.With(option, lumigl.BoolOf(true))
		} else {
			r.Dependencies = append(r.Dependencies, urnOf(word))
		}
	}
	slices.Sort(r.Dependencies)
	return r
}

func versionOf(deployment graph.Deployment, lines ...string) *graph.Version {
	var resources []*graph.Resource
	for _, line := range lines {
		resources = append(resources, resource(line, deployment))
	}
	return graph.NewVersion(graph.VersionID{Module: "a", Deployment: deployment}, resources)
}

type fataler interface {
	Helper()
	Fatal(args ...any)
}

func deploy(t fataler, g *graph.Graph, u graph.Update) *graph.Transition {
	t.Helper()
	return must.Get(g.Deploy(u))(t)
}

// change plans the next version of a module. Each line of new consists of a kind and a resource. An exclamation mark
// sets DeleteFirst, and "was" precedes the former name of the resource.
func change(t fataler, before *graph.Graph, new ...string) *Plan {
	t.Helper()
	newest := before.Newest("a")
	p := &Plan{Module: "a", Deployment: newest.Deployment + 1}
	u := graph.Update{Became: map[*graph.Resource]*graph.Resource{}}
	var held []*graph.Resource
	byURN := map[urn.URN]*Step{}
	for _, line := range new {
		word, line, _ := strings.Cut(line, " ")
		line, was, moved := strings.Cut(line, " was ")
		s := &Step{New: resource(line, p.Deployment)}
		word, s.DeleteFirst = strings.CutSuffix(word, "!")
		s.Kind = Kind(slices.IndexFunc(kinds[:], func(k struct{ name, past string }) bool { return k.name == word }))
		s.URN, s.Old = s.New.URN, newest.Resource(s.New.URN)
		if moved {
			s.Old = newest.Resource(urnOf(was))
		}
		switch s.Kind {
		case Same:
			s.New = s.Old
		case Update:
			u.Became[s.Old] = s.New
		case Replace:
			u.Removed = append(u.Removed, s.Old)
		}
		for _, on := range s.New.Dependencies {
			s.After = append(s.After, byURN[on])
		}
		byURN[s.URN] = s
		held, p.Steps = append(held, s.New), append(p.Steps, s)
	}
	u.Version = graph.NewVersion(graph.VersionID{Module: "a", Deployment: p.Deployment}, held)
	p.Transition = deploy(t, before, u)
	return p
}

func format(s *Step) string {
	text := s.Kind.String()
	if s.DeleteFirst {
		text += "!"
	}
	text += " " + nameOf(s.URN)
	if s.Replaced {
		text += " (replaced)"
	}
	return text
}

func formatAll(steps []*Step) string {
	var lines []string
	for _, s := range steps {
		line := format(s)
		var after []string
		for _, a := range s.After {
			after = append(after, format(a))
		}
		if after != nil {
			line += " after " + strings.Join(after, ", ")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestOrder(t *testing.T) {
	for _, test := range []struct {
		name     string
		old, new []string
		want     string
		faults   string
	}{
		{
			name: "deletions come last, dependents first, and otherwise by key",
			old:  []string{"aws/a", "aws/b aws/a", "aws/c aws/b", "aws/d"},
			new:  []string{"create aws/e"},
			want: `
				create aws/e
				delete aws/c
				delete aws/b after delete aws/c
				delete aws/a after delete aws/b
				delete aws/d`,
		},
		{
			name: "a replacement is created first",
			old:  []string{"aws/a", "aws/b aws/a"},
			new:  []string{"replace aws/a", "update aws/b aws/a"},
			want: `
				replace aws/a
				update aws/b after replace aws/a
				delete aws/a (replaced)`,
		},
		{
			name: "a replacement that deletes first",
			old:  []string{"aws/a"},
			new:  []string{"create aws/b", "replace! aws/a aws/b"},
			want: `
				create aws/b
				delete! aws/a (replaced)
				replace! aws/a after create aws/b, delete! aws/a (replaced)`,
		},
		{
			name: "dependents of an early deletion are deleted before it",
			old:  []string{"aws/a", "aws/b aws/a", "aws/c aws/b", "aws/d aws/a", "aws/e"},
			new:  []string{"replace! aws/a", "replace aws/b aws/a"},
			want: `
				delete! aws/c
				delete! aws/b (replaced) after delete! aws/c
				delete! aws/d
				delete! aws/a (replaced) after delete! aws/b (replaced), delete! aws/d
				replace! aws/a after delete! aws/a (replaced)
				replace! aws/b after replace! aws/a, delete! aws/b (replaced)
				delete aws/e`,
		},
		{
			name: "a reference is dropped before its target is deleted first",
			old:  []string{"aws/a", "aws/b aws/a", "aws/c aws/a"},
			new:  []string{"update aws/b", "replace! aws/a", "update aws/c aws/a"},
			want: `
				update aws/b
				delete! aws/a (replaced) after update aws/b
				replace! aws/a after delete! aws/a (replaced)
				update aws/c after replace! aws/a`,
		},
		{
			name: "a reference is replaced by one to a dependent of an early deletion",
			old:  []string{"aws/a", "aws/c aws/a"},
			new:  []string{"replace! aws/a", "create aws/b aws/a", "update aws/c aws/b"},
			want: `
				delete! aws/a (replaced)
				replace! aws/a after delete! aws/a (replaced)
				create aws/b after replace! aws/a
				update aws/c after create aws/b`,
		},
		{
			name: "a reference is dropped although another one follows what takes a new name",
			old:  []string{"aws/a", "aws/b", "aws/c aws/a aws/b", "aws/d aws/a aws/b"},
			new:  []string{"replace! aws/b", "replace! aws/n was aws/a", "update aws/c aws/n aws/b", "update aws/d aws/n"},
			want: `
				delete! aws/a (replaced)
				replace! aws/n after delete! aws/a (replaced)
				update aws/d after replace! aws/n
				delete! aws/b (replaced) after update aws/d
				replace! aws/b after delete! aws/b (replaced)
				update aws/c after replace! aws/b, replace! aws/n`,
		},
		{
			name: "of two references that cannot both be dropped first, one is",
			old:  []string{"aws/x", "aws/y", "aws/a aws/x", "aws/b aws/y"},
			new:  []string{"replace! aws/x", "replace! aws/y", "update aws/a aws/y", "update aws/b aws/x"},
			want: `
				delete! aws/y (replaced)
				replace! aws/y after delete! aws/y (replaced)
				update aws/a after replace! aws/y
				delete! aws/x (replaced) after update aws/a
				replace! aws/x after delete! aws/x (replaced)
				update aws/b after replace! aws/x`,
		},
		{
			name: "retained resources are forgotten",
			old:  []string{"aws/a +retainOnDelete", "aws/b aws/a +protect +retainOnDelete"},
			new:  []string{"replace aws/a"},
			want: `
				replace aws/a
				forget aws/b
				forget aws/a (replaced) after forget aws/b`,
		},
		{
			name: "protected resources are not deleted",
			old:  []string{"aws/a +protect", "aws/b +protect", "aws/c +protect"},
			new:  []string{"replace aws/b", "update aws/c"},
			want: `
				replace aws/b
				update aws/c
				delete aws/a
				delete aws/b (replaced)`,
			faults: `
				main.ts:1:1: urn:lumi:test::a:index::aws:index:Thing::a: protected: it would be deleted; remove the option "protect" and deploy, or keep the resource
				main.ts:1:1: urn:lumi:test::a:index::aws:index:Thing::b: protected: it would be replaced; remove the option "protect" and deploy, or undo the change`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := deploy(t, new(graph.Graph), graph.Update{Version: versionOf(1, test.old...)}).Graph
			p := change(t, before, test.new...)
			var faults []Fault
			p.Steps, faults = order(before, "a", p.Steps, p.Transition)
			p.before, p.provisioner = before, provisionerOf
			p.group()
			if got, want := formatAll(p.Steps), unindent(test.want); got != want {
				t.Errorf("steps =\n%s\nwant\n%s", got, want)
			}
			if got, want := (&Error{faults}).Error(), unindent(test.faults); got != want {
				t.Errorf("faults =\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func unindent(text string) string {
	return strings.TrimSpace(strings.ReplaceAll(text, "\n\t\t\t\t", "\n"))
}

func TestOrderPending(t *testing.T) {
	before := deploy(t, new(graph.Graph), graph.Update{Version: versionOf(7, "aws/a")}).Graph
	for i, line := range []string{"aws/b aws/a", "aws/c aws/b", "aws/b aws/c +retainOnDelete", "aws/d aws/c"} {
		before = before.Leave("a", graph.Pending{Resource: resource(line, graph.Deployment(1+i))})
	}
	p := &Plan{Module: "a", Transition: change(t, before, "create aws/e").Transition}
	p.Steps, _ = order(before, "a", nil, p.Transition)
	p.before, p.provisioner = before, provisionerOf
	p.group()
	want := unindent(`
				forget aws/b
				delete aws/d
				delete aws/c after delete aws/d
				delete aws/b after delete aws/c
				delete aws/a after delete aws/b`)
	expect.Equal(t, want, formatAll(p.Steps))
}

func TestOrderRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, p := drawChange(t)
		p.Steps, _ = order(before, "a", p.Steps, p.Transition)
		p.before, p.provisioner = before, provisionerOf
		p.group()

		place, deletion := map[*Step]int{}, map[urn.URN]int{}
		last := -1 // index of the last change
		for i, s := range p.Steps {
			place[s] = i
			switch {
			case !s.removes():
				last = i
			default:
				deletion[s.URN] = i
			}
		}
		if len(deletion) != len(p.Transition.Deleted) {
			t.Fatalf("plan has %d deletions, want %d", len(deletion), len(p.Transition.Deleted))
		}
		for i, s := range p.Steps {
			for _, a := range s.After {
				if at, ok := place[a]; !ok || at >= i {
					t.Fatalf("%s comes before %s, which it waits for", format(s), format(a))
				}
			}
			if at, ok := deletion[s.URN]; s.Kind == Replace && (!ok || (at < i) != s.DeleteFirst || p.Steps[at].DeleteFirst != s.DeleteFirst) {
				t.Fatalf("%s: the deletion of the old resource is step %d, which is the wrong order", format(s), at)
			}
			if s.removes() {
				for _, on := range s.Old.Dependencies {
					if at, ok := deletion[on]; ok && at < i {
						t.Fatalf("%s comes after the deletion of its dependency %s", format(s), format(p.Steps[at]))
					}
				}
			}
		}
		var grouped, provisioned []*Step
		module := false
		for i, task := range p.Tasks {
			if task.Provisioner == "module" {
				if module || len(grouped) > 0 && place[grouped[len(grouped)-1]] > last {
					t.Fatal("the module has more than one task, or its task comes after deletions")
				}
				module = true
			} else if i > 0 && task.Provisioner == p.Tasks[i-1].Provisioner {
				t.Fatalf("tasks %d and %d have the same provisioner, but are not combined", i, i+1)
			}
			for _, s := range task.Steps {
				if task.Provisioner != provisionerOf(s.URN.Type()) || (place[s] > last) != module {
					t.Fatalf("%s is in task %d of provisioner %s", format(s), i+1, task.Provisioner)
				}
			}
			grouped = append(grouped, task.Steps...)
		}
		for _, s := range p.Steps {
			if s.IsProvisioned() {
				provisioned = append(provisioned, s)
			}
		}
		if !module || !slices.Equal(grouped, provisioned) {
			t.Fatalf("steps in tasks =\n%s\nwant the provisioned steps of the plan\n%s", formatAll(grouped), formatAll(provisioned))
		}
		now := map[string][]Vertex{}
		inputs := p.Inputs()
		for i, task := range p.Tasks {
			if old, ok := now[task.Provisioner]; ok && !slices.Equal(old, inputs[i].Old) {
				t.Fatalf("Old of task %d = %v, want New of the previous task %v", task.Number, inputs[i].Old, old)
			}
			now[task.Provisioner] = inputs[i].New
		}
		for name, vertices := range now {
			var want []Vertex
			for r := range p.Transition.Graph.Newest("a").Resources() {
				if r.Type().Package() == name {
					want = append(want, Vertex{Resource: r})
				}
			}
			if slices.SortFunc(want, Vertex.compare); name != "module" && !slices.Equal(vertices, want) {
				t.Fatalf("New of the last task of %s = %v, want %v", name, vertices, want)
			}
		}
	})
}

// drawChange draws a graph and a change whose steps are not ordered yet.
func drawChange(t *rapid.T) (*graph.Graph, *Plan) {
	on := func(lines []string) string {
		var all []string
		for _, line := range lines {
			if rapid.IntRange(0, 2).Draw(t, "depends") == 0 {
				all = append(all, strings.Fields(line)[1])
			}
		}
		return strings.Join(all, " ")
	}
	name := func(prefix string, i int) string {
		return rapid.SampledFrom([]string{"aws", "gcp"}).Draw(t, "provisioner") + "/" + prefix + fmt.Sprint(i)
	}
	var held, old, lines []string
	for i := range rapid.IntRange(1, 8).Draw(t, "resources") {
		held = append(held, fmt.Sprintf("same %s %s", name("r", i), on(held)))
		old = append(old, strings.TrimPrefix(held[i], "same "))
	}
	before := deploy(t, new(graph.Graph), graph.Update{Version: versionOf(1, old...)}).Graph
	created := 0
	for _, line := range old {
		for rapid.IntRange(0, 3).Draw(t, "create") == 0 {
			created++
			lines = append(lines, fmt.Sprintf("create %s %s", name("n", created), on(lines)))
		}
		switch kind := rapid.SampledFrom([]string{"", "same", "update", "replace", "replace!"}).Draw(t, "kind"); kind {
		case "":
		case "same":
			isHeld := func(name string) bool {
				return slices.ContainsFunc(lines, func(l string) bool { return strings.Fields(l)[1] == name })
			}
			if words := strings.Fields(line); !slices.ContainsFunc(words[1:], func(w string) bool { return !isHeld(w) }) {
				lines = append(lines, "same "+line)
			}
		default:
			lines = append(lines, fmt.Sprintf("%s %s %s", kind, strings.Fields(line)[0], on(lines)))
		}
	}
	return before, change(t, before, lines...)
}

func provisionerOf(t tokens.Type) string {
	if t == lumigl.ModuleType {
		return "module"
	}
	return t.Package()
}
