package muranopl

import (
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/lumi-idl/lumi/lang/yaql"
)

func (p Position) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

var lineBreaks = regexp.MustCompile(`\s*\n\s*`)

// line returns the expression with line breaks replaced by spaces.
func (x Expression) line() string { return lineBreaks.ReplaceAllString(string(x), " ") }

// Tree returns a Node for a Go value: nil, a boolean, a number, a string, an Expression, []any, or map[string]any. Keys
// of maps are sorted, and keys that look like expressions become expressions. Tree also accepts nodes, and lists and
// dictionaries of package yaql, in which strings are never expressions. It panics for values of other types.
func Tree(v any) *Node {
	n := &Node{Value: v}
	switch v := v.(type) {
	case nil, bool, int64, *big.Int, float64, string, Expression:
	case int:
		n.Value = int64(v)
	case *Node:
		return v
	case []any:
		items := make([]*Node, len(v))
		for i, item := range v {
			items[i] = Tree(item)
		}
		n.Value = items
	case map[string]any:
		entries := make([]Entry, 0, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			k := &Node{Value: key}
			if IsExpression(key) {
				k.Value = Expression(key)
			}
			entries = append(entries, Entry{k, Tree(v[key])})
		}
		n.Value = entries
	case *yaql.List:
		return Tree(v.Items())
	case *yaql.Dict:
		entries := make([]Entry, 0, v.Len())
		for key, value := range v.All() {
			entries = append(entries, Entry{Tree(key), Tree(value)})
		}
		n.Value = entries
	default:
		panic(fmt.Sprintf("muranopl: no tree for a %T", v))
	}
	return n
}

// IsExpression reports whether a plain scalar is an expression: whether it is valid YAQL and contains a character other
// than letters, digits, underscores, white space, and periods.
func IsExpression(s string) bool {
	if !strings.ContainsFunc(s, func(r rune) bool {
		return r != '_' && r != '.' && !unicode.IsSpace(r) && !unicode.IsLetter(r) && !unicode.IsNumber(r)
	}) {
		return false
	}
	_, err := compile(s)
	return err == nil
}

// Get returns the value of a key of a dictionary, or nil.
func (n *Node) Get(key string) *Node {
	if len(n.Entries()) == 0 {
		return nil
	}
	return n.part(key)
}

// List returns the items of a list, nil for null, or a list of one item for any other value.
func (n *Node) List() []*Node {
	if n == nil || n.Value == nil {
		return nil
	}
	if items, ok := n.Value.([]*Node); ok {
		return items
	}
	return []*Node{n}
}

// Entries returns the entries of a dictionary, or nil for other values.
func (n *Node) Entries() []Entry {
	if n == nil {
		return nil
	}
	entries, _ := n.Value.([]Entry)
	return entries
}

// dict returns the entries of a dictionary, or nil for null. For other values, it reports an error with the message
// otherwise.
func (n *Node) dict(otherwise string, report func(*Error)) []Entry {
	if n == nil || n.Value == nil {
		return nil
	}
	entries, ok := n.Value.([]Entry)
	if !ok {
		report(failAt(n.Pos, Syntax, "%s", otherwise))
	}
	return entries
}

// Text returns the content of a string. It returns false for other values.
func (n *Node) Text() (string, bool) {
	if n == nil {
		return "", false
	}
	s, ok := n.Value.(string)
	return s, ok
}

// Name returns the content of a string or the source of an expression, since prefix:Name is parsed as an expression. It
// returns false for other values.
func (n *Node) Name() (string, bool) {
	if n != nil {
		if x, ok := n.Value.(Expression); ok {
			return string(x), true
		}
	}
	return n.Text()
}

// part returns the item or value with the given key, or nil. A value that is not a collection is treated as a list of
// one item.
func (n *Node) part(key any) *Node {
	if n == nil {
		return nil
	}
	switch v := n.Value.(type) {
	case []Entry:
		for _, e := range v {
			if e.Key.Value == key {
				return e.Value
			}
		}
		return nil
	case []*Node:
		if i, ok := key.(int64); ok && i < int64(len(v)) {
			return v[i]
		}
	}
	return n
}

func (n *Node) position() Position {
	if n == nil {
		return Position{}
	}
	return n.Pos
}

// Data returns the tree as a YAQL value in which expressions are strings.
func (n *Node) Data() any { return n.value(nil) }

// value returns the tree as a YAQL value in which expressions are strings. It records the node of each dictionary in
// nodes, which may be nil.
func (n *Node) value(nodes map[*yaql.Dict]*Node) any {
	switch v := n.Value.(type) {
	case []*Node:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = item.value(nodes)
		}
		return yaql.NewList(items)
	case []Entry:
		d := yaql.NewDict()
		for _, e := range v {
			_ = d.Set(e.Key.value(nil), e.Value.value(nodes)) // lists and dictionaries of trees are hashable
		}
		if nodes != nil {
			nodes[d] = n
		}
		return d
	case Expression:
		return string(v)
	}
	return n.Value
}
