package muranopl

import (
	"cmp"
	"errors"
	"slices"

	"github.com/lumi-idl/lumi/lang/yaql"
)

// scopeVariable is the variable that contains the scope. Expressions cannot refer to it.
const scopeVariable = "$?scope"

// scopeOf returns the scope of a function's caller, or nil.
func scopeOf(call *yaql.Call) *scope { return scopeIn(call.Context()) }

func scopeIn(in *yaql.Context) *scope {
	s, _ := in.Get(scopeVariable).(*scope)
	return s
}

var errBreak, errContinue = &jump{name: "Break"}, &jump{name: "Continue"}

func (j *jump) Error() string { return j.name + " outside of a loop" }

func (b block) run(s *scope) error {
	for _, i := range b {
		if err := s.step(); err != nil {
			return s.at(err, i.pos)
		}
		s.current = &i.line
		if err := i.run(s); err != nil {
			if isJump(err) {
				return err
			}
			return s.at(err, i.pos)
		}
	}
	return nil
}

// step counts an instruction. It returns an error if there have been too many or if the run has been canceled.
func (s *scope) step() error {
	in := s.in
	if in.steps++; in.steps > in.options.MaxSteps {
		return fail(yaql.Limit, "more than %d instructions", in.options.MaxSteps)
	}
	if in.steps&0xff == 0 {
		return cmp.Or(in.exceeded, in.run.Err())
	}
	return in.exceeded
}

func (s *scope) trace() []Frame {
	var frames []Frame
	for ; s != nil; s = s.caller {
		if s.method == nil {
			continue
		}
		f := Frame{Class: s.class.Name, Method: s.method.Name, Pos: s.method.Pos}
		if s.current != nil {
			f.Pos, f.Instruction = s.current.pos, s.current.source
		}
		frames = append([]Frame{f}, frames...)
	}
	return frames
}

func (s *scope) eval(x *yaql.Expression, pos Position) (any, error) {
	v, err := x.EvaluateIn(s.in.run, s.ctx)
	if err != nil {
		return nil, s.at(err, pos)
	}
	return v, nil
}

func (s *scope) test(condition *value) (bool, error) {
	v, err := condition.eval(s)
	if err != nil {
		return false, err
	}
	ok, err := yaql.Truth(v)
	if err != nil {
		return false, s.at(err, condition.pos)
	}
	return ok, nil
}

// objectScope returns the scope in which defaults and predicates of an object's properties are evaluated, as seen by
// class c.
func (in *Interpreter) objectScope(caller *scope, o *Object, c *Class) *scope {
	s := &scope{in: in, class: c, this: o.this(), caller: caller, initializing: caller != nil && caller.initializing}
	if caller != nil {
		s.depth = caller.depth
	}
	s.vars = yaql.New(in.workflows)
	s.ctx = s.vars
	s.vars.Set("$", s.this)
	s.vars.Set("this", s.this)
	s.vars.Set(scopeVariable, s)
	return s
}

// assignVariable sets a variable of the method, which all branches of Parallel share.
func (s *scope) assignVariable(name string, v any) error {
	before := s.in.held
	err := s.in.hold(s.vars.Get(name), v)
	*s.held += s.in.held - before
	s.vars.Set(name, v)
	return err
}

// invoke calls method m of object o with evaluated arguments.
func (in *Interpreter) invoke(caller *scope, m *Method, o *Object, args []any, named []argument) (any, error) {
	if o.inst.destroyed {
		return nil, fail(Destroyed, "object %s of class %s is destroyed", o.ID(), o.inst.class.Name)
	}
	if t := in.current; t != nil {
		return in.locked(t, o, m, func() (any, error) { return in.execute(caller, m, o, args, named) })
	}
	return in.execute(caller, m, o, args, named)
}

