package muranopl

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lumi-idl/lumi/lang/yaql"
)

// Limits of object models.
const (
	maxObjects = 100_000
	maxNesting = 1000
)

// find returns the object with the given id, or nil if there is none. The object may still be loading.
func (in *Interpreter) find(id string) *Object {
	for l := in.loading; l != nil; l = l.outer {
		if o := l.objects[id]; o != nil {
			return o
		}
	}
	return in.objects[id]
}

// loadModel creates the object described by a model and the objects within it.
func (in *Interpreter) loadModel(s *scope, model *yaql.Dict, owner *Object, keepIDs bool, gone ...Gone) (*Object, error) {
	d, err := in.parse(s.class, model, nil)
	if err != nil {
		return nil, err
	}
	missing := make([]*definition, len(gone))
	for i, g := range gone {
		model, _ := g.Model.value(in.nodes).(*yaql.Dict)
		if missing[i], err = in.parse(nil, cmp.Or(model, yaql.NewDict()), nil); err != nil {
			return nil, lost(g.ID, err)
		}
		missing[i].goneFrom = g.Owner
	}
	return in.loadRoot(s, d, owner, keepIDs, missing...)
}

// lost returns the error for an object that was removed from the model and cannot be created to call its .destroy.
func lost(id string, err error) error {
	e := asError(err, Position{})
	e.Message = fmt.Sprintf("cannot destroy object %s, which was removed from the model: keep its class unchanged for one more deployment: %s", id, e.Message)
	return e
}

func (in *Interpreter) loadRoot(s *scope, d *definition, owner *Object, keepIDs bool, gone ...*definition) (*Object, error) {
	l := &loading{
		made: map[slot][]*Object{}, kept: map[string]*definition{},
		outer: in.loading, objects: map[string]*Object{}, models: map[string]*yaql.Dict{}, keepIDs: keepIDs, first: true,
		dry: d.dry || in.loading != nil && in.loading.dry,
	}
	in.loading = l
	defer func() { in.loading = l.outer }()
	o, err := in.objectOf(d, owner)
	if err != nil {
		return nil, err
	}
	for _, first := range []bool{true, false} {
		l.first = first
		if err := in.initialize(s, o, d); err != nil {
			return nil, err
		}
		for _, g := range gone {
			if first && l.objects[g.id] != nil && l.models[g.id] == nil {
				l.kept[g.id] = g
			}
			if l.kept[g.id] != nil {
				continue
			}
			o, err := in.objectOf(g, in.find(g.goneFrom))
			if err != nil {
				return nil, err
			}
			o.inst.gone = true
			if err := in.initialize(s, o, g); err != nil {
				return nil, lost(g.id, err)
			}
		}
	}
	if l.dry {
		return o, nil
	}
	in.loading = l.outer
	for _, init := range l.inits {
		if err := init(); err != nil {
			return nil, err
		}
	}
	for _, o := range l.order {
		if !o.inst.initialized {
			continue
		}
		if l.outer != nil {
			l.outer.objects[o.ID()] = o
		}
		if in.objects[o.ID()] == nil {
			in.objects[o.ID()] = o
			in.order = append(in.order, o)
		}
	}
	return o, nil
}

// load creates an object from an inline model in the value of a contract, during or after the load of a model. Missing
// properties default to the properties given in the contract.
func (c *contracting) load(model *yaql.Dict, preset *Class) (*Object, error) {
	in := c.scope.in
	d, err := in.parse(c.calling, model, preset)
	if err != nil {
		return nil, err
	}
	d.place = c.what + c.path
	if c.defaults != nil && c.defaults.kind == isDict {
		v, err := c.defaults.eval(c.scope)
		if err != nil {
			return nil, err
		}
		defaults, err := in.parse(c.spec.class, v.(*yaql.Dict), preset)
		if err != nil {
			return nil, err
		}
		d.properties = d.properties.Clone()
		for name, v := range defaults.properties.All() {
			if _, ok, _ := d.properties.Get(name); !ok {
				set(d.properties, name, v)
			}
		}
	}
	if in.loading == nil {
		return in.loadRoot(c.scope, d, c.owner, false)
	}
	o, err := in.objectOf(d, c.owner)
	if err != nil {
		return nil, err
	}
	return o, in.initialize(c.scope, o, d)
}

