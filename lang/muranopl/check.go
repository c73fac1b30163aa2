package muranopl

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/lumi-idl/lumi/lang/yaql"
)

// Check returns all problems in the named classes in source order, including errors in code that a run might not reach.
// It also reports referenced classes that fail to load.
func Check(r Resolver, names []string, known Known) []*Error {
	var all []*Error
	in := New(r, Options{MaxSteps: 10_000, Functions: known.Functions, Sleep: func(context.Context, time.Duration) error { return nil }})
	in.report = func(e *Error) { all = append(all, e) }
	k := checker{in: in, known: known, orphans: map[*Class]bool{}}
	var classes []*Class
	for _, name := range names {
		c, err := in.Class(name)
		if err != nil {
			in.report(asError(err, Position{}))
			continue
		}
		k.orphans[c] = len(c.Parents) < len(c.decl.Tree.Get("Extends").List())
		classes = append(classes, c)
	}
	for _, c := range classes {
		k.class = c
		k.names()
		k.check()
	}
	slices.SortStableFunc(all, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Column, b.Pos.Column), cmp.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(all, func(a, b *Error) bool { return a.Pos == b.Pos && a.Message == b.Message })
}

func (k *checker) fail(n *Node, format string, args ...any) {
	k.in.report(failAt(n.position(), Syntax, format, args...))
}

func (k *checker) check() {
	c, tree := k.class, k.class.decl.Tree
	k.keys(tree, "class "+c.Name, "Name", "Namespaces", "Extends", "Properties", "Methods", "Workflow", "Usage", "Meta", "Cardinality", "Applies", "Inherited", "Import")
	k.usage(tree, "class "+c.Name, "Meta")
	if m := tree.Get("Methods"); m != nil && m.Value != nil && tree.Get("Workflow") != nil {
		k.fail(tree.Get("Workflow"), "class %s has both Methods and Workflow: move all methods to one of them", c.Name)
	}
	k.parents()
	seen := map[string]bool{}
	once := func(what string, pos Position) {
		if seen[what] {
			k.in.report(failAt(pos, Syntax, "class %s declares the %s twice", c.Name, what))
		}
		seen[what] = true
	}
	for _, p := range c.Properties {
		once("property "+p.Name, p.Pos)
		k.keys(p.tree, "property "+p.Name, "Contract", "Usage", "Default", "Meta")
		k.usage(p.tree, "property "+p.Name, string(Config))
		k.spec(&p.spec, "property "+p.Name, " of class "+c.Name)
	}
	for _, m := range c.Methods {
		once("method "+m.Name, m.Pos)
		k.method(m)
	}
}

func (k *checker) keys(n *Node, what string, known ...string) {
	entries, _ := n.Value.([]Entry)
	for _, e := range entries {
		key, _ := e.Key.Text()
		switch {
		case slices.Contains(known, key) && slices.Contains(noEffect, key):
			k.warn(e.Key, "%s of %s has no effect", key, what)
		case !slices.Contains(known, key):
			k.fail(e.Key, "unknown key %s of %s%s", show(e.Key.value(nil)), what, hint(key, known))
		}
	}
}

// parents reports parents that are listed twice, and members that several parents define.
func (k *checker) parents() {
	c := k.class
	extends := c.decl.Tree.Get("Extends")
	for i, p := range c.Parents {
		if slices.Contains(c.Parents[:i], p) {
			k.fail(extends, "class %s extends %s twice", c.Name, p.Name)
		}
	}
	report := func(name string, find func(*Class) error) {
		err := find(c)
		if err != nil && !slices.ContainsFunc(c.Parents, func(p *Class) bool { return find(p) != nil }) {
			e := asError(err, extends.position())
			e.Message += ": define it in " + c.Name
			k.in.report(e)
		}
	}
	for _, d := range c.lineage[1:] {
		for _, p := range d.Properties {
			report(p.Name, func(c *Class) error { _, err := c.property(p.Name); return err })
		}
		for _, m := range d.Methods {
			if !strings.HasPrefix(m.Name, ".") { // methods such as .init are called for every parent
				report(m.Name, func(c *Class) error { _, err := c.method(m.Name); return err })
			}
		}
	}
}

func (k *checker) method(m *Method) {
	k.inMethod, k.variables = m, sources{}
	defer func() { k.inMethod, k.variables = nil, nil }()
	k.keys(m.tree, "method "+m.Name, "Arguments", "Body", "Usage", "Scope", "Meta")
	k.usage(m.tree, "method "+m.Name, "Action", "Extension")
	for i, a := range m.Arguments {
		if m.index(a.Name) < i {
			k.fail(a.tree, "method %s has two arguments named %s", m.Name, a.Name)
		}
		k.variables["$"+a.Name] = append(k.variables["$"+a.Name], "")
		k.keys(a.tree, "argument "+a.Name+" of method "+m.Name, "Contract", "Default", "Usage", "Meta")
		k.usage(a.tree, "argument "+a.Name+" of method "+m.Name, "VarArgs", "KwArgs")
		k.spec(&a.spec, "argument "+a.Name, " of method "+m.Name+" of class "+k.class.Name)
	}
	body := m.tree.Get("Body")
	k.variables.assignments(body)
	(&compiler{class: k.class, report: k.in.report}).block(body)
	k.body(body)
}