func (in *Interpreter) execute(caller *scope, m *Method, o *Object, args []any, named []argument) (any, error) {
	s := in.objectScope(caller, o, m.Class)
	s.method = m // .init and the methods it calls may write any property
	if s.depth++; s.depth > maxDepth {
		return nil, fail(yaql.Limit, "methods nested deeper than %d calls", maxDepth)
	}
	s.held = new(int64)
	defer func() { in.held -= *s.held }()
	values, err := m.bind(args, named)
	if err != nil {
		return nil, err
	}
	var owner *Object
	if m.Name == ".init" {
		owner = o.this()
	}
	for i, a := range m.Arguments {
		inner := in.objectScope(caller, o, m.Class)
		inner.depth = s.depth
		c := &contracting{
			spec: &a.spec, what: "argument " + a.Name, where: " of method " + m.Name + " of class " + m.Class.Name,
			scope: inner, owner: owner, calling: m.Class,
		}
		if caller != nil && caller.class != nil {
			c.calling = caller.class
		}
		if values[i], err = c.apply(values[i]); err != nil {
			return nil, err
		}
		if err := s.assignVariable(a.Name, values[i]); err != nil {
			return nil, err
		}
	}
	if m.native != nil {
		v, err := m.native(&Call{s, values})
		if err != nil {
			return nil, s.at(err, m.Pos)
		}
		return v, nil
	}
	body, err := m.body()
	if err != nil {
		return nil, s.at(err, m.Pos)
	}
	err = body.run(s)
	if j, ok := errors.AsType[*jump](err); ok {
		if j == errBreak || j == errContinue {
			return nil, s.at(fail(yaql.Syntax, "%s", err), m.Pos)
		}
		return j.value, nil
	}
	return nil, err
}

// bind returns the arguments in the order of the parameters of m, with absent for omitted ones.
func (m *Method) bind(args []any, named []argument) ([]any, error) {
	noMatch := func(format string, values ...any) error {
		return fail(yaql.NoMatch, "method "+m.Name+" of class "+m.Class.Name+" "+format, values...)
	}
	if len(args) > len(m.Arguments) {
		return nil, noMatch("takes %d arguments, not %d", len(m.Arguments), len(args))
	}
	values := make([]any, len(m.Arguments))
	for i := range values {
		values[i] = absent{}
	}
	copy(values, args)
	for _, n := range named {
		switch i := m.index(n.name); {
		case i < 0:
			return nil, noMatch("has no argument %s", n.name)
		case i < len(args):
			return nil, noMatch("is given argument %s twice", n.name)
		default:
			values[i] = n.value
		}
	}
	return values, nil
}

// index returns the index of the named parameter, or -1.
func (m *Method) index(name string) int {
	return slices.IndexFunc(m.Arguments, func(a *Argument) bool { return a.Name == name })
}

// function returns the method as a YAQL function, which is created on first use.
func (m *Method) function() *yaql.Function {
	if m.called == nil {
		m.called = yaql.Method(m.Name, "receiver any, *args stored, **named stored", func(call *yaql.Call) (any, error) {
			var named []argument
			for name, v := range call.Others {
				named = append(named, argument{name, v})
			}
			s := scopeOf(call)
			if s == nil {
				return nil, fail(yaql.Internal, "methods can be called in workflows only")
			}
			o, _ := call.Arg(0).(*Object)
			if o == nil {
				o = m.Class.static()
			}
			return m.Class.in.invoke(s, m, o, call.Rest(), named)
		})
	}
	return m.called
}

// Arg returns the ith argument, to which its contract has been applied.
func (c *Call) Arg(i int) any { return c.args[i] }

// This returns the receiver of the method.
func (c *Call) This() *Object { return c.this }

// Gone reports whether a method on the call stack belongs to an object that was removed from the model.
func (c *Call) Gone() bool {
	for s := c.scope; s != nil; s = s.caller {
		if s.this.isGone() {
			return true
		}
	}
	return false
}

// Pos returns the position of the instruction that contains the call.
func (c *Call) Pos() Position {
	for s := c.scope; s != nil; s = s.caller {
		if s.current != nil {
			return s.current.pos
		}
	}
	return Position{}
}
