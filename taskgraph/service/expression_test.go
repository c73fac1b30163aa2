package service_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/memory"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
	"github.com/lumi-idl/lumi/taskgraph/schedule"
	"github.com/lumi-idl/lumi/taskgraph/service"
	"github.com/lumi-idl/lumi/taskgraph/tasktype"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// run runs a graph of prod to its end. It returns the run and what it executed, sorted.
func (w *world) run(r service.RunRequest) (service.Run, []string) {
	w.t.Helper()
	w.Go = w.finish
	return w.ended(must.Get(w.Start(w.t.Context(), "prod", r))(w.t).ID)
}

func (w *world) finish(environment string, id int64) {
	if _, err := w.Engine(environment).Run(w.t.Context(), id); err != nil {
		w.t.Error(err)
	}
}

func (w *world) ended(id int64) (service.Run, []string) {
	w.t.Helper()
	commands := slices.Sorted(slices.Values(w.commands))
	w.commands = nil
	return must.Get(w.Run(w.t.Context(), id))(w.t), commands
}

// skips returns the reasons for skipping tasks in a plan of prod.
func (w *world) skips(r service.RunRequest) map[string]string {
	w.t.Helper()
	all := map[string]string{}
	for _, item := range must.Get(w.Plan(w.t.Context(), "prod", r))(w.t).Items {
		if item.Skip != "" {
			all[item.Node+"/"+item.Task] = item.Skip
		}
	}
	return all
}

func TestExpressions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memory.New())
	w.nodes[0].Tags = []string{"ssd"}
	w.parameters = map[string]any{"version": "1.4", "first": []any{"folder"}, "at": "web", "width": json.Number("1")}
	w.create(prod, "default",
		"{id: folder, type: shell, parameters: {cmd: {yaql_exp: \"'mkdir ' + $.uid + '-' + $.version\"}}}",
		"{id: db, type: shell, roles: db, parameters: {cmd: x, strategy: {type: parallel, amount: {yaql_exp: $.width}}}}",
		"{id: site, type: shell, roles: {yaql_exp: $.at}, requires: {yaql_exp: $.first}, cross_depends: [{name: {yaql_exp: \"concat(d, b)\"}}], "+
			"condition: {yaql_exp: changed($.version)}, reexecute_on: [], parameters: {timeout: {yaql_exp: 2 + 3}, cmd: {yaql_exp: $.nodes.toJson()}}}",
	)
	p := must.Get(w.Plan(t.Context(), "prod", service.RunRequest{}))(t)
	same(t, service.PlanItem{
		Task: "site", Node: "web-1", Type: "shell", Condition: "changed($.version)", Holds: new(true), Waits: []string{"web-1/folder", "db-1/db"},
	}, p.Items[3])
	w.fail["web-1/site"] = errors.New("exit status 1")
	r, commands := w.run(service.RunRequest{})
	nodes := `{"db-1": {"address": "", "name": "db-1", "parameters": {"size": 1}, "roles": ["db"], "tags": ["ssd"], "uid": "db-1"}, ` +
		`"web-1": {"address": "", "name": "web-1", "parameters": {}, "roles": ["web"], "tags": [], "uid": "web-1"}}`
	same(t, []string{"db-1/db: x", "db-1/folder: mkdir db-1-1.4", "web-1/folder: mkdir web-1-1.4", "web-1/site: " + nodes}, commands)
	same(t, store.Failed, r.State)

	// A resumed run keeps its values.
	w.parameters["version"], w.nodes[0].Address, w.fail = "1.5", "10.0.0.1", nil
	must.Get(w.Resume(t.Context(), r.ID, nil))(t)
	_, commands = w.ended(r.ID)
	same(t, []string{"web-1/site: " + nodes}, commands)

	// Since the run that succeeded had version 1.4, the version has changed, and so have the values of site.
	same(t, map[string]string{}, w.skips(service.RunRequest{}))
	w.run(service.RunRequest{})
	same(t, map[string]string{"web-1/site": "condition"}, w.skips(service.RunRequest{}))
}

