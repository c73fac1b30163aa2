package yaql

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/internal/suggest"
)

const sourceDefault = -1

func sourceKeyword(k int) int { return -2 - k }

// bind maps arguments, which may be unevaluated expressions, to the parameters of f. It returns nil if they do not
// match. The types of keyword arguments are checked only after evaluation.
func bind(f *Function, args []any, keywords []named, opts *Options) *binding {
	b := &binding{fn: f, source: make([]int, f.fixed())}
	used := make([]bool, len(keywords))
	total := len(args) + len(keywords)
	for i := range b.source {
		p := f.param(i)
		k := findNamed(keywords, p.Name)
		given := i < len(f.Params) && i < len(args)
		if given {
			_, left := args[i].(*missing)
			given = !left
			if left && k >= 0 {
				return nil
			}
		}
		switch {
		case given && k >= 0:
			return nil
		case given:
			b.source[i] = i
		case k >= 0:
			b.source[i] = sourceKeyword(k)
			used[k] = true
			b.setLazy(p, len(args)+k, total)
		case !p.optional:
			return nil
		default:
			b.source[i] = sourceDefault
		}
	}
	for i, a := range args {
		p := b.positional(i)
		if p == nil {
			return nil
		}
		if _, left := a.(*missing); left {
			if i >= len(f.Params) {
				return nil
			}
			continue
		}
		if !p.accepts(a, opts) {
			return nil
		}
		b.setLazy(p, i, total)
	}
	for k := range keywords {
		if !used[k] {
			if f.Others == nil || !f.Others.accepts(keywords[k].value, opts) {
				return nil
			}
			b.others = append(b.others, k)
			b.setLazy(f.Others, len(args)+k, total)
		}
	}
	return b
}

func (b *binding) setLazy(p *Param, i, total int) {
	if p.typ.lazy() {
		if b.lazy == nil {
			b.lazy = make([]bool, total)
		}
		b.lazy[i] = true
	}
}

// positional returns the parameter for the ith positional argument, or nil if there is none.
func (b *binding) positional(i int) *Param {
	if i < len(b.fn.Params) {
		return &b.fn.Params[i]
	}
	return b.fn.Rest
}

// keyword returns the parameter for the kth keyword argument, or nil if there is none.
func (b *binding) keyword(k int) *Param {
	for i, s := range b.source {
		if s == sourceKeyword(k) {
			return b.fn.param(i)
		}
	}
	return b.fn.Others
}

// fits reports whether all evaluated arguments match the types of their parameters.
func (b *binding) fits(args []any, keywords []named, opts *Options) bool {
	for i, a := range args {
		if _, left := a.(*missing); !left && !b.positional(i).accepts(a, opts) {
			return false
		}
	}
	for k := range keywords {
		if !b.keyword(k).accepts(keywords[k].value, opts) {
			return false
		}
	}
	return true
}

// specializes reports whether at least one parameter of b is narrower than its counterpart in c and none is wider.
func (b *binding) specializes(c *binding, args, keywords int) bool {
	narrower := false
	for i := range args + keywords {
		var p, q *Param
		if i < args {
			p, q = b.positional(i), c.positional(i)
		} else {
			p, q = b.keyword(i-args), c.keyword(i-args)
		}
		if q.typ.specializes(p.typ) {
			return false
		}
		narrower = narrower || p.typ.specializes(q.typ)
	}
	return narrower
}

// placeholder stands in for the receiver of a method until it is evaluated.
var placeholder any = &paren{x: &constant{}}

// siteFor returns the site of n in s. It caches the site in n unless the scope contains functions that are defined by
// the expression.
func (ev *evaluation) siteFor(n *invocation, s *scope, method bool) *site {
	known := n.site.Load()
	if known != nil && known.scope == s && known.method == method && known.opts == ev.opts {
		return known
	}
	fns := s.lookup(n.name)
	if known != nil && known.fns == fns && known.method == method && known.opts == ev.opts {
		return known
	}
	st := &site{opts: ev.opts, method: method, fns: fns}
	if !s.dynamic { // a cached dynamic scope would keep all data of the evaluation alive
		st.scope = s
	}
	receiver := none
	if method {
		receiver = placeholder
	}
	family := fns.family(method)
	args, keywords := n.arguments(receiver, family.noKeywords)
	st.bound = bindAll(family.levels, args, keywords, ev.opts)
	if len(st.bound) > 0 && len(n.args) == 2 && n.plain && !method {
		st.binary = fns.binary
	}
	if !fns.dynamic {
		n.site.Store(st)
	}
	return st
}

