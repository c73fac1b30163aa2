package yaql

import (
	"iter"
	"maps"
	"slices"
	"strings"
)

// New returns a child context of parent. If parent is nil, the context contains no functions, not even operators.
func New(parent *Context) *Context {
	c := &Context{parent: parent}
	if parent != nil {
		c.scope, c.measure = parent.scope, parent.measure
	} else {
		c.scope = newScope(nil)
	}
	return c
}

// Set sets a variable. The dollar sign in the name is optional; "$" is the same as "$1".
func (c *Context) Set(name string, value any) {
	c.add(value)
	name = variableName(name)
	if name == "$1" {
		c.one, c.hasOne = value, true
		return
	}
	if c.vars == nil {
		c.vars = NewDict()
	}
	_ = c.vars.Set(name, value) // strings are hashable
}

// holder returns the nearest context that contains variables, starting with c itself.
func (c *Context) holder() *Context {
	for !c.hasOne && c.vars == nil && c.parent != nil {
		c = c.parent
	}
	return c
}

// holds reports whether the value of a variable of c itself, not of a parent, is the iterator.
func (c *Context) holds(it *Iterator) bool {
	return c.one == any(it) || c.vars != nil && slices.ContainsFunc(c.vars.entries, func(e entry) bool { return e.value == any(it) })
}

// Get returns the value of a variable, or nil if it is not set.
func (c *Context) Get(name string) any {
	v, _ := c.lookup(variableName(name))
	return v
}

func (c *Context) lookup(name string) (any, bool) {
	for ; c != nil; c = c.parent {
		if name == "$1" {
			if c.hasOne {
				return c.one, true
			}
		} else if c.vars != nil {
			if v, ok, _ := c.vars.Get(name); ok {
				return v, true
			}
		}
	}
	return nil, false
}

// Register adds functions. Overloads in a child context take precedence over overloads in its parents, which are
// considered only if no overload in the child accepts the arguments.
func (c *Context) Register(functions ...*Function) { c.register(false, functions) }

// RegisterExclusive adds functions that hide all functions with the same names in parent contexts.
func (c *Context) RegisterExclusive(functions ...*Function) { c.register(true, functions) }

func (c *Context) register(exclusive bool, functions []*Function) {
	// Scopes are immutable because results are cached per scope.
	s := newScope(c.scope)
	if c.parent == nil || c.parent.scope != c.scope {
		s.parent = c.scope.parent
		s.own = maps.Clone(c.scope.own)
		s.exclusive = maps.Clone(c.scope.exclusive)
	}
	for _, f := range functions {
		name := strings.TrimRight(f.Name, "_")
		s.own[name] = append(slices.Clip(s.own[name]), f)
		s.dynamic = s.dynamic || f.dynamic
		if exclusive {
			s.exclusive[name] = true
		}
	}
	c.scope = s
}

// Functions returns the functions of the context and its parents, nearest context first, sorted by name within a
// context.
func (c *Context) Functions() []*Function {
	var all []*Function
	for s := c.scope; s != nil; s = s.parent {
		all = append(all, s.ownFunctions()...)
	}
	return all
}

func (s *scope) ownFunctions() []*Function {
	var all []*Function
	for _, name := range slices.Sorted(maps.Keys(s.own)) {
		all = append(all, s.own[name]...)
	}
	return all
}

func newScope(parent *scope) *scope {
	dynamic := parent != nil && parent.dynamic
	return &scope{parent: parent, own: map[string][]*Function{}, exclusive: map[string]bool{}, dynamic: dynamic}
}

func (o *overloads) family(method bool) *family {
	if method {
		return &o.methods
	}
	return &o.plain
}

func (f *family) add(level []*Function) {
	if len(level) == 0 {
		return
	}
	if f.levels == nil {
		f.noKeywords = level[0].NoKeywords
	}
	f.levels = append(f.levels, level)
	for _, fn := range level {
		f.mixed = f.mixed || fn.NoKeywords != f.noKeywords
	}
}

// lookup returns the overloads with the given name, ignoring trailing underscores.
func (s *scope) lookup(name string) *overloads {
	name = strings.TrimRight(name, "_")
	s.mu.RLock()
	o := s.cache[name]
	s.mu.RUnlock()
	if o != nil {
		return o
	}
	if len(s.own[name]) == 0 && s.parent != nil {
		return s.parent.lookup(name)
	}
	o = &overloads{name: name, standard: true}
	for p := s; p != nil; p = p.parent {
		var plain, methods []*Function
		for _, f := range p.own[name] {
			o.standard = o.standard && f.standard
			o.dynamic = o.dynamic || f.dynamic
			if f.Plain {
				plain = append(plain, f)
			}
			if f.Method {
				methods = append(methods, f)
			}
		}
		o.plain.add(plain)
		o.methods.add(methods)
		if p.exclusive[name] {
			break
		}
	}
	if o.plain.levels == nil && o.methods.levels == nil {
		o.standard = false
		return o // not cached, since the number of unknown names is unlimited
	}
	if o.standard {
		o.binary = shortcuts[name]
	}
	s.mu.Lock()
	if s.cache == nil {
		s.cache = map[string]*overloads{}
	}
	s.cache[name] = o
	s.mu.Unlock()
	return o
}

func (s *scope) plainVariables() bool {
	v := s.variables.Load()
	if v == 0 {
		if v = 2; s.lookup(opVariable).standard {
			v = 1
		}
		s.variables.Store(v)
	}
	return v == 1
}

// names iterates over the names of methods or of functions. It skips operators.
func (s *scope) names(method bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		for ; s != nil; s = s.parent {
			for name, functions := range s.own {
				callable := func(f *Function) bool { return method && f.Method || !method && f.Plain }
				if !strings.HasPrefix(name, "#") && !strings.HasPrefix(name, "*") && slices.ContainsFunc(functions, callable) && !yield(name) {
					return
				}
			}
		}
	}
}

// variableName returns the name under which a variable is stored, which starts with a dollar sign. $ is stored as $1.
func variableName(name string) string {
	if name == "" || name == "$" {
		return "$1"
	}
	if name[0] != '$' {
		return "$" + name
	}
	return name
}
