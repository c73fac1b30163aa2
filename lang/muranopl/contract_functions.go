package muranopl

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strings"

	"github.com/lumi-idl/lumi/lang/yaql"
)

// contractFunctions lists the methods of $ in contracts.
var contractFunctions = []*yaql.Function{
	yaql.Method("string", "value stored", contract(func(c *contracting, call *yaql.Call) (any, error) {
		switch v := call.Arg(0).(type) {
		case nil, string:
			return v, nil
		case bool:
			if c.only {
				break
			}
			if v {
				return "True", nil
			}
			return "False", nil
		case int64, *big.Int:
			if !c.only {
				return fmt.Sprint(v), nil
			}
		case *Object:
			if !c.only {
				return v.ID(), nil
			}
		case Future:
			return v, c.kind(v, "string")
		}
		return nil, c.violated("%s violates string()", show(call.Arg(0)))
	})),
	yaql.Method("bool", "value stored", contract(func(c *contracting, call *yaql.Call) (any, error) {
		v := call.Arg(0)
		if _, isBool := v.(bool); v == nil || isBool {
			return v, nil
		}
		if v, ok := v.(Future); ok {
			return v, c.kind(v, "bool")
		}
		if c.only {
			return nil, c.violated("%s violates bool()", show(v))
		}
		return yaql.Truth(v)
	})),
	yaql.Method("int", "value stored", contract(func(c *contracting, call *yaql.Call) (any, error) {
		switch v := call.Arg(0).(type) {
		case nil, int64, *big.Int:
			return v, nil
		case bool, float64, string:
			if n, ok := integer(v); ok && !c.only {
				return n, nil
			}
		case Future:
			return v, c.kind(v, "int")
		}
		return nil, c.violated("%s violates int()", show(call.Arg(0)))
	})),
	yaql.Method("notNull", "value stored", contract(func(c *contracting, call *yaql.Call) (any, error) {
		if call.Arg(0) == nil {
			return nil, c.violated("null violates notNull()")
		}
		return call.Arg(0), nil
	})),
	yaql.Method("check", "value stored, predicate lambda.context, msg string=null", contract(checkPredicate)),
	yaql.Method("class", "value any, name any!, default any=null, version string=null", contract(instanceOf)),
	yaql.Method("template", "value any, class any!, default any=null, version string=null, excludeProperties sequence=null", contract(template)),
	yaql.Method("owned", "value any", contract(func(c *contracting, call *yaql.Call) (any, error) { return c.owned(call.Arg(0), true) })),
	yaql.Method("notOwned", "value any", contract(func(c *contracting, call *yaql.Call) (any, error) { return c.owned(call.Arg(0), false) })),
}

func contract(f func(*contracting, *yaql.Call) (any, error)) func(*yaql.Call) (any, error) {
	return func(call *yaql.Call) (any, error) {
		s := scopeOf(call)
		if s == nil || s.contract == nil {
			return nil, yaql.Errorf(yaql.UnknownFunction, "contracts are not available here")
		}
		return f(s.contract, call)
	}
}

var integerText = regexp.MustCompile(`^\s*[-+]?\d+(_?\d+)*\s*$`)

func integer(v any) (any, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return int64(1), true
		}
		return int64(0), true
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, false
		}
		n, _ := big.NewFloat(math.Trunc(v)).Int(nil)
		return yaql.Integer(n), true
	case string:
		if !integerText.MatchString(v) || len(v) > 4300 {
			return nil, false
		}
		n, ok := new(big.Int).SetString(strings.TrimPrefix(strings.ReplaceAll(strings.TrimSpace(v), "_", ""), "+"), 10)
		if !ok {
			return nil, false
		}
		return yaql.Integer(n), true
	}
	return nil, false
}

func checkPredicate(c *contracting, call *yaql.Call) (any, error) {
	v := call.Arg(0)
	if _, ok := v.(reference); ok {
		return v, nil
	}
	in := yaql.New(c.scope.ctx)
	in.Set("$", v)
	result, err := call.Lambda(1).CallIn(in)
	if err != nil {
		return nil, err
	}
	ok, err := yaql.Truth(result)
	if err != nil || ok {
		return v, err
	}
	if msg := call.String(2); msg != "" {
		return nil, c.fail(Contract, "%s", msg)
	}
	return nil, c.violated("%s violates check()", show(v))
}

// classes returns the class named in a contract, and the default class for inline objects without a type.
func (c *contracting) classes(call *yaql.Call) (class, preset *Class, err error) {
	if class, err = c.spec.class.classOf(call.Arg(1)); err != nil {
		return nil, nil, err
	}
	preset = class
	if name := call.Arg(2); name != nil {
		preset, err = c.spec.class.classOf(name)
	}
	return class, preset, err
}

