package muranopl

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/lang/yaql"
)

func (c *compiler) fail(n *Node, format string, args ...any) {
	c.report(failAt(n.Pos, Syntax, format, args...))
}

func (c *compiler) value(n *Node) *value { return compileValue(n, c.report) }

// block compiles an instruction or a list of instructions.
func (c *compiler) block(n *Node) block {
	var b block
	for _, item := range n.List() {
		if i := c.instruction(item); i != nil {
			b = append(b, i)
		}
	}
	return b
}

func (c *compiler) instruction(n *Node) *instruction {
	switch v := n.Value.(type) {
	case Expression:
		x := c.value(n)
		return &instruction{line{n.Pos, v.line()}, func(s *scope) error { _, err := x.eval(s); return err }}
	case []Entry:
		assigns := slices.ContainsFunc(v, func(e Entry) bool { _, ok := e.Key.Value.(Expression); return ok })
		if !assigns {
			return c.construct(n, v)
		}
		if len(v) == 1 {
			return c.assignment(n, v[0])
		}
		c.fail(n, "an assignment must have one target")
		return nil
	}
	c.fail(n, "an instruction must be an expression, an assignment or a block construct, not %s", show(n.value(nil)))
	return nil
}

var simpleTarget = regexp.MustCompile(`^\$((?:this)?\.)?([a-zA-Z_]\w*)$`)

func (c *compiler) assignment(n *Node, e Entry) *instruction {
	source := e.Key.Value.(Expression).line()
	target, x := c.value(e.Key), c.value(e.Value)
	set := func(s *scope, v any) error { return s.assign(target, v) }
	// Fast path for the most common targets, which need no evaluation.
	if m := simpleTarget.FindStringSubmatch(source); len(m) == 3 && m[1] != "" {
		set = func(s *scope, v any) error { return s.this.set(s, m[2], v, nil, true) }
	} else if len(m) == 3 && m[2] != "this" {
		set = func(s *scope, v any) error { return s.assignVariable("$"+m[2], v) }
	}
	i := &instruction{line: line{n.Pos, source + ": " + x.String()}}
	i.run = func(s *scope) error {
		v, err := x.eval(s)
		if err != nil {
			return err
		}
		s.current = &i.line
		if err := set(s, v); err != nil {
			return s.at(err, target.pos)
		}
		return nil
	}
	return i
}

// construct is a block construct, such as If or For.
type construct struct {
	keys    []string // the first key is required and names the construct
	must    []string // other required keys
	compile func(c *compiler, n *Node) func(*scope) error
}

var constructs []construct

func init() {
	constructs = []construct{
		{[]string{"Return"}, nil, compileReturn},
		{[]string{"If", "Then", "Else"}, []string{"Then"}, compileIf},
		{[]string{"While", "Do"}, []string{"Do"}, compileWhile},
		{[]string{"For", "In", "Do"}, []string{"In", "Do"}, compileFor},
		{[]string{"Repeat", "Do"}, []string{"Do"}, compileRepeat},
		{[]string{"Break"}, nil, compileJump(errBreak)},
		{[]string{"Continue"}, nil, compileJump(errContinue)},
		{[]string{"Match", "Value", "Default"}, []string{"Value"}, compileMatch},
		{[]string{"Switch", "Default"}, nil, compileSwitch},
		{[]string{"Parallel", "Limit"}, nil, compileParallel},
		{[]string{"Try", "Catch", "Else", "Finally"}, nil, compileTry},
		{[]string{"Throw", "Message", "Extra", "Cause"}, nil, compileThrow},
		{[]string{"Rethrow"}, nil, compileRethrow},
		{[]string{"Do"}, nil, func(c *compiler, n *Node) func(*scope) error { return c.block(n.Get("Do")).run }},
	}
}

func (c *compiler) construct(n *Node, entries []Entry) *instruction {
	for _, k := range constructs {
		if n.Get(k.keys[0]) == nil {
			continue
		}
		c.keys(entries, k.keys[0], k.keys)
		for _, key := range k.must {
			if n.Get(key) == nil {
				c.fail(n, "%s without %s", k.keys[0], key)
			}
		}
		return &instruction{line{n.Pos, k.keys[0]}, k.compile(c, n)}
	}
	var keys, names []string
	for _, k := range constructs {
		names = append(names, k.keys[0])
	}
	near := ""
	for _, e := range entries {
		keys = append(keys, show(e.Key.value(nil)))
		text, _ := e.Key.Text()
		near = cmp.Or(near, hint(text, names))
	}
	c.fail(n, "unknown block construct with the keys %s%s", strings.Join(keys, ", "), near)
	return nil
}

func (c *compiler) keys(entries []Entry, what string, known []string) {
	for _, e := range entries {
		if key, _ := e.Key.Text(); !slices.Contains(known, key) {
			c.fail(e.Key, "unknown key %s of %s: it takes %s", show(e.Key.value(nil)), what, strings.Join(known, ", "))
		}
	}
}

func compileReturn(c *compiler, n *Node) func(*scope) error {
	x := c.value(n.Get("Return"))
	return func(s *scope) error {
		v, err := x.eval(s)
		if err != nil {
			return err
		}
		return &jump{"Return", v}
	}
}

