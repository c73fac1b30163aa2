package muranopl

import (
	"slices"

	"github.com/lumi-idl/lumi/lang/yaql"
)

func newObject(class *Class, owner *Object, id string) *Object {
	inst := &instance{id: id, class: class, owner: owner, properties: map[string]any{}, views: map[*Class]*Object{}}
	return inst.as(class)
}

// as returns the object cast to c, which must be its class or an ancestor.
func (o *instance) as(c *Class) *Object {
	v := o.views[c]
	if v == nil {
		v = &Object{o, c}
		o.views[c] = v
	}
	return v
}

// this returns the object without a cast.
func (o *Object) this() *Object { return o.inst.as(o.inst.class) }

// ID returns the object's id.
func (o *Object) ID() string { return o.inst.id }

// Name returns the object's name, or "" if it has none.
func (o *Object) Name() string { return o.inst.name }

// Class returns the class of the object, regardless of casts.
func (o *Object) Class() *Class { return o.inst.class }

// Owner returns the object's owner, or nil if it has none.
func (o *Object) Owner() *Object { return o.inst.owner }

// Data returns the value set by SetData.
func (o *Object) Data() any { return o.inst.data }

// SetData attaches data for use by native methods. Saved models do not contain it.
func (o *Object) SetData(data any) { o.inst.data = data }

// YAQLType implements [yaql.Typed].
func (o *Object) YAQLType() string { return o.class.Name }

// YAQLProperty implements [yaql.Receiver].
func (o *Object) YAQLProperty(name string, in *yaql.Context) (any, error) {
	if s := scopeIn(in); s != nil {
		return o.get(name, s.class)
	}
	return o.get(name, nil)
}

// YAQLMethod implements [yaql.Receiver].
func (o *Object) YAQLMethod(name string) *yaql.Function {
	m, err := o.class.method(name)
	switch {
	case err != nil:
		return yaql.Method(name, "receiver any, *args stored, **named stored", func(*yaql.Call) (any, error) { return nil, err })
	case m == nil:
		return nil
	}
	return m.function()
}

// Get returns the value of a property, which may be private.
func (o *Object) Get(name string) (any, error) { return o.get(name, nil) }

// get returns the value of a property. A private property of class caller is visible only if caller is given.
func (o *Object) get(name string, caller *Class) (any, error) {
	start := o.class
	inside := caller != nil && o.class.isA(caller)
	if inside {
		start = caller
	}
	if o.inst.destroyed {
		return nil, fail(Destroyed, "object %s of class %s is destroyed", o.ID(), o.inst.class.Name)
	}
	switch {
	case start.declares(name):
		p, err := o.inst.class.property(name)
		if err != nil {
			return nil, err
		}
		if p.Usage == Static {
			return p.shared()
		}
		if v, ok := o.inst.properties[name]; ok {
			return v, nil
		}
		if e := o.inst.broken[name]; e != nil {
			return nil, failAt(e.Pos, e.Kind, "%s", e.Message)
		}
	case inside:
		if v, ok := o.inst.private[caller][name]; ok {
			return v, nil
		}
		return nil, fail(Uninitialized, "property %s of class %s has no value yet%s", name, start.Name, start.hint(name))
	default:
		return nil, start.noProperty(name)
	}
	return nil, fail(Uninitialized, "property %s of class %s has no value yet", name, start.Name)
}

func (c *Class) declares(name string) bool {
	return slices.ContainsFunc(c.lineage, func(d *Class) bool { return d.ownProperty(name) != nil })
}

// set sets a property for a workflow in s or during initialization. If keep is false, it only checks the value. node is
// the node of v in the model, or nil.
func (o *Object) set(s *scope, name string, v any, node *Node, keep bool) error {
	caller := s.class
	inside := caller != nil && o.class.isA(caller)
	start := o.inst.class
	if inside {
		start = caller
	}
	if o.inst.destroyed {
		return fail(Destroyed, "object %s of class %s is destroyed", o.ID(), o.inst.class.Name)
	}
	if !start.declares(name) {
		if !inside {
			return start.noProperty(name)
		}
		if keep {
			if o.inst.private == nil {
				o.inst.private = map[*Class]map[string]any{}
			}
			if o.inst.private[caller] == nil {
				o.inst.private[caller] = map[string]any{}
			}
			if err := s.in.hold(o.inst.private[caller][name], v); err != nil {
				return err
			}
			o.inst.private[caller][name] = v
		}
		return nil
	}
	final, err := o.inst.class.property(name)
	if err != nil {
		return err
	}
	for _, c := range o.inst.class.lineage {
		p := c.ownProperty(name)
		if p == nil {
			continue
		}
		if !s.initializing && !inside {
			return fail(ReadOnly, "property %s of class %s can be written only by methods of its class", name, c.Name)
		}
		if !s.initializing && !p.Usage.writable() {
			return fail(ReadOnly, "property %s of class %s cannot be written here: its usage is %s", name, c.Name, p.Usage)
		}
		check := &contracting{
			spec: &p.spec, what: "property " + name, where: " of class " + c.Name, scope: s.in.objectScope(s, o, c),
			owner: o.this(), calling: caller, only: p != final, node: node,
		}
		result, err := check.apply(v)
		if err != nil {
			return err
		}
		if p == final {
			v = result
		}
	}
	if final.Usage == Static {
		o = final.class.static()
	}
	if keep {
		if err := s.in.hold(o.inst.properties[name], v); err != nil {
			return err
		}
		o.inst.properties[name] = v
	}
	return nil
}