// parse reads an object, which is written as {"?": {"type": …, "id": …}, …} or {ns:Class: {…}, …}. Class names are
// resolved in the namespaces of the class passed as names.
func (in *Interpreter) parse(names *Class, model *yaql.Dict, preset *Class) (*definition, error) {
	d := &definition{model: model, class: preset, header: yaql.NewDict(), properties: yaql.NewDict(), node: in.nodes[model]}
	header, err := d.split(names)
	for key, v := range header.All() {
		if err == nil {
			err = d.readHeader(in, key, v)
		}
	}
	if err == nil && d.class == nil {
		err = fail(yaql.Value, `the object has no type: add "?": {"type": …}`)
	}
	if err != nil {
		return nil, asError(err, d.node.position())
	}
	return d, nil
}

// split returns the header of an object. It sets the properties of d and, if a key names the class, the class of d.
func (d *definition) split(names *Class) (*yaql.Dict, error) {
	header := yaql.NewDict()
	for key, v := range d.model.All() {
		class, isClass := key.(*Class)
		if text, ok := key.(string); ok && names != nil && strings.Contains(text, ":") && typeName.MatchString(text) {
			var err error
			if class, err = names.classOf(text); err != nil {
				return header, err
			}
			isClass = true
		}
		if !isClass {
			continue
		}
		d.class = class
		properties, ok := v.(*yaql.Dict)
		if !ok && v != nil {
			return header, fail(yaql.Value, "the properties of an object of class %s must be a dictionary", class.Name)
		}
		if ok {
			d.properties = properties
		}
		for k, v := range d.model.All() {
			if k != key {
				set(header, k, v)
			}
		}
		return header, nil
	}
	for key, v := range d.model.All() {
		if key != "?" {
			set(d.properties, key, v)
			continue
		}
		var ok bool
		if header, ok = v.(*yaql.Dict); !ok {
			return yaql.NewDict(), fail(yaql.Value, "the entry ? of an object must be a dictionary")
		}
		d.headerNode = d.node.Get("?")
	}
	return header, nil
}

func (d *definition) readHeader(in *Interpreter, key, v any) (err error) {
	text, ok := v.(string)
	switch key {
	case "type":
		if class, is := v.(*Class); is {
			d.class = class
			return nil
		}
		switch {
		case v == nil:
			return nil
		case !ok:
			return failAt(d.headerNode.Get("type").position(), yaql.Value, "the type of an object must be a string, not %s", show(v))
		}
		if d.class, err = in.Class(text); err != nil {
			return asError(err, d.headerNode.Get("type").position())
		}
	case "id":
		if !ok && v != nil {
			return failAt(d.headerNode.Get("id").position(), yaql.Value, "the id of an object must be a string, not %s", show(v))
		}
		d.id = text
	case "name":
		d.name = text
	default:
		set(d.header, key, v)
	}
	return nil
}

// objectOf returns the object for a definition. It creates the object on first use.
func (in *Interpreter) objectOf(d *definition, owner *Object) (*Object, error) {
	l := in.loading
	if d.id != "" {
		o := l.objects[d.id]
		if before := l.models[d.id]; before != nil && before != d.model && !yaql.Equal(before, d.model) {
			return nil, failAt(d.node.position(), yaql.Value, "two objects have the id %s", show(d.id))
		}
		l.models[d.id] = d.model
		if o == nil && l.keepIDs {
			o = in.find(d.id)
		}
		if o != nil {
			return o, nil
		}
	}
	at := slot{owner, d.place}
	if made := l.made[at]; d.id == "" && !l.first && len(made) > 0 && made[0].inst.class == d.class {
		l.made[at] = made[1:]
		d.keep(l.kept[made[0].ID()])
		return made[0], nil
	}
	if in.created++; in.created > maxObjects {
		return nil, fail(yaql.Limit, "more than %d objects", maxObjects)
	}
	id := d.id
	if id == "" || !l.keepIDs {
		id = in.newID(owner, d.place)
	}
	in.taken[id] = true
	o := newObject(d.class, owner, id)
	o.inst.name, o.inst.header = d.name, d.header
	key := d.id
	if key == "" {
		key = o.ID()
	}
	if d.id == "" && l.first {
		l.made[at] = append(l.made[at], o)
	}
	l.objects[key] = o
	l.order = append(l.order, o)
	return o, nil
}

