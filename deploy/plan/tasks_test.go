package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/expect"
)

// planned formats the tasks of a plan and their contexts.
func planned(p *Plan) string {
	var lines []string
	inputs := p.Inputs()
	for i, task := range p.Tasks {
		line := fmt.Sprintf("%d %s %v", task.Number, task.Provisioner, inputs[i])
		if inputs[i].Context != nil {
			line += " with " + list(inputs[i].Context)
		}
		var steps []string
		for _, s := range task.Steps {
			steps = append(steps, format(s))
		}
		if steps != nil {
			line += ": " + strings.Join(steps, ", ")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestTasks(t *testing.T) {
	for _, test := range []struct {
		name     string
		old, new []string
		want     string
		steps    string
	}{
		{
			name: "nothing changes",
			old:  []string{"aws/a"},
			new:  []string{"same aws/a"},
			want: `
				1 module [module[a::1], module[a::2]] [module[a::1]]`,
			steps: `
				same aws/a`,
		},
		{
			name: "each kind of step",
			old:  []string{"aws/a", "aws/b", "aws/c", "aws/d +retainOnDelete", "aws/e"},
			new:  []string{"same aws/a", "update aws/b", "replace aws/c aws/a", "create aws/f", "import aws/g"},
			want: `
				1 aws [thing[a:a:1], thing[a:b:2], thing[a:c:1], thing[a:c:2], thing[a:e:1], thing[a:f:2], thing[a:g:2]] [thing[a:a:1], thing[a:b:1], thing[a:c:1], thing[a:e:1]]: update aws/b, replace aws/c, create aws/f, import aws/g
				2 module [module[a::1], module[a::2]] [module[a::1]]
				3 aws [thing[a:a:1], thing[a:b:2], thing[a:c:2], thing[a:f:2], thing[a:g:2]] [thing[a:a:1], thing[a:b:2], thing[a:c:1], thing[a:c:2], thing[a:e:1], thing[a:f:2], thing[a:g:2]]: delete aws/c (replaced), delete aws/e`,
			steps: `
				same aws/a
				update aws/b
				replace aws/c after same aws/a
				create aws/f
				import aws/g
				forget aws/d
				delete aws/c (replaced)
				delete aws/e`,
		},
		{
			name: "few tasks, and what depends on others comes after them",
			old:  []string{"gcp/z"},
			new:  []string{"create aws/a", "create gcp/b", "create aws/c gcp/b", "create gcp/d aws/a", "create aws/e", "same gcp/z"},
			want: `
				1 aws [thing[a:a:2], thing[a:e:2]] []: create aws/a, create aws/e
				2 gcp [thing[a:b:2], thing[a:d:2], thing[a:z:1]] [thing[a:z:1]] with [thing[a:a:2]]: create gcp/b, create gcp/d
				3 aws [thing[a:a:2], thing[a:c:2], thing[a:e:2]] [thing[a:a:2], thing[a:e:2]] with [thing[a:b:2]]: create aws/c
				4 module [module[a::1], module[a::2]] [module[a::1]]`,
			steps: `
				create aws/a
				create aws/e
				same gcp/z
				create gcp/b
				create gcp/d after create aws/a
				create aws/c after create gcp/b`,
		},
		{
			name: "early deletions come before the task of the module",
			old:  []string{"gcp/a", "aws/b gcp/a"},
			new:  []string{"replace! gcp/a"},
			want: `
				1 aws [] [thing[a:b:1]]: delete! aws/b
				2 gcp [thing[a:a:2]] [thing[a:a:1]]: delete! gcp/a (replaced), replace! gcp/a
				3 module [module[a::1], module[a::2]] [module[a::1]]`,
			steps: `
				delete! aws/b
				delete! gcp/a (replaced) after delete! aws/b
				replace! gcp/a after delete! gcp/a (replaced)`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := deploy(t, new(graph.Graph), graph.Update{Version: versionOf(1, test.old...)}).Graph
			p := change(t, before, test.new...)
			p.Steps, _ = order(before, "a", p.Steps, p.Transition)
			p.before, p.provisioner = before, provisionerOf
			p.group()
			if got, want := planned(p), unindent(test.want); got != want {
				t.Errorf("tasks =\n%s\nwant\n%s", got, want)
			}
			if got, want := formatAll(p.Steps), unindent(test.steps); got != want {
				t.Errorf("steps =\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestTasksMoves(t *testing.T) {
	before := deploy(t, new(graph.Graph), graph.Update{Version: versionOf(1, "aws/a")}).Graph
	old, new := before.Newest("a").Resource(urnOf("aws/a")), resource("aws/b", 1)
	created := resource("aws/c", 2)
	p := &Plan{Module: "a", Steps: []*Step{{Kind: Move, URN: new.URN, Old: old, New: new}, {Kind: Create, URN: created.URN, New: created}}}
	version := graph.NewVersion(graph.VersionID{Module: "a", Deployment: 2}, []*graph.Resource{new, created})
	p.Transition = deploy(t, before, graph.Update{Version: version, Became: map[*graph.Resource]*graph.Resource{old: new}})
	p.before, p.provisioner = before, provisionerOf
	p.group()
	want := unindent(`
				1 aws [thing[a:b:1], thing[a:c:2]] [thing[a:b:1]]: create aws/c
				2 module [module[a::1], module[a::2]] [module[a::1]]`)
	expect.Equal(t, want, planned(p))
}

// Types of provided values.
var number, text = graph.Type{Form: lumigl.TextOf("number")}, graph.Type{Form: lumigl.TextOf("string")}

// provides returns a version of module a that provides x with type t, and a constraint satisfied by it.
func provides(t graph.Type, deployment graph.Deployment, lines ...string) (*graph.Version, graph.Constraint) {
	v := versionOf(deployment, lines...)
	v.Provides = []graph.Provided{{Name: "x", Type: t, Value: lumigl.TextOf("1"), Result: lumigl.TextOf("1")}}
	return v, graph.Constraint{Module: "a", Name: "x", Type: t}
}

func uses(deployment graph.Deployment, c graph.Constraint) *graph.Version {
	v := graph.NewVersion(graph.VersionID{Module: "b", Deployment: deployment}, nil)
	v.Uses = []graph.Edge{{Constraint: c}}
	return v
}

// sideBySide returns a graph with two versions of module a, in which b uses the first.
func sideBySide(t *testing.T, first ...string) *graph.Graph {
	v1, c := provides(text, 1, first...)
	g := deploy(t, new(graph.Graph), graph.Update{Version: v1}).Graph
	g = deploy(t, g, graph.Update{Version: uses(2, c)}).Graph
	v3, _ := provides(number, 3, "aws/b")
	return deploy(t, g, graph.Update{Version: v3}).Graph
}

func TestTasksOlderVersion(t *testing.T) {
	before := sideBySide(t, "gcp/y", "aws/x gcp/y")
	v4, c := provides(number, 4, "aws/c")
	created := v4.Resource(urnOf("aws/c"))
	p := &Plan{Module: "a", Steps: []*Step{{Kind: Create, URN: created.URN, New: created}}}
	p.Transition = deploy(t, before, graph.Update{Version: v4})
	p.Steps, _ = order(before, "a", p.Steps, p.Transition)
	p.before, p.provisioner = before, provisionerOf
	p.group()
	want := unindent(`
				1 aws [thing[a:b:3], thing[a:c:4], thing[a:x:1]] [thing[a:b:3], thing[a:x:1]] with [thing[a:y:1]]: create aws/c
				2 module [module[a::1], module[a::3], module[a::4]] [module[a::1], module[a::3]]
				3 aws [thing[a:c:4], thing[a:x:1]] [thing[a:b:3], thing[a:c:4], thing[a:x:1]] with [thing[a:y:1]]: delete aws/b`)
	expect.Equal(t, want, planned(p))

	before = p.Transition.Graph
	p = &Plan{Module: "b", Transition: deploy(t, before, graph.Update{Version: uses(5, c)})}
	p.before, p.provisioner = before, provisionerOf
	p.group()
	want = "1 module [module[b::2], module[b::5]] [module[b::2]] with [module[a::1], module[a::4]]"
	expect.Equal(t, want, planned(p))
}

func TestVertexString(t *testing.T) {
	for want, r := range map[string]graph.Resource{
		"database[a:foodb:1]":      {URN: "urn:lumi:prod::a:index::aws:rds:Database::foodb", Deployment: 1},
		"vPC[my/net:lib:web/#2:7]": {URN: "urn:lumi:prod::my/net:lib::aws:ec2:VPC::web/#2", Deployment: 7},
	} {
		expect.Equal(t, want, (Vertex{Resource: &r}).String())
	}
}
