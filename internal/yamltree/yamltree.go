// Package yamltree parses YAML and JSON into trees with positions. It expands aliases, applies merge keys, and rejects
// duplicate keys.
package yamltree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// mostExpanded limits the number of nodes that result from expanding aliases.
const mostExpanded = 100_000

// Error is an error with a position. Line and Column count from 1; columns are in characters.
type Error struct {
	Line, Column int
	Message      string
}

func (e *Error) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Message) }

// At returns an error with the position of a node.
func At(n *yaml.Node, format string, args ...any) *Error {
	return &Error{n.Line, n.Column, fmt.Sprintf(format, args...)}
}

// Tab is the message for an invalid tab.
const Tab = "invalid YAML: this is a tab; use spaces"

// IsTab reports whether the character at the given position is a tab.
func IsTab(src []byte, line, column int) bool {
	lines := bytes.SplitN(src, []byte("\n"), line+1)
	if line > len(lines) {
		return false
	}
	text := []rune(string(lines[line-1]))
	return column <= len(text) && text[column-1] == '\t'
}

// Read parses the documents in src into trees of scalars, sequences, and mappings with distinct keys. It returns all
// errors, except that it stops at the first syntax error.
func Read(src []byte) ([]*yaml.Node, []*Error) {
	src = bytes.TrimPrefix(src, []byte("\uFEFF"))
	for i, r := range string(src) {
		if _, size := utf8.DecodeRune(src[i:]); r == utf8.RuneError && size == 1 {
			before := src[:i]
			column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
			return nil, []*Error{{bytes.Count(before, []byte("\n")) + 1, column, "invalid UTF-8"}}
		}
	}
	var documents []*yaml.Node
	var r reader
	if isJSON(src) {
		j := jsonReader{json.NewDecoder(bytes.NewReader(src)), src, 0, 1, 1}
		j.UseNumber()
		root := j.next()
		return []*yaml.Node{{Kind: yaml.DocumentNode, Line: root.Line, Column: root.Column, Content: []*yaml.Node{r.tree(root)}}}, r.errs
	}
	for decoder := yaml.NewDecoder(bytes.NewReader(src)); ; {
		n := new(yaml.Node)
		switch err := decoder.Decode(n); {
		case errors.Is(err, io.EOF):
			return documents, r.errs
		case err != nil:
			wrong := new(yaml.LoadError)
			if !errors.As(err, &wrong) {
				wrong.Message = err.Error()
			}
			e := &Error{max(wrong.Mark.Line, 1), max(wrong.Mark.Column, 1), "invalid YAML: " + wrong.Message}
			if IsTab(src, e.Line, e.Column) {
				e.Message = Tab
			}
			return documents, append(r.errs, e)
		case len(n.Content) > 0:
			documents = append(documents, r.tree(n))
		}
	}
}

type reader struct {
	aliases, expanded int
	errs              []*Error
}

// tree expands the aliases and merge keys in n. It copies nodes reached through an alias. After mostExpanded copies, it
// stops expanding, so that it terminates even if an alias contains itself.
func (r *reader) tree(n *yaml.Node) *yaml.Node {
	if r.expanded > mostExpanded {
		return n
	}
	if r.aliases > 0 {
		if r.expanded++; r.expanded == mostExpanded+1 {
			r.errs = append(r.errs, At(n, "aliases expand to more than %d values", mostExpanded))
		}
		copied := *n
		n = &copied
	}
	switch n.Kind {
	case yaml.AliasNode:
		r.aliases++
		defer func() { r.aliases-- }()
		return r.tree(n.Alias)
	case yaml.MappingNode:
		n.Content = r.mapping(n)
	case yaml.SequenceNode, yaml.DocumentNode:
		items := make([]*yaml.Node, 0, len(n.Content))
		for _, item := range n.Content {
			if r.expanded > mostExpanded {
				break
			}
			items = append(items, r.tree(item))
		}
		n.Content = items
	}
	return n
}

// entries contains the keys and values of a mapping, with the index of each key.
type entries struct {
	content []*yaml.Node
	index   map[string]int
}

func (e *entries) set(id string, key, value *yaml.Node) {
	if i, ok := e.index[id]; ok {
		e.content[i], e.content[i+1] = key, value
		return
	}
	e.index[id] = len(e.content)
	e.content = append(e.content, key, value)
}

// mapping returns the keys and values of n. Merged entries come first, and the mapping's own keys override them.
func (r *reader) mapping(n *yaml.Node) []*yaml.Node {
	merged, own := &entries{index: map[string]int{}}, &entries{index: map[string]int{}}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := r.tree(n.Content[i]), r.tree(n.Content[i+1])
		if r.expanded > mostExpanded {
			break
		}
		id := identity(key)
		_, twice := own.index[id]
		switch {
		case id == "!!merge <<":
			if !merged.merge(value) {
				r.errs = append(r.errs, At(value, "only mappings can be merged"))
			}
		case twice:
			r.errs = append(r.errs, At(key, "duplicate key"))
		default:
			own.set(id, key, value)
		}
	}
	for i := 0; i < len(own.content); i += 2 {
		merged.set(identity(own.content[i]), own.content[i], own.content[i+1])
	}
	return merged.content
}

// merge adds the entries of a mapping, or of a list of mappings, whose keys are missing from e. It returns false if
// from is neither.
func (e *entries) merge(from *yaml.Node) bool {
	switch from.Kind {
	case yaml.SequenceNode:
		return !slices.ContainsFunc(from.Content, func(item *yaml.Node) bool { return !e.merge(item) })
	case yaml.MappingNode:
		for i := 0; i < len(from.Content); i += 2 {
			id := identity(from.Content[i])
			if _, has := e.index[id]; !has {
				e.set(id, from.Content[i], from.Content[i+1])
			}
		}
		return true
	}
	return false
}

// identity returns a string that identifies a key, so that equal keys have equal strings.
func identity(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return n.ShortTag() + " " + n.Value
	}
	var b strings.Builder
	for _, part := range n.Content {
		text := identity(part)
		fmt.Fprintf(&b, "%d:%s,", len(text), text)
	}
	return fmt.Sprintf("%d %s", n.Kind, &b)
}

// Within returns the position in src of a position in the value of a scalar: the given line and column, both counting from
// 1. If the scalar contains escape sequences, it returns the start of the scalar.
func Within(src []byte, n *yaml.Node, line, column int) (int, int) {
	text := []rune(string(bytes.TrimPrefix(src, []byte("\uFEFF"))))
	at, l, c := 0, 1, 1
	next := func() {
		if c++; text[at] == '\n' {
			l, c = l+1, 1
		}
		at++
	}
	skip := func(is func(rune) bool) {
		for at < len(text) && is(text[at]) {
			next()
		}
	}
	skip(func(rune) bool { return l < n.Line || l == n.Line && c < n.Column })
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		skip(func(r rune) bool { return r != '\n' })
	case n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 && at < len(text):
		next()
	}
	vl, vc := 1, 1
	for _, r := range n.Value {
		skip(unicode.IsSpace)
		switch {
		case vl > line || vl == line && vc >= column:
			return l, c
		case unicode.IsSpace(r):
		case at == len(text) || text[at] != r:
			return n.Line, n.Column
		default:
			next()
		}
		if vc++; r == '\n' {
			vl, vc = vl+1, 1
		}
	}
	return l, c
}
