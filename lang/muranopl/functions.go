package muranopl

import (
	"math"
	"time"

	"github.com/lumi-idl/lumi/lang/yaql"
)

var engine []*yaql.Function

// rabbit contains the default configuration settings that the core library of the reference implementation reads.
var rabbit = map[string]any{"host": "localhost", "port": int64(5672), "login": "guest", "password": "guest", "virtual_host": "/", "ssl": false}

func init() {
	for name, check := range map[string]func(any) bool{
		"murano.object": func(v any) bool { _, ok := v.(*Object); return ok },
		"murano.class":  func(v any) bool { _, ok := v.(*Class); return ok },
		"murano.place":  func(v any) bool { _, ok := v.(*place); return ok },
	} {
		yaql.RegisterType(yaql.NewType(name, check))
	}
	engine, targets = newEngine(), newTargets()
}

// newEngine returns the functions that are available to workflows, contracts, and defaults in addition to the standard
// library of YAQL.
func newEngine() []*yaql.Function {
	return []*yaql.Function{
		yaql.Func("#operator_.", "object murano.object, name keyword", func(call *yaql.Call) (any, error) {
			return call.Arg(0).(*Object).YAQLProperty(call.String(1), call.Context())
		}),
		yaql.Func("#operator_.", "class murano.class, name keyword", func(call *yaql.Call) (any, error) {
			return call.Arg(0).(*Class).YAQLProperty(call.String(1), nil)
		}),
		yaql.Func("#operator_:", "prefix keyword, name keyword", func(call *yaql.Call) (any, error) {
			return typeArgument(call, call.String(0)+":"+call.String(1))
		}),
		yaql.Func("#unary_operator_:", "name keyword", func(call *yaql.Call) (any, error) { return typeArgument(call, call.String(0)) }),
		yaql.Func("#operator_is", "object murano.object?, class any!", typed(func(o *Object, class *Class) (any, error) {
			return o != nil && o.inst.class.isA(class), nil
		})),
		yaql.Extension("id", "object murano.object", func(call *yaql.Call) (any, error) { return call.Arg(0).(*Object).ID(), nil }),
		yaql.Func("name", "object murano.object?", func(call *yaql.Call) (any, error) {
			if o, ok := call.Arg(0).(*Object); ok && o.Name() != "" {
				return o.Name(), nil
			}
			return nil, nil
		}),
		yaql.Extension("cast", "object murano.object, class any!, version string=null", typed(func(o *Object, class *Class) (any, error) {
			if !o.class.isA(class) {
				return nil, fail(UnknownClass, "class %s does not inherit from %s", o.class.Name, class.Name)
			}
			return o.inst.as(class), nil
		})),
		yaql.Extension("super", "object murano.object, func lambda=null", func(call *yaql.Call) (any, error) { return super(call, false) }),
		yaql.Extension("psuper", "object murano.object, func lambda=null", func(call *yaql.Call) (any, error) { return super(call, true) }),
		yaql.Extension("find", "object murano.object, class any!", typed(func(o *Object, class *Class) (any, error) {
			for o = o.Owner(); o != nil; o = o.Owner() {
				if o.inst.class.isA(class) {
					return o, nil
				}
			}
			return nil, nil
		})),
		yaql.Extension("type", "value any", func(call *yaql.Call) (any, error) {
			switch v := call.Arg(0).(type) {
			case nil:
				return nil, nil
			case *Object:
				return v.inst.class, nil
			}
			return typeArgument(call, call.Arg(0))
		}),
		yaql.Extension("require", "value any", func(call *yaql.Call) (any, error) {
			if call.Arg(0) == nil {
				return nil, yaql.Errorf(yaql.Value, "required value is missing")
			}
			return call.Arg(0), nil
		}),
		yaql.Func("config", "key string, preset any=null", func(call *yaql.Call) (any, error) {
			if setting, ok := call.Arg(1).(string); ok && call.String(0) == "rabbitmq" {
				return rabbit[setting], nil
			}
			if config := scopeOf(call).in.options.Config; config != nil {
				return config(call.String(0), call.Arg(1))
			}
			return call.Arg(1), nil
		}),
		yaql.Func("randomName", "", func(call *yaql.Call) (any, error) { return "x" + scopeOf(call).in.newID(nil, "name")[:14], nil }),
		yaql.Extension("pselect", "collection iterable, composer lambda", parallelSelect),
		yaql.Func("isObject", "value any", func(call *yaql.Call) (any, error) {
			switch call.Arg(0).(type) {
			case *Object, *Class:
				return true, nil
			}
			return false, nil
		}),
		yaql.Func("sleep", "seconds number", sleep),
		// The underscores prevent clashes with properties.
		yaql.Func("new", "__class any!, __owner murano.object=null, __name string=null, __extra dict=null, **properties stored", func(call *yaql.Call) (any, error) {
			d := yaql.NewDict()
			for name, v := range call.Others {
				set(d, name, v)
			}
			return create(call, d, 1)
		}),
		yaql.Func("new", "class any!, properties dict, owner murano.object=null, name string=null, extra dict=null", func(call *yaql.Call) (any, error) {
			return create(call, call.Dict(1), 2)
		}),
		yaql.Func("new", "model dict, owner murano.object=null", func(call *yaql.Call) (any, error) {
			return load(call, call.Dict(0), objectArgument(call, 1))
		}),
		yaql.Func("#finalize", "value stored", func(call *yaql.Call) (any, error) { return call.Settle(call.Arg(0)) }),
	}
}

