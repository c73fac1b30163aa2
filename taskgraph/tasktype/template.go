package tasktype

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"text/template"
	"text/template/parse"
)

// maxTemplate is the maximum size of a template and of its result, in bytes.
const maxTemplate = 16 << 20

// render executes a template in the workspace on the data of the node. It returns the result and the mode of the file.
func (c *Call) render(ctx context.Context, from *sources, name string) (io.Reader, fs.FileMode, error) {
	file, err := from.open(name)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	if file.info.IsDir() {
		return nil, 0, fmt.Errorf("template %s: not a file", name)
	}
	if file.info.Size() > maxTemplate {
		return nil, 0, fmt.Errorf("template %s: larger than %d bytes", name, maxTemplate)
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, 0, err
	}
	t, err := template.New(name).Option("missingkey=error").Parse(string(text))
	if err != nil {
		return nil, 0, err
	}
	data, err := c.Data()
	if err != nil {
		return nil, 0, err
	}
	for _, t := range t.Templates() {
		if t.Tree != nil {
			interrupt(t.Root)
		}
	}
	var result bytes.Buffer
	if err := t.Execute(&limited{ctx, name, &result}, data); err != nil {
		return nil, 0, err
	}
	return &result, file.info.Mode().Perm(), nil
}

// interrupt makes each iteration and each call of a template write something, if only empty text. Execution ends after a
// failed write, so a [limited] writer can stop templates that run for long without output.
func interrupt(lists ...*parse.ListNode) {
	for _, list := range lists {
		if list == nil {
			continue
		}
		for _, n := range list.Nodes {
			switch n := n.(type) {
			case *parse.IfNode:
				interrupt(n.List, n.ElseList)
			case *parse.WithNode:
				interrupt(n.List, n.ElseList)
			case *parse.RangeNode:
				interrupt(n.List, n.ElseList)
			}
		}
		list.Nodes = slices.Insert(list.Nodes, 0, parse.Node(&parse.TextNode{NodeType: parse.NodeText, Pos: list.Pos}))
	}
}

// limited is a writer that fails if ctx is done, if the result becomes too large, or if a template prints null.
type limited struct {
	ctx    context.Context
	name   string
	result *bytes.Buffer
}

func (l *limited) Write(p []byte) (int, error) {
	if err := l.ctx.Err(); err != nil {
		return 0, err
	}
	if string(p) == "<no value>" { // printed for null, and for missing keys in the function index
		line := bytes.Count(l.result.Bytes(), []byte("\n")) + 1
		return 0, fmt.Errorf("template %s: line %d of its result prints a missing key or null", l.name, line)
	}
	if l.result.Len()+len(p) > maxTemplate {
		return 0, fmt.Errorf("the result is larger than %d bytes", maxTemplate)
	}
	return l.result.Write(p)
}