// A task runs again if the values of its expressions change.
func TestChangedValues(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memory.New())
	w.parameters = map[string]any{"version": "1.4", "other": "x"}
	w.create(prod, "default", "{id: a, type: shell, reexecute_on: [], test_post: {cmd: {yaql_exp: $.version}}, parameters: {cmd: x}}")
	w.run(service.RunRequest{})
	w.parameters["other"] = "y"
	same(t, map[string]string{"db-1/a": "unchanged", "web-1/a": "unchanged"}, w.skips(service.RunRequest{}))
	w.nodes[1].Parameters = map[string]any{"version": "1.5"}
	same(t, map[string]string{"db-1/a": "unchanged"}, w.skips(service.RunRequest{}))
}

// The usual condition of a task that greets new nodes.
func TestAddedNodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memory.New())
	w.create(prod, "default", shell("greet", "condition: $.uid in added($.nodes.values()).uid"))
	w.create(prod, "other", shell("a"))
	_, commands := w.run(service.RunRequest{})
	same(t, []string{"db-1/greet: echo greet", "web-1/greet: echo greet"}, commands)
	w.nodes = append(w.nodes, inventory.Node{Name: "web-2"})
	w.run(service.RunRequest{Type: "other"}) // another type does not count
	_, commands = w.run(service.RunRequest{Nodes: []string{"web-2"}})
	same(t, []string{"web-2/greet: echo greet"}, commands)
	same(t, map[string]string{"web-2/greet": "condition"}, w.skips(service.RunRequest{Nodes: []string{"web-2"}}))
	_, commands = w.run(service.RunRequest{}) // the last run of these nodes did not know web-2, but it is not one of them
	same(t, []string(nil), commands)
}

func TestExpressionErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memory.New())
	for graphType, c := range map[string]struct{ task, message string }{
		"relation": {shell("a", "requires: [{yaql_exp: $.none}]"), `cluster prod: task a: requires[0]: 1:2: missing key "none"`},
		"unknown":  {shell("a", "requires: {yaql_exp: '[b]'}"), "cluster prod: task a: requires: unknown task b"},
		"kind":     {shell("a", "requires: {yaql_exp: '5'}"), "cluster prod: task a: requires must be a string or a list of strings"},
		"cycle":    {shell("a", "requires: {yaql_exp: a}"), "cluster prod: task a: cycle: a requires a"},
		"parameter": {"{id: a, type: shell, parameters: {cmd: {yaql_exp: $.node.parameters.size}}}", "task a: parameters on db-1: parameters.cmd must be a non-empty string" +
			"\ntask a: parameters.cmd on web-1: 1:18: missing key \"size\""},
		"nested": {"{id: a, type: copy_files, parameters: {files: [{src: {yaql_exp: \"'../x'\"}, dst: y}]}}",
			"task a: parameters on db-1 and 1 more: parameters.files must be a list of {src, dst}, where src is a path inside the workspace, such as files/app.conf"},
		"timeout": {"{id: a, type: shell, parameters: {cmd: x, timeout: {yaql_exp: \"'5'\"}}}",
			"task a: parameters on db-1 and 1 more: parameters.timeout must be a number of seconds from 0 to 31622400"},
		"together": {"{id: a, type: sync, parameters: {yaql_exp: \"dict(src => x, dst => '/etc')\"}}",
			"task a: parameters on db-1 and 1 more: sync deletes files that are not in src, so dst must be a dedicated directory, such as /srv/app, not /etc"},
		"again": {"{id: a, type: shell, parameters: {cmd: {yaql_exp: \"dict(yaql_exp => '1')\"}}}",
			"task a: parameters.cmd on db-1 and 1 more: the value contains another expression"},
		"several": {"{id: a, type: shell, requires: [{yaql_exp: $.none}, {yaql_exp: $.no}], parameters: {cwd: {yaql_exp: $.cwd}, cmd: {yaql_exp: $.cmd}}}",
			`cluster prod: task a: requires[0]: 1:2: missing key "none"` + "\n" + `cluster prod: task a: requires[1]: 1:2: missing key "no"` +
				"\ntask a: parameters.cmd on db-1 and 1 more: 1:2: missing key \"cmd\"\ntask a: parameters.cwd on db-1 and 1 more: 1:2: missing key \"cwd\""},
		"strategy": {"{id: a, type: shell, parameters: {cmd: {yaql_exp: $.cmd}, strategy: {type: parallel, amount: {yaql_exp: $.none}}}}",
			`cluster prod: task a: parameters.strategy.amount: 1:2: missing key "none"` + "\ntask a: parameters.cmd on db-1 and 1 more: 1:2: missing key \"cmd\""},
		"undefined": {"{id: a, type: shell, parameters: {cmd: {yaql_exp: old($)}}}",
			"task a: parameters.cmd on db-1 and 1 more: undefined value cannot be written as JSON"},
	} {
		w.create(prod, graphType, c.task)
		_, err := w.Plan(t.Context(), "prod", service.RunRequest{Type: graphType})
		w.want("", c.message, err)
		_, err = w.Start(t.Context(), "prod", service.RunRequest{Type: graphType})
		w.want("", c.message, err)
	}
	_, err := w.Create(t.Context(), prod, w.graph("early", "{id: a, type: shell, parameters: {cdm: {yaql_exp: $.a}}}"))
	w.want("", "graph early of prod: task a: missing parameter cmd\ngraph early of prod: task a: unknown parameter \"cdm\"; did you mean cmd?", err)
}