func bindAll(levels [][]*Function, args []any, keywords []named, opts *Options) [][]*binding {
	var bound [][]*binding
	for _, level := range levels {
		var fit []*binding
		for _, f := range level {
			if b := bind(f, args, keywords, opts); b != nil {
				fit = append(fit, b)
			}
		}
		if fit != nil {
			bound = append(bound, fit)
		}
	}
	return bound
}

// call calls the best overload in bound. It first evaluates unevaluated arguments in sc, except arguments for lazy
// parameters. The receiver of a method is the first argument. call takes ownership of args and keywords.
func (ev *evaluation) call(fns *overloads, method bool, bound [][]*binding, args []any, keywords []named, sc *Context) (any, error) {
	var lazy []bool
	candidates := 0
	for _, level := range bound {
		for _, b := range level {
			if method && !b.positional(0).accepts(args[0], ev.opts) {
				continue
			}
			if candidates > 0 && !slices.Equal(b.lazy, lazy) {
				return nil, ev.ambiguous(fns, method, args, keywords)
			}
			lazy = b.lazy
			candidates++
		}
	}
	if candidates == 0 {
		return nil, ev.noMatch(fns, method, args, keywords)
	}
	held := int64(0)
	defer func() { ev.release(held) }()
	for i := range len(args) + len(keywords) {
		var arg *any
		if i < len(args) {
			arg = &args[i]
		} else {
			arg = &keywords[i-len(args)].value
		}
		n, ok := (*arg).(node)
		if !ok || len(lazy) > 0 && lazy[i] {
			continue
		}
		switch n.(type) {
		case *constant, *missing:
			continue
		}
		v, err := ev.eval(n, none, sc)
		if err != nil {
			return nil, err
		}
		size, err := ev.hold(v)
		if err != nil {
			return nil, err
		}
		held += size
		*arg = v
	}
	for _, level := range bound {
		var winner *binding
		for _, b := range level {
			if !b.fits(args, keywords, ev.opts) {
				continue
			}
			if winner != nil {
				if winner.specializes(b, len(args), len(keywords)) {
					continue
				}
				if !b.specializes(winner, len(args), len(keywords)) {
					return nil, ev.ambiguous(fns, method, args, keywords)
				}
			}
			winner = b
		}
		if winner != nil {
			return ev.apply(winner, args, keywords, sc)
		}
	}
	return nil, ev.noMatch(fns, method, args, keywords)
}

func (ev *evaluation) apply(b *binding, args []any, keywords []named, sc *Context) (any, error) {
	f := b.fn
	c := &Call{ev: ev, fn: f, outer: sc}
	if len(b.source) <= len(c.buffer) {
		c.args = c.buffer[:len(b.source)]
	} else {
		c.args = make([]any, len(b.source))
	}
	for i, s := range b.source {
		p := f.param(i)
		v := p.value
		switch {
		case s >= 0:
			v = args[s]
		case s < sourceDefault:
			v = keywords[-2-s].value
		}
		var err error
		if c.args[i], err = c.convert(p, v); err != nil {
			return nil, err
		}
	}
	if len(args) > len(f.Params) {
		c.rest = make([]any, 0, len(args)-len(f.Params))
		for _, a := range args[len(f.Params):] {
			v, err := c.convert(f.Rest, a)
			if err != nil {
				return nil, err
			}
			c.rest = append(c.rest, v)
		}
	}
	for _, k := range b.others {
		v, err := c.convert(f.Others, keywords[k].value)
		if err != nil {
			return nil, err
		}
		c.others = append(c.others, named{keywords[k].name, v})
	}
	v, err := f.call(c)
	if err != nil {
		return nil, err
	}
	switch v.(type) {
	case *Iterator, *ordered:
		kept := v.(interface{ measured() *measure }).measured()
		if kept.size == 0 {
			sc = sc.holder()
			*kept = sc.measure
			for _, a := range args {
				it, ok := a.(*Iterator)
				if ok && sc.holds(it) {
					continue
				}
				kept.add(a)
				if ok && it.scope == sc {
					kept.size -= sc.size
				}
			}
			if it, ok := v.(*Iterator); ok {
				it.scope = sc
			}
			if kept.depth > maxLazy {
				return nil, Errorf(Limit, "iterator nested deeper than %d levels", maxLazy)
			}
			kept.opaque = nil // may be incomplete
		}
	}
	return v, ev.check(v)
}

