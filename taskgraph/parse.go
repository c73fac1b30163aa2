package taskgraph

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/lumi-idl/lumi/internal/yamltree"
)

// Parse parses a graph in YAML or JSON: an object with type, name and tasks, or just the list of tasks. It checks what can be
// told without other layers. The error is an *[Error] with all problems.
func Parse(src []byte, file string) (*Graph, error) {
	p := parser{file: file}
	documents, errs := yamltree.Read(src)
	for _, e := range errs {
		p.problems = append(p.problems, Problem{Line: e.Line, Column: e.Column, Message: e.Message})
	}
	g := &Graph{}
	if len(documents) == 1 && len(errs) == 0 {
		p.graph(g, documents[0].Content[0])
	}
	if len(p.problems) > 0 {
		return nil, &Error{File: file, Problems: p.problems}
	}
	return g, nil
}

type parser struct {
	file     string
	problems []Problem
}

func (p *parser) fail(n *yaml.Node, task, format string, args ...any) {
	p.problems = append(p.problems, Problem{Task: task, Line: n.Line, Column: n.Column, Message: fmt.Sprintf(format, args...)})
}

func (p *parser) graph(g *Graph, root *yaml.Node) {
	tasks := root
	if root.Kind == yaml.MappingNode {
		tasks = &yaml.Node{Kind: yaml.SequenceNode}
		for pair := range slices.Chunk(root.Content, 2) {
			switch key, value := pair[0].Value, pair[1]; key {
			case "type":
				g.Type = value.Value
			case "name":
				g.Name = value.Value
			case "tasks":
				tasks = value
			default:
				p.fail(pair[0], "", "unknown key %q; a graph has type, name and tasks", key)
			}
		}
	}
	if tasks.Kind != yaml.SequenceNode {
		p.fail(tasks, "", "tasks must be a list")
		return
	}
	for _, n := range tasks.Content {
		p.task(g, n)
	}
}

func (p *parser) task(g *Graph, n *yaml.Node) {
	v, _ := p.value(n).(map[string]any)
	id, _ := v["id"].(string)
	if id == "" {
		p.fail(n, "", "a task must be an object with an id")
		return
	}
	delete(v, "id")
	g.Tasks = append(g.Tasks, Task{ID: id, Attributes: v})
}

// value returns a node as a JSON value.
func (p *parser) value(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		v := map[string]any{}
		for pair := range slices.Chunk(n.Content, 2) {
			v[pair[0].Value] = p.value(pair[1])
		}
		return v
	case yaml.SequenceNode:
		v := []any{}
		for _, item := range n.Content {
			v = append(v, p.value(item))
		}
		return v
	}
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		return n.Value == "true"
	case "!!int", "!!float":
		return json.Number(n.Value)
	}
	return n.Value
}

// attributes are the known attributes, in the order in which tasks are printed.
var attributes = []string{
	"version", "type", "roles", "groups", "tasks", "requires", "required_for", "cross_depends", "cross_depended_by", "condition",
	"reexecute_on", "refresh_on", "idempotent", "fail_on_error", "test_pre", "test_post", "parameters",
}

func (t Task) appendJSON(dst []byte) ([]byte, error) {
	names := slices.Clone(attributes)
	for _, name := range slices.Sorted(maps.Keys(t.Attributes)) {
		if !slices.Contains(attributes, name) {
			names = append(names, name)
		}
	}
	id, err := json.Marshal(t.ID)
	dst = append(append(dst, `{"id":`...), id...)
	for _, name := range names {
		v, has := t.Attributes[name]
		if !has {
			continue
		}
		key, _ := json.Marshal(name)
		var text []byte
		if text, err = json.Marshal(v); err != nil {
			return nil, err
		}
		dst = append(append(append(append(dst, ','), key...), ':'), text...)
	}
	return append(dst, '}'), err
}

func (t *Task) parseJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		return err
	}
	t.ID, _ = v["id"].(string)
	delete(v, "id")
	t.Attributes = v
	return nil
}
