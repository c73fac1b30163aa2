package inventory

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/lumi-idl/lumi/lang/yaql"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/query"
	"github.com/lumi-idl/lumi/taskgraph"
)

// Load parses an inventory file in YAML or JSON. Its queries select resources of snapshot, which may be nil. Relative
// paths of keys are resolved against the directory of the file. Load returns a *[taskgraph.Error] with all problems.
func Load(src, file string, snapshot *lumigl.Snapshot) (*Inventory, error) {
	if snapshot == nil {
		snapshot = &lumigl.Snapshot{}
	}
	l := &loader{folder: filepath.Dir(file), index: query.New(snapshot.Base()), from: map[string]string{}}
	l.Scalar = l.scalar
	if root := l.Read([]byte(src)); root != nil && len(l.Problems) == 0 {
		l.root(root)
	}
	if err := l.Err(file); err != nil {
		return nil, err
	}
	slices.SortFunc(l.Nodes, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	return &l.Inventory, nil
}

type loader struct {
	taskgraph.Document
	Inventory
	folder string
	index  *query.Index
	from   map[string]string // origin of each node by name, for messages
	// picks and expressions belong to the current entry of resources. They are nil elsewhere.
	picks       *query.Expression
	expressions map[*yaml.Node]*yaql.Expression
	// resource is the current resource, and data is its $. While resource is nil, expressions are not evaluated but
	// counted in open.
	resource *lumigl.Vertex
	data     any
	open     int
}

func (l *loader) fail(n *yaml.Node, format string, args ...any) {
	if l.resource != nil {
		format, args = "%s: "+format, append([]any{l.resource.Key()}, args...)
	}
	l.Fail(n, format, args...)
}

// entries iterates over the keys and values of an object. what is the name of the object for messages.
func (l *loader) entries(n *yaml.Node, what string) iter.Seq2[*yaml.Node, *yaml.Node] {
	if n.Kind != yaml.MappingNode && n.ShortTag() != "!!null" {
		l.fail(n, "%s must be an object", what)
	}
	return func(yield func(key, value *yaml.Node) bool) {
		for i := 0; n.Kind == yaml.MappingNode && i < len(n.Content) && yield(n.Content[i], n.Content[i+1]); i += 2 {
		}
	}
}

func (l *loader) root(root *yaml.Node) {
	for key, value := range l.entries(root, "an inventory") {
		switch key.Value {
		case "parameters":
			v := l.Value(value)
			if l.Parameters, _ = v.(map[string]any); l.Parameters == nil && v != nil {
				l.fail(value, "parameters must be an object")
			}
		case "nodes":
			for key, value := range l.entries(value, "nodes") {
				l.add(l.node(key.Value, key, value), key, fmt.Sprintf("line %d", key.Line))
			}
		case "resources":
			if value.Kind != yaml.SequenceNode && value.ShortTag() != "!!null" {
				l.fail(value, "resources must be a list")
				continue
			}
			for _, entry := range value.Content {
				l.resources(entry)
			}
		default:
			l.fail(key, "unknown key %q; expected parameters, nodes, or resources", key.Value)
		}
	}
}

// resources adds a node for each resource selected by an entry. It first checks everything that does not depend on
// resources.
func (l *loader) resources(entry *yaml.Node) {
	before := len(l.Problems)
	l.expressions = map[*yaml.Node]*yaql.Expression{}
	defer func() { l.picks, l.expressions, l.resource = nil, nil, nil }()
	if l.node("", entry, entry); len(l.Problems) > before {
		return
	}
	picked, err := l.index.Select(l.picks)
	if err != nil {
		l.fail(entry, "query: %s", err)
	}
	for _, l.resource = range picked {
		l.data = describe(l.resource)
		l.add(l.node("", entry, entry), entry, l.resource.Key())
	}
}

// add adds a node, or reports it as a duplicate. from is the origin of the node.
func (l *loader) add(n Node, at *yaml.Node, from string) {
	if n.Name == "" && l.resource != nil {
		return // already reported
	}
	err := taskgraph.CheckName("node name", n.Name)
	if other, exists := l.from[n.Name]; exists {
		err = fmt.Errorf("duplicate node %s, also from %s; rename one of them", n.Name, other)
	}
	if err != nil {
		l.fail(at, "%s", err)
		return
	}
	l.from[n.Name] = from
	l.Nodes = append(l.Nodes, n)
}

type field struct {
	key, must string
	// set sets the value and reports whether it is valid. It is nil only for the key query.
	set func(n *Node, v any) bool
}

const labels = "a list of names or a comma-separated string; names consist of letters, digits, _, -, and ."

// fields lists the keys of a node. The first two are allowed only for resources.
var fields = []field{
	{key: "query"},
	{"name", "a non-empty string", func(n *Node, v any) bool { return setText(&n.Name, v) }},
	{"address", "a non-empty string", func(n *Node, v any) bool { return setText(&n.Address, v) }},
	{"port", "a number from 1 to 65535", func(n *Node, v any) bool {
		text, _ := v.(json.Number)
		port, err := strconv.ParseUint(string(text), 10, 16)
		n.Port = int(port)
		return err == nil && port > 0
	}},
	{"user", "a non-empty string", func(n *Node, v any) bool { return setText(&n.User, v) }},
	{"key", "a file path", func(n *Node, v any) bool { return setText(&n.Key, v) }},
	{"jump", jumpForm, func(n *Node, v any) bool {
		if !setText(&n.Jump, v) {
			return false
		}
		_, err := ParseJump(n.Jump)
		return err == nil
	}},
	{"known_hosts", "a file path", func(n *Node, v any) bool { return setText(&n.KnownHosts, v) }},
	{"become", "sudo", func(n *Node, v any) bool { return setText(&n.Become, v) && n.Become == "sudo" }},
	{"become_secret", "the name of a secret, such as sudo", func(n *Node, v any) bool { return setText(&n.Secret, v) }},
	{"roles", labels, func(n *Node, v any) bool { return setLabels(&n.Roles, v) }},
	{"tags", labels, func(n *Node, v any) bool { return setLabels(&n.Tags, v) }},
	{"connection", "ssh or local", func(n *Node, v any) bool { n.Local = v == "local"; return n.Local || v == "ssh" }},
	{"parameters", "an object", func(n *Node, v any) (ok bool) { n.Parameters, ok = v.(map[string]any); return ok }},
}

func setText(to *string, v any) bool {
	*to, _ = v.(string)
	return *to != ""
}

func setLabels(to *[]string, v any) bool {
	list, ok := v.([]any)
	if text, isText := v.(string); isText {
		ok = true
		for role := range strings.SplitSeq(text, ",") {
			list = append(list, strings.TrimSpace(role))
		}
	}
	for _, item := range list {
		name, _ := item.(string)
		ok = ok && taskgraph.CheckName("label", name) == nil
		if !slices.Contains(*to, name) {
			*to = append(*to, name)
		}
	}
	return ok
}

// node decodes an entry for a node or, if name is "", for resources. While resource is nil, values that depend on it
// are skipped.
func (l *loader) node(name string, at, entry *yaml.Node) Node {
	n, problems, open := Node{Name: name}, len(l.Problems), l.open
	what, known, set := "a node", fields[2:], map[string]bool{}
	if at == entry {
		what, known = "a resource", fields
	}
	for key, value := range l.entries(entry, what) {
		i := slices.IndexFunc(known, func(f field) bool { return f.key == key.Value })
		if i < 0 {
			var keys []string
			for _, f := range known {
				keys = append(keys, f.key)
			}
			l.fail(key, "unknown key %q; expected one of %s", key.Value, strings.Join(keys, ", "))
			continue
		}
		if set[key.Value] = true; key.Value == "query" {
			l.query(value)
			continue
		}
		problems, open := len(l.Problems), l.open
		v := l.Value(value)
		isKnown := len(l.Problems) == problems && l.open == open
		if isKnown && (v != nil || key.Value == "name") && !known[i].set(&n, v) {
			l.fail(value, "%s must be %s", key.Value, known[i].must)
		}
	}
	switch {
	case at == entry && entry.Kind == yaml.MappingNode && (!set["query"] || !set["name"]):
		l.fail(entry, `a resource must have query and name, such as {query: type == "aws:ec2:Instance", name: $.name}`)
	case n.Address == "" && !n.Local && l.open == open && len(l.Problems) == problems:
		l.fail(at, "a node must have an address or connection: local")
	case n.Secret != "" && n.Become == "" && l.open == open && len(l.Problems) == problems:
		l.fail(at, "become_secret requires become: sudo")
	}
	for _, name := range []*string{&n.Key, &n.KnownHosts} {
		if *name != "" && !filepath.IsAbs(*name) && !strings.HasPrefix(*name, "~/") {
			*name = filepath.Join(l.folder, *name)
		}
	}
	if n.Key != "" && !slices.Contains(l.Keys, n.Key) {
		l.Keys = append(l.Keys, n.Key)
	}
	return n
}

func (l *loader) query(n *yaml.Node) {
	if l.picks != nil {
		return
	}
	var err error
	if l.picks, err = query.Compile(n.Value); err != nil {
		l.fail(n, "query: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
}

// scalar evaluates an expression. While there is no resource, the value is nil.
func (l *loader) scalar(n *yaml.Node) (v any, ok bool) {
	if l.expressions == nil || !strings.HasPrefix(n.Value, "$") {
		return nil, false
	}
	x, err := l.expressions[n], error(nil)
	if x == nil {
		x, err = yaql.Compile(n.Value)
		l.expressions[n] = x
	}
	switch {
	case err != nil:
	case l.resource == nil:
		l.open++
		return nil, true
	default:
		result, wrong := x.Evaluate(context.Background(), l.data)
		text, unknown := yaql.AppendJSON(nil, result)
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if err = cmp.Or(wrong, unknown); err == nil {
			err = d.Decode(&v)
		}
	}
	if err != nil {
		l.fail(n, "expression, %s", err)
	}
	return v, true
}
