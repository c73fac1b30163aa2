// Package condition parses and evaluates conditions in the form of Fuel:
//
//	settings:storage.volumes_ceph.value == true and not (cluster:net_provider == 'neutron')
//
// Operands are paths, integers, strings in either kind of quotes, true, false, null, and conditions in parentheses.
// From loose to tight, the operators are "or", "and", "==" and "!=", "in" and "not", so "not a == b" means
// "(not a) == b". Values compare and count as true or false as in YAQL.
package condition

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/lang/yaql"
)

// Condition is a parsed condition. It is safe for concurrent use.
type Condition struct {
	source string
	root   *node
}

// node is a part of a condition.
type node struct {
	op    string // an operator, "path", or "" for a literal
	value any    // the path, or the value of the literal
	pos   int    // byte offset
	args  []*node
}

var quotedOrPath = regexp.MustCompile(`'(?:\\.|[^\\'])*'|"(?:\\.|[^\\"])*"|` + "`[^`]*`" + `|([A-Za-z_]\w*:[\w-])`)

// Is reports whether text is in the form of Fuel: whether it has a path NAME:a.b outside of quotes. Other conditions
// are expressions in YAQL, which has no such paths.
func Is(text string) bool {
	for _, m := range quotedOrPath.FindAllStringSubmatch(text, -1) {
		if m[1] != "" {
			return true
		}
	}
	return false
}

// Evaluate evaluates the condition. data is a value of package yaql: the path settings:a.b is the value of the key b in
// a in settings in data. A path without a value is an error, unless it ends with "?", which makes it null.
func (c *Condition) Evaluate(data any) (bool, error) {
	v, err := c.evaluate(c.root, data)
	if err != nil {
		return false, err
	}
	return yaql.Truth(v)
}

func (c *Condition) evaluate(n *node, data any) (any, error) {
	switch n.op {
	case "":
		return n.value, nil
	case "path":
		return c.lookup(n, data)
	}
	left, err := c.evaluate(n.args[0], data)
	if err != nil {
		return nil, err
	}
	holds, err := yaql.Truth(left)
	switch {
	case err != nil:
		return nil, c.fail(n.pos, "%s", err)
	case n.op == "not":
		return !holds, nil
	case n.op == "and" && !holds, n.op == "or" && holds:
		return left, nil
	}
	right, err := c.evaluate(n.args[1], data)
	if err != nil {
		return nil, err
	}
	switch n.op {
	case "==":
		return yaql.Equal(left, right), nil
	case "!=":
		return !yaql.Equal(left, right), nil
	case "in":
		return c.contains(n, left, right)
	}
	return right, nil
}

func (c *Condition) contains(n *node, item, in any) (any, error) {
	switch in := in.(type) {
	case *yaql.List:
		for _, v := range in.Items() {
			if yaql.Equal(item, v) {
				return true, nil
			}
		}
		return false, nil
	case *yaql.Dict:
		_, has, err := in.Get(item)
		return has && err == nil, nil // a list or an object is never a key
	case string:
		if text, ok := item.(string); ok {
			return strings.Contains(in, text), nil
		}
	}
	return nil, c.fail(n.pos, "%s in %s: must be a value in a list, a key in an object, or a string in a string",
		yaql.TypeName(item), yaql.TypeName(in))
}

// lookup returns the value of a path.
func (c *Condition) lookup(n *node, data any) (any, error) {
	path, optional := strings.CutSuffix(n.value.(string), "?")
	var end int
	for at := 0; at < len(path); at = end + 1 {
		if end = at + strings.IndexAny(path[at:], ":."); end < at {
			end = len(path)
		}
		object, isObject := data.(*yaql.Dict)
		if err := yaql.Known(data); err != nil && !isObject {
			return nil, c.fail(n.pos, "%s", err)
		} else if !isObject {
			object = yaql.NewDict()
		}
		v, has, _ := object.Get(path[at:end]) // strings are valid keys
		if !has && optional {
			return nil, nil
		} else if !has {
			return nil, c.fail(n.pos, "%s does not exist: no %s in %s", path, path[at:end], cmp.Or(path[:max(0, at-1)], "the data"))
		}
		data = v
	}
	if err := yaql.Known(data); err != nil {
		return nil, c.fail(n.pos, "%s", err)
	}
	return data, nil
}

// fail returns an error with a position, which counts lines and characters from 1.
func (c *Condition) fail(pos int, format string, args ...any) error {
	before := c.source[:pos]
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Errorf("%d:%d: %s", line, column, fmt.Sprintf(format, args...))
}
