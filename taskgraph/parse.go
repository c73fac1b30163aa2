package taskgraph

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/lumi-idl/lumi/internal/suggest"
)

// Parse parses a graph in YAML or JSON: an object with type, name, and tasks, or only a list of tasks. It performs all
// checks that do not depend on other layers; any attribute may be missing. Graph.Tasks is nil only for an object
// without tasks. Parse returns an *[Error] with all problems.
func Parse(src []byte, file string) (*Graph, error) {
	p := &parser{}
	return p.parse(src, file, p.graph)
}

// Upload is a graph in a request.
type Upload struct {
	Graph
	// Unnamed means that the name is "", which removes the name of a stored graph.
	Unnamed bool
	// Relations is the JSON value of the field relations, or nil.
	Relations any
}

// ParseUpload is like [Parse] but also returns what only stored graphs have.
func ParseUpload(src []byte) (*Upload, error) {
	p := &parser{}
	_, err := p.parse(src, "", p.graph)
	return &p.Upload, err
}

// ParseTask is like [Parse] but parses a single task, and returns its warnings.
func ParseTask(src []byte) (Task, []Problem, error) {
	p := &parser{}
	g, err := p.parse(src, "", p.task)
	if err != nil {
		return Task{}, nil, err
	}
	return g.Tasks[0], g.Warnings, nil
}

func (p *parser) parse(src []byte, file string, read func(*yaml.Node)) (*Graph, error) {
	p.nodes = map[string]*yaml.Node{}
	if root := p.Read(src); root != nil {
		read(root)
	} else if len(p.Problems) == 0 {
		p.Fail(&yaml.Node{Line: 1, Column: 1}, "empty file; a graph without tasks is []")
	}
	if err := p.Err(file); err != nil {
		return nil, err
	}
	return &p.Graph, nil
}

type parser struct {
	Document
	Upload
}

// Locate adds positions to problems of effective tasks that are in the parsed graph. It returns all problems in source
// order. Problems without a position come last.
func (g *Graph) Locate(problems []Problem) []Problem {
	all := slices.Clone(problems)
	for i, p := range all {
		if n := g.nodes[p.Task]; n != nil && p.Line == 0 {
			n = cmp.Or(entry(n, p.Attribute), entry(n, "id"))
			all[i].Line, all[i].Column = n.Line, n.Column
		}
	}
	slices.SortStableFunc(all, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(uint(a.Line-1), uint(b.Line-1)), cmp.Compare(a.Column, b.Column)) // line 0 is last
	})
	return all
}

// knownKeys lists the keys of objects in tasks, by the path of the object.
var knownKeys = map[string][]string{
	"": slices.Concat(idKeys, attributes), "parameters.strategy": {"type", "amount"},
	"cross_depends": {"name", "role", "policy"}, "cross_depended_by": {"name", "role", "policy"},
	"test_pre": {"cmd", "timeout", "retries"}, "test_post": {"cmd", "timeout", "retries"},
}

// warn reports unknown keys of n and the values in it: misspelled keys as errors, and others as warnings. For keys of
// the task itself, it warns only about likely typos.
func (p *parser) warn(n *yaml.Node, path string) {
	if n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			p.warn(item, path)
		}
	}
	if n.Kind != yaml.MappingNode || entry(n, expressionKey) != nil {
		return
	}
	keys := knownKeys[path]
	for pair := range slices.Chunk(n.Content, 2) {
		key := pair[0].Value
		at := strings.TrimPrefix(path+"."+key, ".")
		near := suggest.DidYouMean(key, keys)
		switch name := misspelled(path, key, keys); {
		case slices.Contains(keys, key):
		case name != "":
			p.Attribute = steps(at)[0]
			p.Fail(pair[0], "unknown attribute %q; did you mean %s?", at, name)
		case keys != nil && (path != "" || near != ""):
			p.Warnings = append(p.Warnings, Problem{
				Task: p.Task, Attribute: steps(at)[0], Line: pair[0].Line, Column: pair[0].Column,
				Message: fmt.Sprintf("unknown attribute %q, kept as is%s", at, near),
			})
		}
		if knownKeys[at] != nil || at == "parameters" {
			p.warn(pair[1], at)
		}
	}
}