// classOf returns the class for v: v itself, or the class it names in the namespaces of c.
func (c *Class) classOf(v any) (*Class, error) {
	switch v := v.(type) {
	case *Class:
		return v, nil
	case string:
		name, err := c.spaces.resolve(v)
		if err != nil {
			return nil, err
		}
		return c.in.Class(name)
	}
	return nil, fail(yaql.NoMatch, "%s is not a class", show(v))
}

// typed adapts a function of an object and a class. The class may be given by name.
func typed(f func(o *Object, class *Class) (any, error)) func(*yaql.Call) (any, error) {
	return func(call *yaql.Call) (any, error) {
		class, err := typeArgument(call, call.Arg(1))
		if err != nil {
			return nil, err
		}
		return f(objectArgument(call, 0), class)
	}
}

func objectArgument(call *yaql.Call, i int) *Object {
	o, _ := call.Arg(i).(*Object)
	return o
}

// super returns the object cast to each parent of the class of the running method. If there is a function argument, it
// returns the results of the function for these instead.
func super(call *yaql.Call, parallel bool) (any, error) {
	s, o, f := scopeOf(call), call.Arg(0).(*Object), call.Lambda(1)
	parents := s.class.Parents
	results := make([]any, len(parents))
	tasks := make([]func() error, len(parents))
	for i, p := range parents {
		if !o.inst.class.isA(p) {
			return nil, fail(yaql.TypeError, "class %s does not inherit from %s", o.inst.class.Name, p.Name)
		}
		results[i] = o.inst.as(p)
		tasks[i] = func() (err error) {
			results[i], err = f.Call(o.inst.as(p))
			return err
		}
	}
	var err error
	switch {
	case f == nil:
	case parallel:
		err = s.in.parallel(tasks, math.MaxInt)
	default:
		for _, run := range tasks {
			if err = run(); err != nil {
				break
			}
		}
	}
	return yaql.NewList(results), err
}

// parallelSelect calls a function for each item of a collection, in a separate branch for each.
func parallelSelect(call *yaql.Call) (any, error) {
	items, err := call.Collect(call.Iter(0))
	if err != nil {
		return nil, err
	}
	results, branches := make([]any, len(items)), make([]func() error, len(items))
	for i, item := range items {
		branches[i] = func() (err error) {
			results[i], err = call.Lambda(1).Call(item)
			return err
		}
	}
	return yaql.NewList(results), scopeOf(call).in.parallel(branches, math.MaxInt)
}

func sleep(call *yaql.Call) (any, error) {
	seconds := math.Inf(1) // for numbers out of range
	switch v := call.Arg(0).(type) {
	case int64:
		seconds = float64(v)
	case float64:
		seconds = v
	}
	if !(seconds <= math.MaxInt32) {
		return nil, yaql.Errorf(yaql.Value, "cannot sleep %s seconds", show(call.Arg(0)))
	}
	return nil, scopeOf(call).in.pause(time.Duration(max(seconds, 0) * float64(time.Second)))
}

// create creates an object. Its owner, name, and additional header entries are the arguments from index i.
func create(call *yaql.Call, properties *yaql.Dict, i int) (any, error) {
	class, err := typeArgument(call, call.Arg(0))
	if err != nil {
		return nil, err
	}
	header := yaql.NewDict()
	if extra, ok := call.Arg(i + 2).(*yaql.Dict); ok {
		header = extra.Clone()
	}
	set(header, "type", class)
	set(header, "name", call.Arg(i+1))
	model := properties.Clone()
	set(model, "?", header)
	return load(call, model, objectArgument(call, i))
}

// load creates the object described by a model. It reads lazy sequences first, since objects are initialized twice.
func load(call *yaql.Call, model *yaql.Dict, owner *Object) (any, error) {
	v, err := call.Settle(model)
	if err != nil {
		return nil, err
	}
	s := scopeOf(call)
	return s.in.loadModel(s, v.(*yaql.Dict), owner, false)
}
