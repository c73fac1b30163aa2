package yaql

import (
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

type position int

func (p position) offset() int { return int(p) }

type (
	// constant is a literal or a bare name. A bare name evaluates to itself; some parameters require one.
	constant struct {
		position
		value   any
		keyword bool
	}
	variable struct {
		position
		name string // including the dollar sign; $ is stored as $1
		text string
	}
	paren struct {
		position
		x node
	}
	// mapping is key => value in arguments.
	mapping struct {
		position
		key, value node
	}
	// missing is an omitted argument, such as the second one in f(1,,2).
	missing struct{ position }
	// invocation is a call of a function by name. Operators are functions with names such as #operator_+.
	invocation struct {
		position
		form form
		name string
		op   string // spelling of the operator
		args []node

		// positional lists the arguments that are not mappings. keywords lists the mappings whose keys are names.
		positional []any
		keywords   []named
		badMapping bool // whether a mapping has a key that is not a name
		plain      bool // whether there are no mappings and no missing arguments
		site       atomic.Pointer[site]
	}
)

// opVariable is the name of the function that evaluates $name.
const opVariable = "#get_context_data"

type form uint8

const (
	formFunction form = iota // name(args)
	formBinary
	formUnary
	formIndex
	formList
	formMap
	formCall // value(args)
)

func newInvocation(pos int, f form, name, op string, args ...node) *invocation {
	n := &invocation{position: position(pos), form: f, name: name, op: op, args: args, plain: true}
	for _, a := range args {
		switch a := a.(type) {
		case *mapping:
			n.plain = false
			if f == formMap {
				break // takes pairs
			}
			if key, ok := a.key.(*constant); ok && key.keyword {
				name := key.value.(string)
				if i := findNamed(n.keywords, name); i >= 0 {
					n.keywords[i].value = a.value // The last one wins.
				} else {
					n.keywords = append(n.keywords, named{name, a.value})
				}
			} else {
				n.badMapping = true
			}
			continue
		case *missing:
			n.plain = false
		}
		n.positional = append(n.positional, a)
	}
	return n
}

// arguments returns the positional and keyword arguments, starting with the receiver of a method. If withoutKeywords is
// set, mappings are returned as positional arguments.
func (n *invocation) arguments(receiver any, withoutKeywords bool) ([]any, []named) {
	args := make([]any, 0, len(n.args)+1)
	if receiver != none {
		args = append(args, receiver)
	}
	if withoutKeywords {
		for _, a := range n.args {
			args = append(args, a)
		}
		return args, nil
	}
	return append(args, n.positional...), slices.Clone(n.keywords)
}

func (n *constant) String() string {
	switch v := n.value.(type) {
	case string:
		if n.keyword {
			return v
		}
		return quote(v)
	case float64:
		if v > 1e300 { // Infinity has no literal.
			return strings.Repeat("9", 310) + ".0"
		}
		s := strconv.FormatFloat(v, 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	}
	text, _ := AppendJSON(nil, n.value) // null, a boolean or an integer
	return string(text)
}

func (n *variable) String() string { return n.text }

func (n *paren) String() string { return "(" + n.x.String() + ")" }

func (n *mapping) String() string { return n.key.String() + " => " + n.value.String() }

func (n *missing) String() string { return "" }

func (n *invocation) String() string {
	switch n.form {
	case formBinary:
		right, ok := n.args[1].(*constant)
		literal := ok && !right.keyword // 1.5 is a number
		if n.op == "." && !literal || n.op == "?." || n.op == ":" {
			return n.args[0].String() + n.op + n.args[1].String()
		}
		return n.args[0].String() + " " + n.op + " " + n.args[1].String()
	case formUnary:
		if n.op == "not" {
			return "not " + n.args[0].String()
		}
		return n.op + n.args[0].String()
	case formIndex:
		return n.args[0].String() + "[" + joinNodes(n.args[1:]) + "]"
	case formList:
		return "[" + joinNodes(n.args) + "]"
	case formMap:
		return "{" + joinNodes(n.args) + "}"
	case formCall:
		// Without the space, a preceding name would become a function call.
		return n.args[0].String() + " (" + joinNodes(n.args[1:]) + ")"
	}
	return n.name + "(" + joinNodes(n.args) + ")"
}

func joinNodes(nodes []node) string {
	texts := make([]string, len(nodes))
	for i, n := range nodes {
		texts[i] = n.String()
	}
	return strings.Join(texts, ", ")
}

// site caches the resolution of a call in a scope.
type site struct {
	scope  *scope
	opts   *Options
	method bool
	fns    *overloads
	binary binaryOperator // fast path for two evaluated arguments, or nil
	bound  [][]*binding
}

// binding maps the arguments of a call to a function's parameters.
type binding struct {
	fn *Function
	// source maps each fixed parameter to its value: the index of a positional argument, sourceDefault, or, below that,
	// a keyword argument.
	source []int
	others []int // keyword arguments for fn.Others
	// lazy marks the arguments to pass unevaluated, positional ones first. It is nil if all arguments are evaluated.
	lazy []bool
}