// keep adds the Out and InOut values of the last deployment to d unless the model sets them. last may be nil.
func (d *definition) keep(last *definition) {
	if last == nil {
		return
	}
	d.properties = d.properties.Clone()
	for name, v := range last.properties.All() {
		text, _ := name.(string)
		usage := d.class.Usage(text)
		if _, given, _ := d.properties.Get(name); !given && (usage == Out || usage == InOut) {
			set(d.properties, name, v)
		}
	}
}

// initialize sets the properties of an object to the values in its definition or to their defaults.
func (in *Interpreter) initialize(s *scope, o *Object, d *definition) error {
	in.nesting++
	defer func() { in.nesting-- }()
	if in.nesting > maxNesting {
		return failAt(d.node.position(), yaql.Limit, "objects nested deeper than %d", maxNesting)
	}
	return in.initializeAs(s, o, o.inst.class, d, map[string]bool{}, map[*Class]bool{})
}

// initializeAs sets the properties declared by c and then the properties of its parents, except for names in used. It
// schedules each .init once, starting with the parents.
func (in *Interpreter) initializeAs(s *scope, o *Object, c *Class, d *definition, used map[string]bool, seen map[*Class]bool) error {
	if seen[c] {
		return nil
	}
	seen[c] = true
	inner := in.objectScope(s, o, c)
	inner.initializing = true
	init := c.ownMethod(".init")
	args, err := in.initializeProperties(inner, o, init, d, used)
	if err != nil {
		return err
	}
	for _, p := range c.Parents {
		if err := in.initializeAs(s, o, p, d, used, seen); err != nil {
			return err
		}
	}
	if l := in.loading; !l.first && !o.inst.initialized && !o.inst.destroyed {
		l.inits = append(l.inits, func() error {
			if init != nil {
				if _, err := in.invoke(inner, init, o, nil, args); err != nil {
					return asError(err, d.node.position())
				}
			}
			o.inst.initialized = o.inst.initialized || c == o.inst.class
			return nil
		})
	}
	return nil
}

// initializeProperties sets the properties declared by the class of s and returns the arguments for its .init.
func (in *Interpreter) initializeProperties(s *scope, o *Object, init *Method, d *definition, used map[string]bool) (args []argument, err error) {
	var pending []string
	for _, p := range s.class.Properties {
		pending = append(pending, p.Name)
	}
	if init != nil {
		for _, a := range init.Arguments {
			pending = append(pending, a.Name)
		}
	}
	// A default may depend on a property that is not initialized yet, so retry these.
	for len(pending) > 0 {
		var again []string
		var last *Error
		for _, name := range pending {
			if used[name] {
				continue
			}
			used[name] = true
			value := any(absent{})
			if v, ok, _ := d.properties.Get(name); ok {
				value = v
			}
			if init != nil && init.index(name) >= 0 {
				args = append(args, argument{name, value})
				continue
			}
			e := in.initializeProperty(s, o, s.class.ownProperty(name), value, d)
			switch {
			case e == nil:
			case e.Kind == Uninitialized:
				used[name] = false
				again, last = append(again, name), e
			default:
				return nil, e
			}
		}
		if len(again) == len(pending) {
			last.Kind, last.Names = Circular, nil
			last.Message = fmt.Sprintf("dependency cycle in properties of class %s (%s): %s", s.class.Name, strings.Join(again, ", "), last.Message)
			return nil, last
		}
		pending = again
	}
	return args, nil
}

func (in *Interpreter) initializeProperty(s *scope, o *Object, p *Property, value any, d *definition) *Error {
	preset := p.tree.Get("Default")
	if !p.Usage.kept() {
		if value = (absent{}); p.Usage == Static || p.Usage == Runtime && preset == nil {
			return nil
		}
	}
	node, pos := d.node.Get(p.Name), preset.position()
	if node != nil {
		pos = node.Pos
	} else if preset == nil {
		pos = d.node.position()
	}
	err := o.set(s, p.Name, value, node, !o.inst.initialized)
	if err == nil {
		return nil
	}
	e := asError(err, pos)
	if e.Kind == Contract && p.Usage == Runtime {
		return nil
	}
	if _, missing := value.(absent); !missing || !e.broken {
		return e
	}
	if o.inst.broken == nil {
		o.inst.broken = map[string]*Error{}
	}
	o.inst.broken[p.Name] = e // reported when the property is read
	return nil
}
