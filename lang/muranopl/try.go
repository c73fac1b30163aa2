package muranopl

import (
	"errors"
	"slices"

	"github.com/lumi-idl/lumi/lang/yaql"
)

const exceptionClass = "io.murano.Exception"

type handler struct {
	all   bool
	names []string
	as    string
	body  block
}

func compileTry(c *compiler, n *Node) func(*scope) error {
	body, otherwise, finally := c.block(n.Get("Try")), c.block(n.Get("Else")), c.block(n.Get("Finally"))
	handlers := []handler{}
	for _, h := range n.Get("Catch").List() {
		one := handler{all: h.Get("With") == nil || h.Get("With").Value == nil, body: c.block(h.Get("Do"))}
		entries, ok := h.Value.([]Entry)
		if !ok {
			c.fail(h, "Catch must have With, As and Do")
		}
		c.keys(entries, "Catch", []string{"With", "As", "Do"})
		if as := h.Get("As"); as != nil && as.Value != nil {
			one.as = c.variable(as, "As")
		}
		for _, name := range h.Get("With").List() {
			one.names = append(one.names, c.name(name))
		}
		handlers = append(handlers, one)
	}
	return func(s *scope) (err error) {
		defer func() {
			if failed := finally.run(s); failed != nil {
				err = failed
			}
		}()
		err = body.run(s)
		switch e := (*Error)(nil); {
		case err == nil:
			return otherwise.run(s)
		case errors.As(err, &e) && e.Kind != yaql.Canceled && e.Kind != yaql.Limit:
			return s.handle(handlers, e)
		}
		return err
	}
}

// name returns the full name of an exception. It reports an invalid name.
func (c *compiler) name(n *Node) string {
	name, _ := n.Name()
	full, err := c.class.spaces.resolve(name)
	if err != nil {
		c.report(asError(err, n.Pos))
	}
	return full
}

// handle runs the first handler that matches an exception. It returns the exception if none does.
func (s *scope) handle(handlers []handler, e *Error) error {
	outer := s.exception
	defer func() { s.exception = outer }()
	s.exception = e
	for _, h := range handlers {
		for _, name := range e.Names {
			if !h.all && !slices.Contains(h.names, name) {
				continue
			}
			if h.as != "" {
				o, err := s.in.exception(s, e, name)
				if err != nil {
					return err
				}
				s.ctx.Set(h.as, o)
			}
			return h.body.run(s)
		}
	}
	return e
}

// exception returns an object that represents an exception caught under the given name.
func (in *Interpreter) exception(s *scope, e *Error, name string) (*Object, error) {
	class, err := in.Class(exceptionClass)
	if err != nil {
		return nil, err
	}
	o := newObject(class, nil, in.newID(nil, ""))
	o.inst.initialized = true
	o.SetData(e)
	extra := e.Extra
	if extra == nil {
		extra = yaql.NewDict()
	}
	message := any(e.Message)
	if e.Kind == Thrown {
		message = e.thrown
	}
	for key, v := range map[string]any{"name": name, "message": message, "extra": extra, "stackTrace": e.StackTrace()} {
		o.inst.properties[key] = v
	}
	return o, nil
}

func compileThrow(c *compiler, n *Node) func(*scope) error {
	var names []*value
	for _, name := range n.Get("Throw").List() {
		if text, _ := name.Name(); typeName.MatchString(text) { // prefix:Name is not a class name here
			name = &Node{Pos: name.Pos, Value: text}
		}
		names = append(names, c.value(name))
	}
	if len(names) == 0 {
		c.fail(n, "Throw needs the name of an exception")
	}
	message, extra, cause := c.value(n.Get("Message")), c.value(n.Get("Extra")), c.value(n.Get("Cause"))
	return func(s *scope) error {
		e, here := &Error{Kind: Thrown, Pos: n.Pos}, s.current
		for _, one := range names {
			v, err := one.eval(s)
			if err != nil {
				return err
			}
			name, ok := v.(string)
			if !ok {
				return s.at(fail(yaql.TypeError, "the name of an exception must be a string, not %s", show(v)), one.pos)
			}
			full, err := s.class.spaces.resolve(name)
			if err != nil {
				return s.at(err, one.pos)
			}
			e.Names = append(e.Names, full)
		}
		var err error
		if e.thrown, err = message.eval(s); err != nil {
			return err
		}
		switch text := e.thrown.(type) {
		case string:
			e.Message = text
		case nil:
			e.Message = "thrown without a message"
		default:
			e.Message = show(e.thrown)
		}
		if e.Extra, err = extra.eval(s); err != nil {
			return err
		}
		v, err := cause.eval(s)
		if err != nil {
			return err
		}
		if o, ok := v.(*Object); ok {
			e.Cause, _ = o.Data().(*Error)
		}
		s.current = here
		return s.at(e, n.Pos)
	}
}

func compileRethrow(*compiler, *Node) func(*scope) error {
	return func(s *scope) error {
		if s.exception == nil {
			return fail(yaql.TypeError, "Rethrow outside of Catch")
		}
		return s.exception
	}
}