// reader returns a reader that reports problems with their positions in the tree root.
func (p *parser) reader(root *yaml.Node) reader {
	return func(path, message string) {
		n, all := root, steps(path)
		for _, step := range all {
			if i, err := strconv.Atoi(step); err == nil && i < len(n.Content) {
				n = n.Content[i]
			} else {
				n = cmp.Or(entry(n, step), n)
			}
		}
		p.Attribute = all[0]
		p.Fail(n, "%s", message)
	}
}

// entry returns the value of a key of an object, or nil.
func entry(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

func (p *parser) graph(root *yaml.Node) {
	tasks := root
	if root.Kind == yaml.MappingNode {
		tasks = entry(root, "tasks")
		keys := []string{"type", "name", "tasks"}
		for pair := range slices.Chunk(root.Content, 2) {
			// Stored graphs also contain id and relations, and those returned for an upload contain warnings.
			if key := pair[0].Value; !slices.Contains(keys, key) && !slices.Contains([]string{"id", "relations", "warnings"}, key) {
				p.Fail(pair[0], "unknown key %q; expected type, name, or tasks%s", key, suggest.DidYouMean(key, keys))
			}
		}
		if n := entry(root, "relations"); n != nil {
			p.Relations = p.Value(n)
		}
		r := p.reader(root)
		text := func(key string, check func(string) error) string {
			if n := entry(root, key); n != nil {
				return r.optional(p.Value(n), key, check)
			}
			return ""
		}
		p.Type = text("type", func(name string) error { return CheckName("graph type", name) })
		if n := entry(root, "name"); n != nil && p.Value(n) == "" {
			p.Unnamed = true
		} else {
			p.Name = text("name", nil)
		}
		p.Attribute = ""
	}
	switch {
	case tasks == nil:
	case tasks.Kind == yaml.SequenceNode:
		p.Tasks = []Task{}
		for _, n := range tasks.Content {
			p.task(n)
		}
	case tasks == root:
		p.Fail(root, "a graph must be a list of tasks, or an object with type, name, and tasks")
	default:
		p.Fail(tasks, "tasks must be a list")
	}
}

func (p *parser) task(n *yaml.Node) {
	at := cmp.Or(entry(n, "id"), n)
	p.Task, p.Attribute = "", ""
	if n.Kind != yaml.MappingNode {
		p.Fail(n, "a task must be an object with an id")
		return
	}
	if at.Kind == yaml.ScalarNode {
		p.Task = at.Value
	}
	n = p.canonical(n)
	t, err := newTask(p.object(n, 0))
	if err != nil {
		p.Attribute = "id"
		p.Fail(at, "%s", err)
		return
	}
	t.spec(p.reader(n))
	if first := p.nodes[t.ID]; first != nil {
		p.Attribute = "id"
		p.Fail(at, "duplicate task, first defined on line %d", entry(first, "id").Line)
	} else {
		p.nodes[t.ID] = n
	}
	p.warn(n, "")
	p.Tasks = append(p.Tasks, t)
}

// canonical returns the object n with canonical attribute names. It records the synonyms, and reports attributes that
// are given in two spellings.
func (p *parser) canonical(n *yaml.Node) *yaml.Node {
	task, first := *n, map[string]*yaml.Node{}
	task.Content = slices.Clone(n.Content)
	for i := 0; i < len(task.Content); i += 2 {
		key, name := task.Content[i], task.Content[i].Value
		for attribute, others := range spellings {
			if slices.Contains(others, key.Value) {
				renamed := *key
				name, renamed.Value = attribute, attribute
				task.Content[i] = &renamed
				p.Synonyms = append(p.Synonyms, Synonym{p.Task, key.Value, name, key.Line, key.Column})
			}
		}
		if other := first[name]; other == nil {
			first[name] = key
		} else if p.Attribute = name; other.Value != key.Value { // yamltree reports equal keys
			p.Fail(key, "%s and %s are the same attribute; use only one of them", other.Value, key.Value)
		}
	}
	return &task
}