// A run of chosen tasks stores outcomes only of these, and its data does not count as applied.
func TestChoiceHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memory.New())
	w.create(prod, "default", shell("a", "reexecute_on: []"), shell("b", "reexecute_on: []"), shell("greet", "condition: $.uid in added($.nodes.values()).uid"))
	only := service.RunRequest{Choice: schedule.Choice{Tasks: []string{"a"}, Only: true}}
	r, commands := w.run(only)
	same(t, []string{"db-1/a: echo a", "web-1/a: echo a"}, commands)
	same(t, 2, len(r.Tasks))
	same(t, map[string]string{"db-1/a": "unchanged", "web-1/a": "unchanged"}, w.skips(service.RunRequest{}))
	_, commands = w.run(service.RunRequest{})
	same(t, []string{"db-1/b: echo b", "db-1/greet: echo greet", "web-1/b: echo b", "web-1/greet: echo greet"}, commands)
	w.nodes = append(w.nodes, inventory.Node{Name: "web-2"})
	w.run(only)
	_, commands = w.run(service.RunRequest{})
	same(t, []string{"web-2/b: echo b", "web-2/greet: echo greet"}, commands)
	_, err := w.Start(t.Context(), "prod", service.RunRequest{Nodes: []string{"web-9"}, Choice: schedule.Choice{Tags: []string{"ssd"}, Skip: []string{"gret"}}})
	w.want("", "no node web-9 in the inventory\nno task has the tag ssd\nno task has the name or tag gret; did you mean greet?", err)
}

// Nodes on which no chosen task runs do not matter.
func TestChoiceRemote(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memory.New())
	w.Remote, w.nodes[0].Local = true, true
	w.create(prod, "default", shell("a", "roles: web"), shell("b", "roles: db"))
	_, commands := w.run(service.RunRequest{Choice: schedule.Choice{Skip: []string{"b"}}})
	same(t, []string{"web-1/a: echo a"}, commands)
	_, err := w.Start(t.Context(), "prod", service.RunRequest{Choice: schedule.Choice{Tasks: []string{"b"}}})
	w.want(service.Invalid, fmt.Sprintf(tasktype.NoLocal, "db-1"), err)
	_, err = w.Start(t.Context(), "prod", service.RunRequest{Nodes: []string{"web-1"}, Choice: schedule.Choice{Tasks: []string{"b"}}})
	w.want(service.Invalid, "graph default of prod has none of the chosen tasks on these nodes: check the tasks, tags, and nodes", err)
}
