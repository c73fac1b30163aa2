package muranopl

import (
	"slices"
	"strings"
	"sync"

	"github.com/lumi-idl/lumi/lang/yaql"
)

// YAQLType implements [yaql.Typed].
func (c *Class) YAQLType() string { return "type " + c.Name }

// YAQLProperty implements [yaql.Receiver].
func (c *Class) YAQLProperty(name string, _ *yaql.Context) (any, error) {
	p, err := c.staticProperty(name)
	if err != nil {
		return nil, err
	}
	return p.shared()
}

func (c *Class) staticProperty(name string) (*Property, error) {
	p, err := c.property(name)
	switch {
	case err != nil:
		return nil, err
	case p == nil:
		return nil, c.noProperty(name)
	case p.Usage != Static:
		return nil, fail(UnknownProperty, "property %s of class %s is not static", name, c.Name)
	}
	return p, nil
}

// YAQLMethod implements [yaql.Receiver]. It returns only static methods.
func (c *Class) YAQLMethod(name string) *yaql.Function {
	m, _ := c.method(name)
	if m == nil || !m.static {
		return nil
	}
	return m.function()
}

// static returns the object that represents the class. It is the receiver of static methods and holds the values of
// static properties.
func (c *Class) static() *Object {
	if c.self == nil {
		c.self = newObject(c, nil, "")
		c.self.inst.initialized = true
	}
	return c.self
}

// shared returns the value of a static property, which is initialized on first use.
func (p *Property) shared() (any, error) {
	o, in := p.class.static(), p.class.in
	if _, ok := o.inst.properties[p.Name]; !ok {
		s := in.objectScope(nil, o, p.class)
		s.initializing = true
		if err := o.set(s, p.Name, absent{}, nil, true); err != nil {
			return nil, asError(err, p.Pos)
		}
	}
	return o.inst.properties[p.Name], nil
}

func (u Usage) writable() bool { return u != In && u != Const }

// kept reports whether saved models contain properties with this usage.
func (u Usage) kept() bool { return u != Runtime && u != Config && u != Static }

// methodNames maps alternative names of methods to their canonical names.
var methodNames = map[string]string{"initialize": ".init", "destroy": ".destroy"}

// Class returns the class with the given full name, which may be followed by a version and a package. It loads the
// class on first use.
func (in *Interpreter) Class(name string) (*Class, error) {
	if end := strings.IndexAny(name, "@/"); end >= 0 {
		name = name[:end]
	}
	if c, ok := in.classes[name]; ok {
		if c == nil {
			return nil, fail(Inheritance, "class %s inherits from itself: %s", name,
				strings.Join(append(slices.Clip(in.opening[slices.Index(in.opening, name):]), name), " extends "))
		}
		return c, nil
	}
	d, err := in.resolver.Resolve(name)
	if err != nil {
		return nil, asError(err, Position{})
	}
	if d == nil {
		return nil, fail(UnknownClass, "unknown class %s%s", name, hint(name, Resolvers{in.resolver}.Names()))
	}
	if len(in.opening) == maxDepth {
		return nil, fail(Inheritance, "class %s has more than %d levels of ancestors", in.opening[0], maxDepth)
	}
	in.classes[name] = nil
	in.opening = append(in.opening, name)
	var first firstError
	report := in.report
	if report == nil {
		report = first.add
	}
	c := in.load(name, d, report)
	in.opening = in.opening[:len(in.opening)-1]
	if first.err != nil {
		delete(in.classes, name)
		return nil, first.err
	}
	in.classes[name] = c
	return c, nil
}

// load builds a class and reports all errors in its declaration.
func (in *Interpreter) load(name string, d *Declaration, report func(*Error)) *Class {
	c := &Class{
		Name: name, in: in, decl: d,
		known: map[*Class]bool{}, methods: map[string][]*Method{}, props: map[string][]*Property{},
	}
	spaces := d.Namespaces
	if spaces == nil {
		spaces = d.Tree.Get("Namespaces")
	}
	c.spaces = newNamespaces(spaces, report)
	c.inherit(report)
	c.eachEntry("Properties", report, func(name string, at *Node, e Entry) {
		p := &Property{Name: name, Usage: In, Pos: at.Pos, spec: newSpec(c, "property "+name, e.Value, report)}
		if u := e.Value.Get("Usage"); u != nil && u.Value != nil {
			text, _ := u.Text()
			if p.Usage = Usage(text); !slices.Contains(usages, p.Usage) {
				report(failAt(u.Pos, Syntax, "invalid usage of property %s: it must be In, Out, InOut, Const, Runtime, Config or Static", name))
			}
		}
		c.Properties = append(c.Properties, p)
	})
	key := "Methods"
	if m := d.Tree.Get(key); m == nil || m.Value == nil {
		key = "Workflow"
	}
	c.eachEntry(key, report, func(name string, at *Node, e Entry) {
		if other, ok := methodNames[name]; ok {
			name = other
		}
		c.Methods = append(c.Methods, c.newMethod(name, at.Pos, e.Value, report))
	})
	if own := core[name]; own != nil && own != d { // a catalog declares the class without its Go methods
		for _, e := range own.Tree.Get("Methods").Entries() {
			if name, _ := e.Key.Text(); c.ownMethod(name) == nil {
				m := c.newMethod(name, e.Key.Pos, e.Value, report)
				m.native = own.Native[name]
				c.Methods = append(c.Methods, m)
			}
		}
	}
	return c
}