func instanceOf(c *contracting, call *yaql.Call) (any, error) {
	class, preset, err := c.classes(call)
	if err != nil {
		return nil, err
	}
	v := call.Arg(0)
	in := c.scope.in
	if ref, ok := v.(reference); ok {
		v = string(ref)
	}
	if c.constant {
		switch v.(type) {
		case *yaql.Dict, string:
			return reference(""), nil
		}
	}
	if !c.only {
		switch x := v.(type) {
		case *yaql.Dict:
			obj, err := c.load(x, preset)
			if err != nil {
				return nil, err
			}
			v = obj
		case string:
			obj := in.find(x)
			switch {
			case obj != nil:
				v = obj
			case in.loading != nil && in.loading.first:
				return reference(x), nil
			default:
				return nil, c.fail(UnknownObject, "no object has the id %s", show(x))
			}
		}
	}
	return c.instance(v, class)
}

// instance returns v if it is null or an object of the given class. Otherwise, it returns an error.
func (c *contracting) instance(v any, class *Class) (any, error) {
	switch x := v.(type) {
	case nil:
		return nil, nil
	case *Object:
		if x.inst.class.isA(class) {
			return x, nil
		}
		return nil, c.violated("%s is not of class %s", show(x), class.Name)
	}
	return nil, c.violated("%s is not an object", show(v))
}

// template returns a model of an object that meets the contracts of its class, for use by new(). It does not create the
// object.
func template(c *contracting, call *yaql.Call) (any, error) {
	class, preset, err := c.classes(call)
	if err != nil {
		return nil, err
	}
	v, in := call.Arg(0), c.scope.in
	model, given := v.(*yaql.Dict)
	switch {
	case c.constant, c.only && given:
		return v, nil
	case v == nil || c.only:
		return c.instance(v, class)
	case in.loading != nil && in.loading.first: // in the second pass, all objects that the model refers to exist
		return yaql.NewDict(), nil
	}
	var left []any
	if list, ok := call.Arg(4).(*yaql.List); ok {
		left = list.Items()
	}
	if given {
		if v, err = c.dryRun(model, preset, left); err != nil {
			return nil, err
		}
	}
	if v, err = c.instance(v, class); err != nil {
		return nil, err
	}
	o := v.(*Object)
	result, _ := Portable(o).(*yaql.Dict)
	header, _, _ := result.Get("?")
	set(header.(*yaql.Dict), "type", o.inst.class)
	for _, path := range left {
		result = patched(result, path, nil)
	}
	return result, nil
}

// dryRun returns an object that is initialized without calling .init and that cannot be referenced by id.
func (c *contracting) dryRun(model *yaql.Dict, preset *Class, left []any) (*Object, error) {
	in := c.scope.in
	d, err := in.parse(c.calling, model, preset)
	if err != nil {
		return nil, err
	}
	d.place, d.dry = c.what+c.path, true
	for _, path := range left {
		d.properties = patched(d.properties, path, excluded{})
	}
	return in.loadRoot(c.scope, d, c.owner, false)
}

// patched returns a copy of d in which the key at a dot-separated path is set to v, or removed if v is nil. If a parent
// on the path is not a dictionary, patched returns d unchanged.
func patched(d *yaql.Dict, path, v any) *yaql.Dict {
	text, _ := path.(string)
	key, rest, nested := strings.Cut(text, ".")
	part, _, _ := d.Get(key)
	inner, isDict := part.(*yaql.Dict)
	switch {
	case nested && isDict:
		v = patched(inner, rest, v)
	case nested:
		return d
	}
	if v != nil {
		result := d.Clone()
		set(result, key, v)
		return result
	}
	result := yaql.NewDict()
	for k, item := range d.All() {
		if k != key {
			set(result, k, item)
		}
	}
	return result
}

// owned returns v if the enclosing object directly or indirectly owns v. If want is false, it returns v if the
// enclosing object does not own it. Otherwise, it returns an error.
func (c *contracting) owned(v any, want bool) (any, error) {
	switch x := v.(type) {
	case nil, reference:
		return v, nil
	case *Object:
		owner := x.inst.owner
		for owner != nil && owner.inst != c.scope.this.inst {
			owner = owner.inst.owner
		}
		if (owner != nil) == want {
			return v, nil
		}
		if want {
			return nil, c.violated("%s violates owned()", show(v))
		}
		return nil, c.violated("%s violates notOwned()", show(v))
	}
	return nil, c.violated("%s is not an object", show(v))
}
