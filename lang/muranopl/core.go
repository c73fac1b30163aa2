package muranopl

import "github.com/lumi-idl/lumi/lang/yaql"

const collectorClass = "io.murano.system.GC"

// core contains the basic classes of io.murano. If a catalog declares a class with the same name, that class gets the
// Go methods.
var core Declarations

func init() {
	core = Declarations{
		rootClass: {
			Name: rootClass,
			Tree: methodTree("", map[string][]string{"getAttr": {"name", "default", "owner"}, "setAttr": {"name", "value", "owner"}}),
			Native: map[string]Native{"getAttr": func(c *Call) (any, error) {
				of, err := c.attributes()
				if v := of[c.Arg(0)]; v != nil || err != nil {
					return v, err
				}
				return c.Arg(1), nil
			}, "setAttr": func(c *Call) (any, error) {
				of, err := c.attributes()
				if err == nil {
					err = c.in.hold(of[c.Arg(0)], c.Arg(1))
				}
				if err == nil {
					of[c.Arg(0)] = c.Arg(1)
				}
				return nil, err
			}},
		},
		exceptionClass: {Name: exceptionClass, Tree: Tree(map[string]any{"Properties": map[string]any{
			"name":       runtimeProperty(),
			"message":    runtimeProperty(),
			"extra":      runtimeProperty(),
			"stackTrace": runtimeProperty(),
		}})},
		// Objects exist until the end of the run, so subscribers need not be notified before .destroy.
		collectorClass: {
			Name: collectorClass,
			Tree: methodTree("Static", map[string][]string{
				"collect": {}, "isDestroyed": {"object"}, "isDoomed": {"object"},
				"subscribeDestruction": {"publisher", "subscriber", "handler"}, "unsubscribeDestruction": {"publisher", "subscriber", "handler"},
			}),
			Native: map[string]Native{
				"collect": nothing, "subscribeDestruction": nothing, "unsubscribeDestruction": nothing, "isDestroyed": isGone, "isDoomed": isGone,
			},
		},
	}
}

func runtimeProperty() any { return map[string]any{"Contract": Expression("$"), "Usage": "Runtime"} }

// methodTree returns declarations of methods in which all arguments are optional.
func methodTree(usage string, methods map[string][]string) *Node {
	all := map[string]any{}
	for name, arguments := range methods {
		var list []any
		for _, a := range arguments {
			list = append(list, map[string]any{a: map[string]any{"Contract": Expression("$")}})
		}
		all[name] = map[string]any{"Arguments": list, "Usage": usage}
	}
	return Tree(map[string]any{"Methods": all})
}

// attributes returns the attributes set on an object by an owner, which defaults to the calling class. It returns an
// error if the name of the attribute is not a string.
func (c *Call) attributes() (map[any]any, error) {
	owner := c.class
	if c.caller != nil && c.caller.class != nil {
		owner = c.caller.class
	}
	if named := c.Arg(2); named != nil {
		var err error
		if owner, err = owner.classOf(named); err != nil {
			return nil, err
		}
	}
	if _, ok := c.Arg(0).(string); !ok {
		return nil, fail(yaql.TypeError, "the name of an attribute must be a string, not %s", show(c.Arg(0)))
	}
	inst := c.this.inst
	if inst.attributes == nil {
		inst.attributes = map[*Class]map[any]any{}
	}
	if inst.attributes[owner] == nil {
		inst.attributes[owner] = map[any]any{}
	}
	return inst.attributes[owner], nil
}

func nothing(*Call) (any, error) { return nil, nil }

func isGone(c *Call) (any, error) {
	o, ok := c.Arg(0).(*Object)
	return ok && o.isGone(), nil
}
