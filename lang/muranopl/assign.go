package muranopl

import (
	"errors"
	"math"
	"slices"

	"github.com/lumi-idl/lumi/lang/yaql"
)

// place is the target of an assignment.
type place struct {
	get func() (any, error)
	set func(any) error
}

// YAQLType implements [yaql.Typed].
func (*place) YAQLType() string { return "target" }

var targets *yaql.Context

// newTargets returns the context in which left-hand sides of assignments are evaluated. Variables, properties, and
// indexes evaluate to places in it.
func newTargets() *yaql.Context {
	c := yaql.New(nil)
	c.Register(
		yaql.Func("#get_context_data", "name const.string", func(call *yaql.Call) (any, error) {
			return assigned(call).variable(call.String(0)), nil
		}),
		yaql.Func("#operator_.", "target murano.place, key keyword", func(call *yaql.Call) (any, error) {
			return assigned(call).member(call.Arg(0).(*place), call.String(1)), nil
		}),
		yaql.Func("#operator_:", "prefix keyword, name keyword", func(call *yaql.Call) (any, error) {
			return classPlace(call, call.String(0)+":"+call.String(1))
		}),
		yaql.Func("#unary_operator_:", "name keyword", func(call *yaql.Call) (any, error) { return classPlace(call, call.String(0)) }),
		yaql.Func("#indexer", "target murano.place, index lambda.context", func(call *yaql.Call) (any, error) {
			s := assigned(call)
			index, err := call.Lambda(1).CallIn(s.ctx)
			if err != nil {
				return nil, err
			}
			if b, ok := index.(bool); ok {
				index, _ = integer(b)
			}
			return s.member(call.Arg(0).(*place), index), nil
		}),
		yaql.Func("#operator_.", "target murano.place, expr lambda.method", func(call *yaql.Call) (any, error) {
			return call.Lambda(1).CallOn(call.Arg(0))
		}),
		yaql.Method("append", "target murano.place", func(call *yaql.Call) (any, error) {
			return inserted(call.Arg(0).(*place), int64(math.MaxInt64)), nil
		}),
		yaql.Method("insert", "target murano.place, index lambda.context", func(call *yaql.Call) (any, error) {
			index, err := call.Lambda(1).CallIn(assigned(call).ctx)
			if err != nil {
				return nil, err
			}
			if _, ok := index.(int64); !ok {
				return nil, yaql.Errorf(yaql.TypeError, "insert requires an integer, got %s", show(index))
			}
			return inserted(call.Arg(0).(*place), index), nil
		}),
	)
	return c
}

func assigned(call *yaql.Call) *scope { return call.Context().Get(scopeVariable).(*scope) }

// assign evaluates the expression target to a place and assigns v to it.
func (s *scope) assign(target *value, v any) error {
	in := yaql.New(targets)
	in.Set(scopeVariable, s)
	found, err := target.expr.EvaluateIn(s.in.run, in)
	if err != nil {
		return s.at(err, target.pos)
	}
	p, ok := found.(*place)
	if !ok {
		return s.at(fail(Syntax, "%s cannot be assigned to", target), target.pos)
	}
	if err := p.set(v); err != nil {
		return s.at(err, target.pos)
	}
	return nil
}

// classPlace returns the place for a class name. Its members are the static properties of the class.
func classPlace(call *yaql.Call, name string) (any, error) {
	c, err := typeArgument(call, name)
	return &place{
		get: func() (any, error) { return c, nil },
		set: func(any) error { return fail(yaql.Value, "class %s cannot be assigned to", name) },
	}, err
}

func (s *scope) variable(name string) *place {
	return &place{
		get: func() (any, error) { return s.ctx.Get(name), nil },
		set: func(v any) error {
			if name == "$" || name == "$this" {
				return fail(yaql.Value, "%s cannot be assigned to", name)
			}
			return s.assignVariable(name, v)
		},
	}
}

// member returns the place of a property, a key, or a list item. Assigning to an index out of range adds an item at the
// start or the end of the list.
func (s *scope) member(target *place, key any) *place {
	return &place{
		get: func() (any, error) {
			in, err := target.get()
			if err != nil {
				return nil, err
			}
			switch in := in.(type) {
			case *yaql.Dict:
				if _, isIndex := key.(int64); isIndex {
					break // an integer is a key only on assignment
				}
				v, ok, err := in.Get(key)
				if err == nil && !ok {
					v = yaql.NewDict()
				}
				return v, err
			case *Object:
				name, _ := key.(string)
				v, err := in.get(name, s.class)
				if e := (*Error)(nil); errors.As(err, &e) && e.Kind == Uninitialized {
					return yaql.NewDict(), nil
				}
				return v, err
			case *Class:
				name, _ := key.(string)
				return in.YAQLProperty(name, nil)
			case *yaql.List:
				if i, ok := indexOf(in, key); ok && i >= 0 && i < in.Len() {
					return in.Items()[i], nil
				} else if ok {
					return nil, fail(yaql.Index, "index %d is out of range of a list of %d items", key, in.Len())
				}
			}
			return nil, noMember(in, key)
		},
		set: func(v any) error {
			in, err := target.get()
			if err != nil {
				return err
			}
			switch in := in.(type) {
			case *yaql.Dict:
				d := in.Clone()
				if err := d.Set(key, v); err != nil {
					return err
				}
				return target.set(d)
			case *Object:
				if name, ok := key.(string); ok {
					return in.set(s, name, v, nil, true)
				}
			case *Class:
				name, _ := key.(string)
				p, err := in.staticProperty(name)
				if err != nil {
					return err
				}
				o := p.class.static() // all classes may write static properties
				return o.set(p.class.in.objectScope(nil, o, p.class), name, v, nil, true)
			case *yaql.List:
				i, ok := indexOf(in, key)
				items := slices.Clone(in.Items())
				switch {
				case !ok:
					return noMember(in, key)
				case i >= 0 && i < len(items):
					items[i] = v
				default:
					items = slices.Insert(items, min(max(i, 0), len(items)), v)
				}
				return target.set(yaql.NewList(items))
			}
			return noMember(in, key)
		},
	}
}

// indexOf converts a key to an index. An index out of range becomes -1 or the length of the list.
func indexOf(l *yaql.List, key any) (int, bool) {
	i, ok := key.(int64)
	if i < 0 {
		i += int64(l.Len())
	}
	return int(min(max(i, -1), int64(l.Len()))), ok
}

func noMember(in, key any) error {
	return fail(yaql.Value, "%s has no part %s", show(in), show(key))
}

// inserted returns a place that inserts before the list item with the given index, or after the last item.
func inserted(target *place, index any) *place {
	return &place{
		get: func() (any, error) { return nil, fail(yaql.Value, "append and insert can only be assigned to") },
		set: func(v any) error {
			in, err := target.get()
			if err != nil {
				return err
			}
			if d, ok := in.(*yaql.Dict); in == nil || ok && d.Len() == 0 { // missing parts are read as {}
				in = yaql.NewList(nil)
			}
			l, ok := in.(*yaql.List)
			if !ok {
				return fail(yaql.TypeError, "%s is not a list", show(in))
			}
			i, _ := indexOf(l, index)
			return target.set(yaql.NewList(slices.Insert(slices.Clone(l.Items()), max(i, 0), v)))
		},
	}
}
