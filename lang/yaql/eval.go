package yaql

import (
	"context"
	"strings"
	"unicode/utf8"
)

// Expression is a compiled expression. It is safe for concurrent use.
type Expression struct {
	source string
	root   node
	opts   Options
}

// Compile parses an expression. Any error is of type [*Error].
func Compile(source string, options ...Option) (*Expression, error) {
	x := &Expression{source: source, opts: DefaultOptions()}
	for _, o := range options {
		o(&x.opts)
	}
	x.opts.finite()
	if !utf8.ValidString(source) {
		valid := strings.ToValidUTF8(source, "\uFFFD")
		return nil, at(Errorf(Syntax, "invalid UTF-8"), valid, strings.IndexRune(valid, '\uFFFD'))
	}
	var err error
	x.root, err = parse(source, &x.opts)
	if err != nil {
		return nil, err
	}
	return x, nil
}

// String returns the expression in a normalized form, which compiles to an equivalent expression.
func (x *Expression) String() string { return x.root.String() }

// Part is a variable in an expression, or a call of a function, method, or operator such as #operator_+.
type Part struct {
	// Name is the name of the function or variable. The name of a variable includes the dollar sign.
	Name             string
	Variable, Method bool
	// Receiver is the source text of a method's receiver. Args lists the source text of the arguments.
	Receiver string
	Args     []string
	// Around is the call that has this part as an argument, or nil.
	Around *Part

	source string
	offset int
}

// Errorf returns an error at the position of the part.
func (p *Part) Errorf(kind Kind, format string, args ...any) error {
	return at(Errorf(kind, format, args...), p.source, p.offset)
}

// Parts calls visit for each part of the expression, outermost first. It descends into the arguments of a part only if
// visit returns true.
func (x *Expression) Parts(visit func(*Part) bool) {
	var walk func(n node, around *Part, receiver node)
	walk = func(n node, around *Part, receiver node) {
		p := &Part{Around: around, source: x.source, offset: n.offset()}
		switch n := n.(type) {
		case *variable:
			p.Name, p.Variable = n.name, true
			visit(p)
		case *paren:
			walk(n.x, around, nil)
		case *mapping:
			walk(n.key, around, nil)
			walk(n.value, around, nil)
		case *invocation:
			p.Name, p.Method = n.name, receiver != nil
			if p.Method {
				p.Receiver = receiver.String()
			}
			for _, a := range n.args {
				p.Args = append(p.Args, a.String())
			}
			if !visit(p) {
				return
			}
			for i, a := range n.args {
				if i == 1 && (n.op == "." || n.op == "?.") {
					walk(a, p, n.args[0])
				} else {
					walk(a, p, nil)
				}
			}
		}
	}
	walk(x.root, nil, nil)
}

// EvaluateIn evaluates the expression in a context whose variable $ is the data. Any error is of type [*Error]; a panic
// in a function is returned as an error of kind [Internal].
func (x *Expression) EvaluateIn(ctx context.Context, in *Context) (v any, err error) {
	defer func() {
		if p := recover(); p != nil {
			v, err = nil, at(Errorf(Internal, "panic: %v", p), x.source, x.root.offset())
		}
	}()
	ev := &evaluation{ctx: ctx, opts: &x.opts, source: x.source}
	v, err = ev.evaluate(x.root, in)
	if err != nil {
		return nil, at(err, x.source, x.root.offset())
	}
	return v, nil
}

func (ev *evaluation) evaluate(root node, in *Context) (any, error) {
	if err := ev.ctx.Err(); err != nil {
		return nil, err
	}
	sc := New(in)
	sc.measure = measure{} // variables of the host do not count
	v, err := ev.eval(root, none, sc)
	if err != nil {
		return nil, err
	}
	if fns := in.scope.lookup("#finalize"); fns.plain.levels != nil {
		return ev.invoke(fns, false, []any{v}, nil, in)
	}
	if ev.opts.ConvertOutputData {
		return ev.output(v)
	}
	return v, nil
}

const (
	holdFrom   = 1 << 16
	holdFactor = 4
	maxNesting = 10_000 // of values
	maxLazy    = 1_000  // of iterators; reading a nested one recurses
)

// tick returns an error if the evaluation has been canceled, which it checks on every 16th call. It must be called in
// every loop.
func (ev *evaluation) tick() error {
	if ev.ticks++; ev.ticks&0xf == 0 {
		return ev.ctx.Err()
	}
	return nil
}

// hold adds the size of a large argument of a pending call to the memory in use. It returns the amount to release after
// the call.
func (ev *evaluation) hold(v any) (int64, error) {
	size := sizeOf(v)
	if size <= holdFrom {
		return 0, nil
	}
	if ev.live+size > holdFactor*ev.opts.MemoryQuota {
		return 0, ev.overQuota()
	}
	ev.live += size
	return size, nil
}

