package muranopl

import (
	"errors"
	"fmt"
	"sync"

	"github.com/lumi-idl/lumi/lang/yaql"
)

func newSpec(c *Class, what string, n *Node, report func(*Error)) spec {
	s := spec{class: c, tree: n}
	if _, ok := n.Value.([]Entry); !ok || n.Get("Contract") == nil {
		report(failAt(n.Pos, Syntax, "%s has no Contract: write Contract: $ for any value", what))
	}
	s.contract, s.preset = lazyValue(n.Get("Contract")), lazyValue(n.Get("Default"))
	return s
}

// lazyValue returns a function that compiles a tree once, on the first call.
func lazyValue(n *Node) func() (*value, error) {
	return sync.OnceValues(func() (*value, error) {
		var first firstError
		v := compileValue(n, first.add)
		return v, first.get()
	})
}

// Future is an opaque value of a known kind: "string", "int", "bool", "list", or "dict". Contracts check only its kind.
type Future interface {
	yaql.Opaque
	Is(kind string) bool
}

// apply checks v against the contract and returns the converted value.
func (c *contracting) apply(v any) (any, error) {
	contract, err := c.spec.contract()
	if err != nil {
		return nil, broken(err)
	}
	switch v.(type) {
	case absent:
		preset, err := c.spec.preset()
		if err != nil {
			return nil, err
		}
		if v, err = preset.eval(c.scope); err != nil {
			return nil, err
		}
	case *yaql.Dict:
		if c.defaults, err = c.spec.preset(); err != nil {
			return nil, err
		}
	}
	v, err = c.match(v, contract)
	return v, broken(err)
}

// broken returns err as an [*Error]. It marks the error if the contract itself is invalid.
func broken(err error) error {
	if err == nil {
		return nil
	}
	e := asError(err, Position{})
	e.broken = e.broken || e.Kind == Syntax || e.Kind == UnknownClass || e.Kind == yaql.UnknownFunction
	return e
}

func (c *contracting) violated(format string, args ...any) error {
	contract, _ := c.spec.contract()
	return c.fail(Contract, "%s (contract %s)", fmt.Sprintf(format, args...), contract)
}

func (c *contracting) fail(kind yaql.Kind, format string, args ...any) error {
	return failAt(c.node.position(), kind, "%s%s%s: %s", c.what, c.path, c.where, fmt.Sprintf(format, args...))
}

// kind returns an error if an opaque value is not of the given kind.
func (c *contracting) kind(v Future, kind string) error {
	if v.Is(kind) {
		return nil
	}
	return c.violated("%s is not of kind %s", show(v), kind)
}

func (c *contracting) match(v any, contract *value) (any, error) {
	if _, ok := v.(excluded); ok {
		return v, nil
	}
	if v, ok := v.(Future); ok && contract.kind != isExpression {
		return v, c.kind(v, [...]string{isConstant: "constant", isList: "list", isDict: "dict"}[contract.kind])
	}
	switch contract.kind {
	case isExpression:
		in := yaql.New(c.scope.in.contracts)
		in.Set("$", v)
		if c.scope.this != nil {
			in.Set("this", c.scope.this)
		}
		s := *c.scope
		s.contract = c
		in.Set(scopeVariable, &s)
		result, err := contract.expr.EvaluateIn(c.scope.in.run, in)
		if e, ok := errors.AsType[*Error](err); ok && (e.Kind != UnknownClass || e.Names != nil) {
			return nil, e // e has the position of the value
		} else if err != nil {
			return nil, asError(err, contract.pos)
		}
		return result, nil
	case isList:
		return c.matchList(v, contract)
	case isDict:
		return c.matchDict(v, contract)
	}
	if !yaql.Equal(v, contract.constant) {
		return nil, c.violated("%s is not %s", show(v), show(contract.constant))
	}
	return v, nil
}

// at returns a copy of c for the part of the value with the given key or index.
func (c *contracting) at(key any) *contracting {
	part := *c
	part.path += "[" + show(key) + "]"
	part.node, part.defaults = c.node.part(key), nil
	return &part
}

func (c *contracting) matchList(v any, contract *value) (any, error) {
	var items []any
	switch v := v.(type) {
	case nil:
	case *yaql.List:
		items = v.Items()
	case *yaql.Iterator, yaql.Iterable: // A set is not a list here: the reference wraps it in one.
		settled, err := yaql.Settle(c.scope.in.run, options, v)
		if err != nil {
			return nil, err
		}
		items = settled.(*yaql.List).Items()
	default:
		items = []any{v}
	}
	specs := contract.items
	if len(specs) == 0 {
		return yaql.NewList(items), nil
	}
	lengths := lengthsOf(specs, func(v *value) any { return v.constant })
	specs = specs[:len(specs)-len(lengths)]
	switch n := int64(len(items)); {
	case len(lengths) == 2 && (n < lengths[0] || n > lengths[1]):
		return nil, c.violated("the length of the list is %d, not %d to %d", n, lengths[0], lengths[1])
	case len(lengths) == 1 && n < lengths[0]:
		return nil, c.violated("the length of the list is %d, less than %d", n, lengths[0])
	}
	matched := make([]any, len(items))
	for i, item := range items {
		if len(specs) == 0 {
			return nil, c.violated("the contract of a list has no items")
		}
		var err error
		if matched[i], err = c.at(int64(i)).match(item, specs[min(i, len(specs)-1)]); err != nil {
			return nil, err
		}
	}
	return yaql.NewList(matched), nil
}

// lengthsOf returns the minimum and maximum length of a list contract, which are the integers at its end, if any.
func lengthsOf[T any](specs []T, constant func(T) any) []int64 {
	var lengths []int64
	for i := len(specs) - 1; i >= max(0, len(specs)-2); i-- {
		n, ok := constant(specs[i]).(int64)
		if !ok {
			break
		}
		lengths = append([]int64{n}, lengths...)
	}
	return lengths
}

func (c *contracting) matchDict(v any, contract *value) (any, error) {
	if v == nil {
		v = yaql.NewDict()
	}
	d, ok := v.(*yaql.Dict)
	if !ok {
		return nil, c.violated("%s is not a dictionary", show(v))
	}
	if len(contract.entries) == 0 {
		return d, nil
	}
	matched := yaql.NewDict()
	var open *valueEntry
	for i, e := range contract.entries {
		if e.key.kind == isExpression {
			if open != nil {
				return nil, failAt(e.key.pos, Syntax, "a contract of a dictionary can have only one key that is an expression")
			}
			open = &contract.entries[i]
			continue
		}
		item, _, _ := d.Get(e.key.constant)
		item, err := c.at(e.key.constant).match(item, e.value)
		if err != nil {
			return nil, err
		}
		if err := matched.Set(e.key.constant, item); err != nil {
			return nil, failAt(e.key.pos, Syntax, "invalid dictionary key: %s", err)
		}
	}
	if open == nil {
		return matched, nil
	}
	for key, item := range d.All() {
		if _, fixed, _ := matched.Get(key); fixed {
			continue
		}
		k, err := c.match(key, open.key)
		if err != nil {
			return nil, err
		}
		if item, err = c.at(key).match(item, open.value); err != nil {
			return nil, err
		}
		if err := matched.Set(k, item); err != nil {
			return nil, c.violated("%s cannot be a key", show(k))
		}
	}
	return matched, nil
}

// excluded is the value of properties that a template omits. It meets every contract.
type excluded struct{}
