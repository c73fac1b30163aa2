package muranopl

import (
	"context"
	"slices"

	"github.com/lumi-idl/lumi/lang/yaql"
)

// Save returns a model of the objects reachable from root. An object is written inside its owner if the owner refers to
// it, or else at the first reference to it; other references are written as ids. Runtime properties and private
// properties are omitted.
func (in *Interpreter) Save(root *Object) *yaql.Dict {
	model, _ := Portable(root).(*yaql.Dict)
	return model
}

// Portable returns v with objects replaced by models as returned by [Interpreter.Save] and classes replaced by their
// names.
func Portable(v any) any {
	w := &saver{written: map[*instance]bool{}, owned: reachable(v)}
	if o, ok := v.(*Object); ok {
		v = w.object(o)
	} else {
		v = w.value(nil, v)
	}
	for i := 0; i < len(w.places); i++ { // Objects add more of them.
		if p := w.places[i]; !w.owned[p.inst] && !w.written[p.inst] {
			p.model = w.object(p.inst.as(p.inst.class))
		}
	}
	return filled(v)
}

// replace returns v with f applied to all parts that are not collections and to keys that are classes. Objects used as
// keys are replaced by their ids, and sets are replaced by lists. Parts for which keep is false are dropped from
// collections.
func replace(v any, f func(any) (result any, keep bool)) (any, bool) {
	switch v := v.(type) {
	case *yaql.List:
		var items []any
		for _, item := range v.Items() {
			if item, keep := replace(item, f); keep {
				items = append(items, item)
			}
		}
		return yaql.NewList(items), true
	case *yaql.Set:
		return replace(yaql.NewList(v.Items()), f)
	case *yaql.Dict:
		d := yaql.NewDict()
		for key, item := range v.All() {
			switch k := key.(type) {
			case *Class:
				key, _ = f(k)
			case *Object:
				key = k.ID()
			}
			if item, keep := replace(item, f); keep {
				set(d, key, item)
			}
		}
		return d, true
	}
	return f(v)
}

// reachable returns the objects reachable from v through saved properties. The value is true if the object's owner
// refers to it.
func reachable(v any) map[*instance]bool {
	owned := map[*instance]bool{}
	var found []*instance
	visit := func(owner *instance, v any) {
		replace(v, func(v any) (any, bool) {
			if o, ok := v.(*Object); ok && !o.isGone() {
				if _, ok := owned[o.inst]; !ok {
					found = append(found, o.inst)
				}
				owned[o.inst] = owned[o.inst] || owner != nil && o.inst.owner != nil && o.inst.owner.inst == owner
			}
			return nil, false
		})
	}
	visit(nil, v)
	for i := 0; i < len(found); i++ {
		for _, p := range found[i].class.saved() {
			visit(found[i], found[i].properties[p])
		}
	}
	return owned
}

// saver converts objects to a model.
type saver struct {
	written map[*instance]bool
	owned   map[*instance]bool // result of reachable
	places  []*placeholder
}

// placeholder marks a place for an object or its id.
type placeholder struct {
	inst  *instance
	model *yaql.Dict
}

func (w *saver) object(o *Object) *yaql.Dict {
	o = o.this()
	w.written[o.inst] = true
	header := yaql.NewDict()
	set(header, "id", o.ID())
	set(header, "type", o.class.Name)
	if o.Name() != "" {
		set(header, "name", o.Name())
	}
	if o.inst.header != nil {
		for key, v := range o.inst.header.All() {
			set(header, key, v)
		}
	}
	model := yaql.NewDict()
	set(model, "?", header)
	for _, p := range o.class.saved() {
		if v, ok := o.inst.properties[p]; ok {
			set(model, p, w.value(o.inst, v))
		}
	}
	return model
}

// set sets a key that is known to be hashable.
func set(d *yaql.Dict, key, v any) { _ = d.Set(key, v) }

// saved returns the names of the properties in saved models, starting with the ancestors.
func (c *Class) saved() []string {
	var names []string
	hidden := map[string]bool{}
	for i := len(c.lineage) - 1; i >= 0; i-- {
		for _, p := range c.lineage[i].Properties {
			if !hidden[p.Name] && p.Usage.kept() {
				hidden[p.Name] = true
				names = append(names, p.Name)
			}
		}
	}
	return names
}

// value converts a value in a property of owner. Objects that owner does not own are replaced by placeholders.
func (w *saver) value(owner *instance, v any) any {
	v, _ = replace(v, func(v any) (any, bool) {
		switch v := v.(type) {
		case *Object:
			switch o := v.inst.owner; {
			case owner != nil && v.isTransient():
				return nil, false
			case o != nil && o.inst == owner && !w.written[v.inst]:
				return w.object(v), true
			}
			p := &placeholder{inst: v.inst}
			w.places = append(w.places, p)
			return p, true
		case *Class:
			return v.Name, true
		}
		return v, true
	})
	return v
}

// filled returns v with its placeholders replaced.
func filled(v any) any {
	v, _ = replace(v, func(v any) (any, bool) {
		p, ok := v.(*placeholder)
		switch {
		case !ok:
			return v, true
		case p.model != nil:
			return filled(p.model), true
		}
		return p.inst.id, true
	})
	return v
}

// isGone reports whether the object or one of its owners was removed from the model.
func (o *Object) isGone() bool {
	return o != nil && (o.inst.gone || o.Owner().isGone())
}

// isTransient reports whether saved models omit the object.
func (o *Object) isTransient() bool {
	return slices.ContainsFunc(o.inst.class.lineage, func(c *Class) bool { return c.decl.Transient })
}

// Destroy calls .destroy on objects that are unreachable from root and on objects passed to [Interpreter.Load] as gone,
// owned objects first. It then forgets them. If root is nil, it destroys only objects passed as gone. It returns all
// errors; an error does not prevent the destruction of other objects.
func (in *Interpreter) Destroy(ctx context.Context, root *Object) []*Error {
	in.run = ctx
	var reached map[*instance]bool
	if root != nil {
		reached = reachable(root)
	}
	levels := map[int][]*Object{}
	deepest, gone := 0, false
	kept := in.order[:0]
	for _, o := range in.order {
		if _, ok := reached[o.inst]; ok || root == nil && !o.isGone() {
			kept = append(kept, o)
			continue
		}
		depth := 0
		for p := o.inst.owner; p != nil; p = p.inst.owner {
			depth++
		}
		levels[depth] = append(levels[depth], o)
		deepest = max(deepest, depth)
	}
	in.order = kept
	var errs []*Error
	for depth := deepest; depth >= 0; depth-- {
		for _, o := range levels[depth] {
			errs = append(errs, in.destroy(o)...)
			delete(in.objects, o.ID())
			gone = gone || o.inst.gone
		}
	}
	for i := 0; gone && i < len(kept); i++ {
		for name, v := range kept[i].inst.properties {
			kept[i].inst.properties[name], _ = replace(v, func(v any) (any, bool) {
				if o, ok := v.(*Object); ok && o.isGone() {
					return nil, false
				}
				return v, true
			})
		}
	}
	return errs
}

func (in *Interpreter) destroy(o *Object) []*Error {
	var errs []*Error
	s := in.host()
	for _, c := range o.inst.class.lineage {
		if m := c.ownMethod(".destroy"); m != nil {
			if _, err := in.invoke(s, m, o, nil, nil); err != nil {
				errs = append(errs, asError(s.at(err, m.Pos), m.Pos))
			}
		}
	}
	o.inst.destroyed = true
	return errs
}
