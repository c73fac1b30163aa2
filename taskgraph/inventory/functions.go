package inventory

import (
	"errors"
	"regexp"
	"slices"
	"sync"

	"github.com/lumi-idl/lumi/lang/yaql"
	"github.com/lumi-idl/lumi/taskgraph"
)

// subject is the value of the variable that gives functions access to the data of this run and of the last successful
// one. Expressions cannot refer to the variable.
type subject struct {
	now *yaql.Dict
	// before returns the identity of the last successful run and its $, which is nil if no earlier run succeeded.
	before func() (run any, data *yaql.Dict, err error)
	// results contains results that are the same for all nodes with the same old data.
	results map[result]any
}

// result identifies the result of a function.
type result struct {
	function, argument string
	run                any
}

// shared matches arguments that have the same value for all nodes.
var shared = regexp.MustCompile(`^\$\.(nodes|env|event|type)(\.\w+(\(\))?)*$`)

// compare returns a function that calls f. If nodes share the value of the argument, it does so only once for all nodes,
// since comparing the data of all nodes for each of them would take quadratic time.
func compare(name string, f func(*yaql.Call, *yaql.Lambda) (any, error)) *yaql.Function {
	return yaql.Func(name, "expression lambda", func(c *yaql.Call) (any, error) {
		s, x := subjectOf(c), c.Lambda(0)
		if !shared.MatchString(x.Text()) {
			return f(c, x)
		}
		run, _, err := s.before()
		if err != nil {
			return nil, err
		}
		key := result{name, x.Text(), run}
		v, known := s.results[key]
		if !known {
			if v, err = f(c, x); err == nil {
				s.results[key] = v
			}
		}
		return v, err
	})
}

const subjectName = "%data"

// undefined is the value of an expression whose evaluation on the old data failed.
type undefined struct{ _ byte }

var undef = &undefined{}

// YAQLType implements [yaql.Typed].
func (*undefined) YAQLType() string { return "undefined value" }

// functions returns the context with the functions that expressions in Fuel can call.
var functions = sync.OnceValue(func() *yaql.Context {
	in := yaql.New(yaql.Standard(false))
	in.Register(
		yaql.Func("new", "expression lambda", func(c *yaql.Call) (any, error) { return subjectOf(c).new(c, c.Lambda(0)) }),
		yaql.Func("old", "expression lambda", func(c *yaql.Call) (any, error) { return subjectOf(c).old(c, c.Lambda(0)) }),
		compare("changed", func(c *yaql.Call, x *yaql.Lambda) (any, error) { return changed(c, x) }),
		yaql.Func("changedAny", "*expressions lambda", func(c *yaql.Call) (any, error) { return changedSome(c, true) }),
		yaql.Func("changedAll", "*expressions lambda", func(c *yaql.Call) (any, error) { return changedSome(c, false) }),
		compare("added", func(c *yaql.Call, x *yaql.Lambda) (any, error) {
			now, before, err := both(c, x)
			if err != nil {
				return nil, err
			}
			return difference(now, before)
		}),
		compare("deleted", func(c *yaql.Call, x *yaql.Lambda) (any, error) {
			now, before, err := both(c, x)
			if err != nil || before == any(undef) {
				return yaql.NewList(nil), err
			}
			return difference(before, now)
		}),
		yaql.Func("isUndef", "value any", func(c *yaql.Call) (any, error) { return c.Arg(0) == any(undef), nil }),
		yaql.Method("toJson", "value any", func(c *yaql.Call) (any, error) {
			text, err := jsonOf(c)
			return string(text), err
		}),
		yaql.Method("toYaml", "value any", func(c *yaql.Call) (any, error) {
			text, err := jsonOf(c)
			if err == nil {
				text, err = taskgraph.FormatValue(text, 1<<20)
			}
			return string(text), err
		}),
	)
	return in
})

func jsonOf(c *yaql.Call) ([]byte, error) {
	v, err := c.Settle(c.Arg(0))
	if err != nil {
		return nil, err
	}
	return yaql.AppendJSON(nil, v)
}

func subjectOf(c *yaql.Call) *subject {
	s, _ := c.Context().Get(subjectName).(*subject)
	return s
}

func (s *subject) new(c *yaql.Call, x *yaql.Lambda) (any, error) {
	return evaluate(c, x, s.now)
}