func compileJump(jump error) func(*compiler, *Node) func(*scope) error {
	return func(c *compiler, n *Node) func(*scope) error {
		entry := n.Value.([]Entry)[0]
		if v := entry.Value.Value; v != nil && v != "" {
			c.fail(entry.Value, "%s takes no value", entry.Key.Value)
		}
		return func(*scope) error { return jump }
	}
}

func compileIf(c *compiler, n *Node) func(*scope) error {
	condition, then, otherwise := c.value(n.Get("If")), c.block(n.Get("Then")), c.block(n.Get("Else"))
	return func(s *scope) error {
		ok, err := s.test(condition)
		switch {
		case err != nil:
			return err
		case ok:
			return then.run(s)
		}
		return otherwise.run(s)
	}
}

func compileWhile(c *compiler, n *Node) func(*scope) error {
	condition, body := c.value(n.Get("While")), c.block(n.Get("Do"))
	return func(s *scope) error {
		for {
			ok, err := s.test(condition)
			if err != nil || !ok {
				return err
			}
			if stop, err := body.iterate(s); stop {
				return err
			}
		}
	}
}

// iterate runs the body of a loop once and reports whether the loop must end.
func (b block) iterate(s *scope) (bool, error) {
	if err := s.step(); err != nil {
		return true, err
	}
	err := b.run(s)
	switch {
	case err == nil || errors.Is(err, errContinue):
		return false, nil
	case errors.Is(err, errBreak):
		return true, nil
	}
	return true, err
}

func compileFor(c *compiler, n *Node) func(*scope) error {
	name := c.variable(n.Get("For"), "For")
	collection, body := c.value(n.Get("In")), c.block(n.Get("Do"))
	return func(s *scope) error {
		v, err := collection.eval(s)
		if err != nil {
			return err
		}
		items, err := itemsOf(v)
		if err != nil {
			return s.at(err, collection.pos)
		}
		defer func() { s.in.held -= yaql.SizeOf(v) }()
		if err := s.in.hold(nil, v); err != nil {
			return s.at(err, collection.pos)
		}
		for _, item := range items {
			s.ctx.Set(name, item)
			if stop, err := body.iterate(s); stop {
				return err
			}
		}
		return nil
	}
}

// variable returns the name of a variable. Names with a question mark are reported, so they cannot clash with
// scopeVariable.
func (c *compiler) variable(n *Node, key string) string {
	name, ok := n.Text()
	if !ok || strings.Contains(name, "?") {
		c.fail(n, "%s must be the name of a variable", key)
	}
	return name
}

// itemsOf returns the items for a For loop: the items of a list or a set, the keys of a dictionary, or the characters
// of a string.
func itemsOf(v any) ([]any, error) {
	switch v := v.(type) {
	case *yaql.List:
		return v.Items(), nil
	case *yaql.Set:
		return v.Items(), nil
	case *yaql.Dict:
		return v.Keys(), nil
	case string:
		var items []any
		for _, r := range v {
			items = append(items, string(r))
		}
		return items, nil
	}
	return nil, fail(yaql.TypeError, "%s is not a collection", show(v))
}

func compileRepeat(c *compiler, n *Node) func(*scope) error {
	count, body := c.value(n.Get("Repeat")), c.block(n.Get("Do"))
	_, isBool := count.constant.(bool)
	if _, ok := count.constant.(int64); !ok && !isBool && count.kind != isExpression {
		c.fail(n.Get("Repeat"), "Repeat must be an integer or an expression")
	}
	return func(s *scope) error {
		v, err := count.eval(s)
		if err != nil {
			return err
		}
		if _, isBool := v.(bool); isBool {
			v, _ = integer(v)
		}
		times, ok := v.(int64)
		if !ok {
			return s.at(fail(yaql.TypeError, "Repeat must be an integer, got %s", show(v)), count.pos)
		}
		for range times {
			if stop, err := body.iterate(s); stop {
				return err
			}
		}
		return nil
	}
}

type branch struct {
	condition *value
	body      block
}

func (c *compiler) branches(n *Node, what string) []branch {
	entries, ok := n.Value.([]Entry)
	if !ok {
		c.fail(n, "%s must be a dictionary", what)
	}
	var all []branch
	for _, e := range entries {
		all = append(all, branch{c.value(e.Key), c.block(e.Value)})
	}
	return all
}

func compileMatch(c *compiler, n *Node) func(*scope) error {
	cases, x, preset := c.branches(n.Get("Match"), "Match"), c.value(n.Get("Value")), c.block(n.Get("Default"))
	return func(s *scope) error {
		v, err := x.eval(s)
		if err != nil {
			return err
		}
		if err := yaql.Known(v); err != nil {
			return s.at(err, x.pos)
		}
		for _, one := range cases {
			if one.condition.kind == isConstant && yaql.Equal(one.condition.constant, v) {
				return one.body.run(s)
			}
		}
		return preset.run(s)
	}
}

func compileSwitch(c *compiler, n *Node) func(*scope) error {
	cases, preset := c.branches(n.Get("Switch"), "Switch"), c.block(n.Get("Default"))
	return func(s *scope) error {
		matched := false
		for _, one := range cases {
			ok, err := s.test(one.condition)
			if err != nil {
				return err
			}
			if ok {
				matched = true
				if err := one.body.run(s); err != nil {
					return err
				}
			}
		}
		if matched {
			return nil
		}
		return preset.run(s)
	}
}