// inherit resolves the parents of the class and computes its lineage.
func (c *Class) inherit(report func(*Error)) {
	extends := c.decl.Tree.Get("Extends").List()
	if len(extends) == 0 && c.Name != rootClass {
		extends = []*Node{{Value: rootClass}}
	}
	for _, n := range extends {
		name, ok := n.Name()
		full, err := c.spaces.resolve(name)
		if !ok {
			err = fail(Syntax, "Extends must be the names of classes")
		}
		var parent *Class
		if err == nil {
			parent, err = c.in.Class(full)
		}
		if err != nil {
			report(asError(err, n.Pos))
			continue
		}
		c.Parents = append(c.Parents, parent)
	}
	c.lineage = []*Class{c}
	c.known[c] = true
	for i := 0; i < len(c.lineage); i++ {
		for _, p := range c.lineage[i].Parents {
			if !c.known[p] {
				c.known[p] = true
				c.lineage = append(c.lineage, p)
			}
		}
	}
}

// eachEntry calls f for each entry of the class's dictionary with the given key.
func (c *Class) eachEntry(key string, report func(*Error), f func(name string, at *Node, e Entry)) {
	for _, e := range c.decl.Tree.Get(key).dict(key+" of class "+c.Name+" must be a dictionary", report) {
		name, ok := e.Key.Text()
		if !ok || strings.TrimSpace(name) == "" {
			report(failAt(e.Key.Pos, Syntax, "the keys of %s must be names", key))
			continue
		}
		f(name, e.Key, e)
	}
}

func (c *Class) newMethod(name string, pos Position, n *Node, report func(*Error)) *Method {
	m := &Method{Name: name, Class: c, Pos: pos, tree: n, native: c.decl.Native[name]}
	n.dict("method "+name+" must have Arguments and Body", report)
	usage, _ := n.Get("Usage").Text()
	m.static = usage == "Static"
	m.body = sync.OnceValues(func() (block, error) {
		var first firstError
		b := (&compiler{class: c, report: first.add}).block(n.Get("Body"))
		return b, first.get()
	})
	arguments := n.Get("Arguments").List()
	for _, a := range arguments {
		entries, _ := a.Value.([]Entry)
		if len(entries) == 0 || len(entries) > 1 && len(arguments) > 1 {
			report(failAt(a.Pos, Syntax, "an argument of %s must be a name with a contract", name))
		}
		for _, e := range entries {
			argument, ok := e.Key.Text()
			if !ok || strings.Contains(argument, "?") {
				report(failAt(e.Key.Pos, Syntax, "the name of an argument of %s must be a string without ?", name))
			}
			m.Arguments = append(m.Arguments, &Argument{Name: argument, spec: newSpec(c, "argument "+argument+" of "+name, e.Value, report)})
		}
	}
	return m
}

// Usage returns the usage of a property declared by the class or an ancestor, or "" if there is no such property.
func (c *Class) Usage(name string) Usage {
	if p, err := c.property(name); p != nil && err == nil {
		return p.Usage
	}
	return ""
}

// Accepts returns an error if loading ignores the named property in a model of the class.
func (c *Class) Accepts(name string) error {
	if c.declares(name) {
		return nil
	}
	for _, d := range c.lineage {
		if init := d.ownMethod(".init"); init != nil && init.index(name) >= 0 {
			return nil
		}
	}
	return c.noProperty(name)
}

func (c *Class) noProperty(name string) error {
	return fail(UnknownProperty, "class %s has no property %s%s", c.Name, name, c.hint(name))
}

// hint returns a suggestion of a declared property similar to an unknown name, for a message.
func (c *Class) hint(name string) string {
	var names []string
	for _, d := range c.lineage {
		for _, p := range d.Properties {
			names = append(names, p.Name)
		}
	}
	return hint(name, names)
}

// isA reports whether c is d or is derived from d.
func (c *Class) isA(d *Class) bool { return c.known[d] }

// member returns the member with the given name, or nil if there is none. A member of a class overrides members of its
// ancestors. It returns an error if several members remain.
func member[T any](c *Class, known map[string][]*T, what, name string, own func(*Class) *T, owner func(*T) *Class) (*T, error) {
	chosen, ok := known[name]
	if !ok {
		var all []*T
		for _, d := range c.lineage {
			if m := own(d); m != nil {
				all = append(all, m)
			}
		}
		for _, m := range all {
			if !slices.ContainsFunc(all, func(other *T) bool { return other != m && owner(other).isA(owner(m)) }) {
				chosen = append(chosen, m)
			}
		}
		known[name] = chosen
	}
	switch len(chosen) {
	case 0:
		return nil, nil
	case 1:
		return chosen[0], nil
	}
	var names []string
	for _, m := range chosen {
		names = append(names, owner(m).Name)
	}
	return nil, fail(yaql.Ambiguous, "class %s inherits %s %s from %s", c.Name, what, name, strings.Join(names, " and "))
}

// method returns the method with the given name, or nil if there is none.
func (c *Class) method(name string) (*Method, error) {
	return member(c, c.methods, "method", name,
		func(d *Class) *Method { return d.ownMethod(name) }, func(m *Method) *Class { return m.Class })
}

// property returns the declaration of the property with the given name, or nil if there is none.
func (c *Class) property(name string) (*Property, error) {
	return member(c, c.props, "property", name,
		func(d *Class) *Property { return d.ownProperty(name) }, func(p *Property) *Class { return p.class })
}

func (c *Class) ownMethod(name string) *Method {
	for _, m := range c.Methods {
		if m.Name == name {
			return m
		}
	}
	return nil
}

func (c *Class) ownProperty(name string) *Property {
	for _, p := range c.Properties {
		if p.Name == name {
			return p
		}
	}
	return nil
}

func (f *firstError) get() error {
	if f.err == nil {
		return nil
	}
	return f.err
}

func (f *firstError) add(e *Error) {
	if f.err == nil {
		f.err = e
	}
}