func evaluate(c *yaql.Call, x *yaql.Lambda, data *yaql.Dict) (any, error) {
	v, err := x.Call(data)
	if err != nil || v == any(data) { // there are no sequences in the data, which may be large
		return v, err
	}
	return c.Settle(v)
}

// old returns undef if there is no old data, or if the evaluation fails on it.
func (s *subject) old(c *yaql.Call, x *yaql.Lambda) (any, error) {
	_, data, err := s.before()
	if data == nil || err != nil {
		return undef, err
	}
	v, err := evaluate(c, x, data)
	if wrong := (*yaql.Error)(nil); errors.As(err, &wrong) && wrong.Kind != yaql.Limit && wrong.Kind != yaql.Canceled {
		return undef, nil
	}
	return v, err
}

// both returns the new and the old value of an expression on data without secrets. Using a secret is an error.
func both(c *yaql.Call, x *yaql.Lambda) (now, before any, err error) {
	s := subjectOf(c)
	if now, err = s.new(c, x); err != nil {
		return nil, nil, err
	}
	if _, ok := known(now); !ok {
		return nil, nil, yaql.Known(now)
	}
	if safe, _ := known(s.now); safe != any(s.now) {
		if now, err = evaluate(c, x, safe.(*yaql.Dict)); err != nil {
			return nil, nil, err
		}
	}
	before, err = s.old(c, x)
	return now, before, err
}

func changed(c *yaql.Call, x *yaql.Lambda) (bool, error) {
	now, before, err := both(c, x)
	return !yaql.Equal(now, before), err
}

// changedSome reports whether one of the arguments has changed if some is set, or else whether all have.
func changedSome(c *yaql.Call, some bool) (bool, error) {
	for _, x := range c.Rest() {
		if is, err := changed(c, x.(*yaql.Lambda)); err != nil || is == some {
			return is, err
		}
	}
	return !some, nil
}

// known returns v without the opaque values within it, which are secrets and unknown values. It returns false if v
// itself is opaque.
func known(v any) (any, bool) {
	if yaql.Known(v) == nil {
		return v, true
	}
	switch v := v.(type) {
	case *yaql.Dict:
		d := yaql.NewDict()
		for key, value := range v.All() {
			if value, ok := known(value); ok {
				_ = d.Set(key, value) // keys of a dictionary are hashable
			}
		}
		return d, true
	case *yaql.List:
		var items []any
		for _, item := range v.Items() {
			if item, ok := known(item); ok {
				items = append(items, item)
			}
		}
		return yaql.NewList(items), true
	}
	return nil, false
}

// difference returns the items of a list or set that are not in another, or the entries of a dictionary whose keys are
// not in another. Values of different types have nothing in common, and the difference of equal values is empty.
func difference(of, from any) (any, error) {
	switch of := of.(type) {
	case *yaql.Dict:
		from, ok := from.(*yaql.Dict)
		if !ok {
			break
		}
		rest := yaql.NewDict()
		for key, value := range of.All() {
			if _, has, err := from.Get(key); err != nil {
				return nil, err
			} else if has {
				continue
			}
			if err := rest.Set(key, value); err != nil {
				return nil, err
			}
		}
		return rest, nil
	case *yaql.List:
		if from, ok := from.(*yaql.List); ok {
			items, err := without(of.Items(), from.Items())
			return yaql.NewList(items), err
		}
	case *yaql.Set:
		if from, ok := from.(*yaql.Set); ok {
			items, err := without(of.Items(), from.Items())
			if err != nil {
				return nil, err
			}
			return yaql.SetOf(items)
		}
	}
	if yaql.Equal(of, from) {
		return nil, nil
	}
	return of, nil
}

func without(items, others []any) (rest []any, err error) {
	identical := map[any]bool{} // most items are shared with the old data; see Data.share
	for _, v := range others {
		if d, ok := v.(*yaql.Dict); ok {
			identical[d] = true
		}
	}
	items = slices.DeleteFunc(slices.Clone(items), func(v any) bool {
		d, ok := v.(*yaql.Dict)
		return ok && identical[d]
	})
	if len(items) == 0 {
		return nil, nil
	}
	set, err := yaql.SetOf(others)
	if err != nil {
		return nil, err
	}
	for _, v := range items {
		has, err := set.Has(v)
		if err != nil {
			return nil, err
		} else if !has {
			rest = append(rest, v)
		}
	}
	return rest, nil
}