// invoke calls a function. For a method, the first argument is the receiver.
func (ev *evaluation) invoke(fns *overloads, method bool, args []any, keywords []named, sc *Context) (any, error) {
	family := fns.family(method)
	if family.noKeywords && len(keywords) > 0 {
		return nil, Errorf(Argument, "%s takes no keyword arguments", fns.name)
	}
	if err := ev.callable(fns, method, args, keywords, sc); err != nil {
		return nil, err
	}
	return ev.call(fns, method, bindAll(family.levels, args, keywords, ev.opts), args, keywords, sc)
}

// callable returns an error if no overload can be called with these arguments, whatever their types.
func (ev *evaluation) callable(fns *overloads, method bool, args []any, keywords []named, sc *Context) error {
	switch family := fns.family(method); {
	case family.levels == nil:
		return ev.unknown(fns.name, sc.scope, method, args)
	case family.mixed:
		return ev.ambiguous(fns, method, args, keywords)
	}
	return nil
}

func describeFunction(name string, method bool, args []any) string {
	s := "function " + name
	if method {
		s = "method " + name
	}
	for _, prefix := range []string{"#operator_", "#unary_operator_"} {
		if op, ok := strings.CutPrefix(name, prefix); ok {
			s = "operator " + op
		}
	}
	s = cmp.Or(map[string]string{
		"*equal": "operator =", "*not_equal": "operator !=", "#indexer": "operator []",
		"#list": "list [...]", "#map": "dictionary {...}", "#call": "function call",
	}[name], s)
	if method && len(args) > 0 {
		s += " of " + typeName(args[0])
	}
	return s
}

func (ev *evaluation) unknown(name string, s *scope, method bool, args []any) error {
	if property, ok := strings.CutPrefix(name, "#property#"); ok && property != "" {
		return Errorf(UnknownFunction, "%s has no property %q", typeName(args[0]), property)
	}
	msg := "unknown " + describeFunction(name, method, args)
	if near := suggest.To(name, math.MaxInt, s.names(method)); near != "" {
		msg += " (did you mean " + near + "?)"
	}
	return Errorf(UnknownFunction, "%s", msg)
}

func (ev *evaluation) noMatch(fns *overloads, method bool, args []any, keywords []named) error {
	values := slices.Clone(args)
	for _, k := range keywords {
		values = append(values, k.value)
	}
	if err := opaque(values...); err != nil {
		return err
	}
	function := describeFunction(fns.name, method, args)
	return Errorf(NoMatch, "no overload of %s accepts (%s)", function, describeArgs(method, args, keywords))
}

func (ev *evaluation) ambiguous(fns *overloads, method bool, args []any, keywords []named) error {
	function := describeFunction(fns.name, method, args)
	return Errorf(Ambiguous, "several overloads of %s accept (%s)", function, describeArgs(method, args, keywords))
}

// describeArgs returns a list of the types of the arguments, without the receiver of a method.
func describeArgs(method bool, args []any, keywords []named) string {
	if method && len(args) > 0 {
		args = args[1:]
	}
	var parts []string
	for _, a := range args {
		parts = append(parts, describeArg(a))
	}
	for _, k := range keywords {
		parts = append(parts, k.name+" => "+describeArg(k.value))
	}
	if len(parts) > 10 {
		parts = append(parts[:10], "...")
	}
	return strings.Join(parts, ", ")
}

func describeArg(a any) string {
	switch n := a.(type) {
	case *constant:
		return typeName(n.value)
	case *mapping, *Pair:
		return "key => value"
	case *missing:
		return "nothing"
	case node:
		return "an expression"
	}
	return typeName(a)
}