// body checks the names used in the body of a method.
func (k *checker) body(n *Node) {
	if n == nil {
		return
	}
	switch v := n.Value.(type) {
	case Expression:
		k.expression(n, false)
	case string:
		k.text(n, v)
	case []*Node:
		for _, item := range v {
			k.body(item)
		}
	case []Entry:
		for _, e := range v {
			k.body(e.Key)
			if key, _ := e.Key.Text(); key == "Throw" || key == "With" {
				k.exceptions(e.Value)
				continue
			}
			k.body(e.Value)
		}
	}
}

// exceptions checks the names of exceptions. They need not be classes.
func (k *checker) exceptions(n *Node) {
	for _, name := range n.List() {
		text, _ := name.Name()
		if !typeName.MatchString(text) {
			k.body(name)
		} else if _, err := k.class.spaces.resolve(text); err != nil {
			k.in.report(asError(err, name.Pos))
		}
	}
}

// text reports a string that is probably meant to be an expression.
func (k *checker) text(n *Node, text string) {
	if _, err := compile(text); n.Plain && err != nil && strings.HasPrefix(text, "$") {
		e := asError(err, n.Pos)
		e.Message = "invalid expression, read as a string: " + e.Message + "; quote it if a string is intended"
		k.in.report(e)
	}
}

// spec checks a contract and, if the default is constant, whether the default meets it.
func (k *checker) spec(s *spec, what, where string) {
	broken := false
	report := k.in.report
	defer func() { k.in.report = report }()
	k.in.report = func(e *Error) {
		broken = true
		report(e)
	}
	contract, preset := s.tree.Get("Contract"), s.tree.Get("Default")
	compileValue(contract, k.in.report)
	k.contract(contract, what)
	if text, ok := contract.Text(); ok && slices.Contains(k.contractNames(), text) {
		k.fail(contract, "the contract of %s is the constant '%s': did you mean $.%[2]s()?", what, text)
	}
	v := compileValue(preset, k.in.report)
	if preset == nil || broken {
		return
	}
	if !v.isConstant() {
		k.body(preset)
		return
	}
	host := k.in.host()
	host.class = k.class
	c := &contracting{spec: s, what: "the default of " + what, where: where, node: preset, scope: host, calling: k.class, constant: true}
	x, _ := v.eval(host)
	if _, err := c.apply(x); err != nil && asError(err, preset.Pos).Kind == Contract {
		report(asError(err, preset.Pos))
	}
}

func (k *checker) contractNames() []string {
	var names []string
	for _, f := range contractFunctions {
		names = append(names, f.Name)
	}
	return names
}

// contract checks the structure of a contract and the names in it.
func (k *checker) contract(n *Node, what string) {
	if n == nil {
		return
	}
	switch v := n.Value.(type) {
	case Expression:
		k.expression(n, true)
	case string:
		k.text(n, v)
	case []*Node:
		lengths := lengthsOf(v, func(n *Node) any { return n.Value })
		if len(v) == len(lengths) && len(v) > 0 {
			k.fail(n, "the contract of a list in %s has lengths but no contract of its items: write [$, %s]", what, show(v[0].Value))
		}
		if len(lengths) == 2 && lengths[0] > lengths[1] {
			k.fail(v[len(v)-2], "the minimum length of the list in %s is greater than its maximum", what)
		}
		for _, item := range v {
			k.contract(item, what)
		}
	case []Entry:
		open := 0
		for _, e := range v {
			if _, ok := e.Key.Value.(Expression); ok {
				if open++; open == 2 {
					k.fail(e.Key, "the contract of a dictionary in %s has more than one key that is an expression", what)
				}
			}
			k.contract(e.Key, what)
			k.contract(e.Value, what)
		}
	}
}

// expression checks the class names in an expression. In a contract, it also checks the functions.
func (k *checker) expression(n *Node, contract bool) {
	x, err := compile(string(n.Value.(Expression)))
	if err != nil {
		return // reported by compilation
	}
	x.Parts(func(p *yaql.Part) bool {
		switch {
		case p.Variable:
			if !contract {
				k.variable(n, p)
			}
			return false
		case p.Name == "#operator_:":
			k.className(n, p.Args[0]+":"+p.Args[1])
			return false
		case p.Name == "#unary_operator_:":
			k.className(n, ":"+p.Args[0])
			return false
		case contract && p.Method && (p.Name == "class" || p.Name == "template"):
			for _, a := range p.Args[:min(2, len(p.Args))] {
				k.className(n, a)
			}
		case !p.Method && p.Name == "new" && len(p.Args) > 0:
			k.className(n, p.Args[0])
		case contract && p.Method && !slices.ContainsFunc(k.in.contracts.Functions(), func(f *yaql.Function) bool { return f.Name == p.Name }):
			k.fail(n, "unknown function %s in a contract%s", p.Name,
				cmp.Or(hint(p.Name, k.contractNames()), ": it takes "+strings.Join(k.contractNames(), ", ")))
		}
		if !contract {
			k.member(n, p)
		}
		return !contract || !p.Method || p.Name != "check" // the predicate of check() may call any method
	})
}

// className reports an unknown class if source, the source of an argument, is a constant name.
func (k *checker) className(n *Node, source string) {
	name := strings.Trim(source, "'")
	if !typeName.MatchString(name) || slices.Contains([]string{"null", "true", "false"}, name) {
		return
	}
	full, err := k.class.spaces.resolve(name)
	if err == nil {
		_, err = k.in.Class(full)
	}
	if err != nil {
		k.in.report(asError(err, n.Pos))
	}
}