func (ev *evaluation) release(size int64) { ev.live -= size }

func (ev *evaluation) overQuota() error {
	return Errorf(Limit, "memory quota of %d bytes exceeded", ev.opts.MemoryQuota)
}

func (ev *evaluation) reserve(size int64) error {
	if size > ev.opts.MemoryQuota {
		return ev.overQuota()
	}
	return nil
}

// check returns an error if a result is too large or nested too deep.
func (ev *evaluation) check(v any) error {
	m := measureOf(v)
	if m.depth > maxNesting {
		return tooDeep()
	}
	return ev.reserve(m.size)
}

func (ev *evaluation) enter() error {
	if ev.depth++; ev.depth > ev.opts.Depth {
		ev.depth--
		return Errorf(Limit, "calls nested deeper than %d levels", ev.opts.Depth)
	}
	return ev.tick()
}

// eval evaluates n in sc. receiver is none unless n is the call of a method.
func (ev *evaluation) eval(n node, receiver any, sc *Context) (any, error) {
	switch n := n.(type) {
	case *constant:
		return n.value, nil
	case *variable:
		if sc.scope.plainVariables() {
			v, _ := sc.lookup(n.name)
			return v, nil
		}
		name := &constant{position: n.position, value: n.text}
		v, err := ev.invoke(sc.scope.lookup(opVariable), false, []any{name}, nil, sc)
		if err != nil {
			return nil, at(err, ev.source, int(n.position))
		}
		return v, nil
	case *paren:
		return ev.eval(n.x, none, sc)
	case *mapping:
		key, err := ev.eval(n.key, none, sc)
		if err != nil {
			return nil, err
		}
		value, err := ev.eval(n.value, none, sc)
		return &Pair{Key: key, Value: value}, err
	case *invocation:
		if err := ev.enter(); err != nil {
			return nil, at(err, ev.source, int(n.position))
		}
		v, err := ev.evalInvocation(n, receiver, sc)
		ev.depth--
		if err != nil {
			return nil, at(err, ev.source, int(n.position))
		}
		return v, nil
	}
	return nil, Errorf(Argument, "missing argument")
}

// member evaluates $variable.name and $variable.name(…) if the value of the variable is a [Receiver]. Otherwise, it
// returns false.
func (ev *evaluation) member(n *invocation, sc *Context) (any, bool, error) {
	v, ok := n.args[0].(*variable)
	if !ok || !sc.scope.plainVariables() {
		return nil, false, nil
	}
	value, _ := sc.lookup(v.name)
	receiver, ok := value.(Receiver)
	if !ok {
		return nil, false, nil
	}
	switch part := n.args[1].(type) {
	case *constant:
		if name, ok := part.value.(string); ok && part.keyword {
			v, err := receiver.YAQLProperty(name, sc)
			return v, true, err
		}
	case *invocation:
		if part.form == formFunction {
			v, err := ev.eval(part, receiver, sc)
			return v, true, err
		}
	}
	return nil, false, nil
}

func (ev *evaluation) evalInvocation(n *invocation, receiver any, sc *Context) (any, error) {
	if n.name == "#operator_." && n.form == formBinary {
		if v, ok, err := ev.member(n, sc); ok {
			return v, err
		}
	}
	method := receiver != none
	fns := own(receiver, n.name)
	var bound [][]*binding
	if fns == nil {
		st := ev.siteFor(n, sc.scope, method)
		if st.binary != nil {
			return ev.binary(n, st, sc)
		}
		fns, bound = st.fns, st.bound
	}
	noKeywords := fns.family(method).noKeywords
	args, keywords := n.arguments(receiver, noKeywords)
	if n.badMapping && !noKeywords && fns.family(method).levels != nil {
		return nil, Errorf(Argument, "the key of a keyword argument must be a name")
	}
	if err := ev.callable(fns, method, args, keywords, sc); err != nil {
		return nil, err
	}
	if bound == nil {
		bound = bindAll(fns.family(method).levels, args, keywords, ev.opts)
	}
	return ev.call(fns, method, bound, args, keywords, sc)
}

func (ev *evaluation) binary(n *invocation, st *site, sc *Context) (any, error) {
	a, err := ev.eval(n.args[0], none, sc)
	if err != nil {
		return nil, err
	}
	held, err := ev.hold(a)
	if err != nil {
		return nil, err
	}
	if held > 0 {
		defer ev.release(held)
	}
	b, err := ev.eval(n.args[1], none, sc)
	if err != nil {
		return nil, err
	}
	if v, ok, err := st.binary(ev, a, b); ok || err != nil {
		return v, err
	}
	return ev.invoke(st.fns, false, []any{a, b}, nil, sc)
}
