package muranopl

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/lang/yaql"
)

const resourceClass = coreSpace + ".Resource"

var (
	plainName    = regexp.MustCompile(`^[a-zA-Z_]\w*$`)
	localName    = regexp.MustCompile(`^\$[a-zA-Z_]\w*$`)
	assignedName = regexp.MustCompile(`^(?:\$\.)?\$?[a-zA-Z_]\w*`)
	newCall      = regexp.MustCompile(`^new\('?([\w.:]+)'?[,)]`)
	classCall    = regexp.MustCompile(`^\$\.class\('?([\w.:]+)'?[,)]`)
	typeOption   = regexp.MustCompile(`\btype => '([^']*)'`)
	modelType    = regexp.MustCompile(`'\?' => \{(?:[^{}]*, )?type => '?([\w.:]+)'?`)
	keyword      = regexp.MustCompile(`^([a-zA-Z]\w*) => `)
)

// source returns the normal form of an expression, with $this as $. It returns "" for other values and nil.
func source(n *Node) string {
	if n == nil {
		return ""
	}
	x, _ := n.Value.(Expression)
	compiled, err := compile(string(x))
	if err != nil {
		return ""
	}
	return self(compiled.String())
}

func self(source string) string {
	if source == "$this" {
		return "$"
	}
	if rest, ok := strings.CutPrefix(source, "$this."); ok {
		return "$." + rest
	}
	return source
}

// assignments records the assignments in a block.
func (s sources) assignments(n *Node) {
	for _, item := range n.List() {
		for _, e := range item.Entries() {
			key, _ := e.Key.Name()
			if _, ok := e.Key.Value.(Expression); ok && len(item.Entries()) == 1 {
				s.assigned(source(e.Key), e.Value)
				continue
			}
			switch key {
			case "For", "As":
				name, _ := e.Value.Text()
				s["$"+name] = append(s["$"+name], "")
			case "Match", "Switch":
				for _, one := range e.Value.Entries() {
					s.assignments(one.Value)
				}
			case "Then", "Else", "Do", "Default", "Parallel", "Try", "Catch", "Finally":
				s.assignments(e.Value)
			}
		}
	}
}

func (s sources) assigned(target string, value *Node) {
	name := assignedName.FindString(target)
	from := ""
	if name == target {
		from = source(value)
	}
	s[name] = append(s[name], from)
}

// names prepares the checker for the methods of a class.
func (k *checker) names() {
	k.properties, k.variables = sources{}, nil
	for _, m := range k.class.Methods {
		k.properties.assignments(m.tree.Get("Body"))
	}
	if k.functions != nil {
		return
	}
	k.functions, k.lambdas = map[string]bool{}, map[string]bool{}
	for _, f := range k.in.workflows.Functions() {
		k.functions[f.Name] = k.functions[f.Name] || f.Plain
		k.lambdas[f.Name] = k.lambdas[f.Name] || f.Lazy() && (!strings.HasPrefix(f.Name, "#operator_") || f.Name == "#operator_->")
	}
}

// variable reports a variable that is never assigned.
func (k *checker) variable(n *Node, p *yaql.Part) {
	if !localName.MatchString(p.Name) || p.Name == "$this" || k.variables[p.Name] != nil || within(p, "#operator_->") {
		return
	}
	k.wrong(n, p, Uninitialized, "variable %s is never assigned%s", p.Name, hint(p.Name, slices.Sorted(maps.Keys(k.variables))))
}

// within reports whether a part is in an argument of the named function.
func within(p *yaql.Part, name string) bool {
	for p = p.Around; p != nil; p = p.Around {
		if p.Name == name {
			return true
		}
	}
	return false
}

func (k *checker) wrong(n *Node, p *yaql.Part, kind yaql.Kind, format string, args ...any) {
	k.in.report(asError(p.Errorf(kind, format, args...), n.Pos))
}

// member reports an unknown method, property, or function.
func (k *checker) member(n *Node, p *yaql.Part) {
	inner := false // $ may have another value.
	for around := p.Around; around != nil; around = around.Around {
		inner = inner || k.lambdas[around.Name]
	}
	switch {
	case p.Method:
		k.methodOf(n, p, inner)
	case p.Name == "#operator_." && plainName.MatchString(p.Args[1]):
		c := k.typeOf(p.Args[0], inner)
		if c == nil || k.anyHas(c, func(d *Class) bool { return d.declares(p.Args[1]) }) ||
			c.isA(k.class) && k.properties["$."+p.Args[1]] != nil {
			return
		}
		near := c.hint(p.Args[1])
		if c.isA(k.class) {
			near = cmp.Or(near, hint(p.Args[1], k.properties.own()))
		}
		k.wrong(n, p, UnknownProperty, "class %s has no property %s%s", c.Name, p.Args[1], near)
	case p.Name == "new":
		k.created(n, p)
	case plainName.MatchString(p.Name) && !k.functions[p.Name] && !within(p, "#operator_->"):
		k.wrong(n, p, yaql.UnknownFunction, "unknown function %s%s", p.Name, hint(p.Name, slices.Sorted(maps.Keys(k.functions))))
	}
}

// own returns the names of assigned properties.
func (s sources) own() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if name, ok := strings.CutPrefix(name, "$."); ok {
			names = append(names, name)
		}
	}
	return names
}

func (k *checker) methodOf(n *Node, p *yaql.Part, inner bool) {
	c := k.typeOf(p.Receiver, inner)
	if c == nil {
		return
	}
	if token := k.resourceType(p.Receiver); c.Name == resourceClass && p.Name == "get" && len(p.Args) == 1 {
		known, name := k.known.Resources[token], strings.Trim(p.Args[0], "'")
		if known != nil && plainName.MatchString(name) && !slices.Contains(append(known, "id", "urn"), name) {
			k.wrong(n, p, UnknownProperty, "resource type %s has no property %s%s", token, name, hint(name, known))
		}
	}
	_, extension := k.functions[p.Name]
	if extension || k.anyHas(c, func(d *Class) bool { m, err := d.method(p.Name); return m != nil || err != nil }) {
		return
	}
	var names []string
	for _, d := range c.lineage {
		for _, m := range d.Methods {
			names = append(names, m.Name)
		}
	}
	k.wrong(n, p, yaql.UnknownFunction, "class %s has no method %s%s", c.Name, p.Name, hint(p.Name, names))
}

// created checks the type and properties of a new object.
func (k *checker) created(n *Node, p *yaql.Part) {
	call := "new(" + strings.Join(p.Args, ", ") + ")"
	if m := modelType.FindStringSubmatch(call); m != nil {
		k.className(n, "'"+m[1]+"'")
	}
	c := k.typeOf(call, false)
	if c == nil {
		return
	}
	token := k.resourceType(call)
	if c.Name == resourceClass && token != "" && k.known.Resources != nil && k.known.Resources[token] == nil {
		k.wrong(n, p, UnknownClass, "unknown resource type %s%s", token, hint(token, slices.Sorted(maps.Keys(k.known.Resources))))
	}
	for _, a := range p.Args {
		m := keyword.FindStringSubmatch(a)
		if m == nil {
			continue
		}
		if err := c.Accepts(m[1]); err != nil {
			e := asError(p.Errorf(UnknownProperty, "%s", err), n.Pos)
			e.Warning = true
			k.in.report(e)
		}
	}
}

// anyHas reports whether has returns true for a class or a class derived from it. An object may belong to any of these.
func (k *checker) anyHas(c *Class, has func(*Class) bool) bool {
	for _, d := range k.in.classes {
		if d != nil && d.isA(c) && (has(d) || slices.ContainsFunc(d.lineage, func(a *Class) bool { return k.orphans[a] })) {
			return true
		}
	}
	return false
}

// typeOf returns the class of an expression's value, or nil if unknown.
func (k *checker) typeOf(from string, inner bool) *Class {
	from = k.origin(from, inner)
	named := newCall.FindStringSubmatch(from)
	of := k.class
	switch {
	case from == "$":
		return of
	case strings.HasPrefix(from, "$.") && plainName.MatchString(from[2:]):
		if p, _ := k.class.property(from[2:]); p != nil {
			named, of = classCall.FindStringSubmatch(source(p.tree.Get("Contract"))+")"), p.class
		}
	case k.inMethod != nil && localName.MatchString(from) && k.inMethod.index(from[1:]) >= 0 && len(k.variables[from]) == 1:
		named = classCall.FindStringSubmatch(source(k.inMethod.Arguments[k.inMethod.index(from[1:])].tree.Get("Contract")) + ")")
	}
	if named == nil {
		return nil
	}
	name, err := of.spaces.resolve(named[1])
	if err != nil {
		return nil
	}
	return k.in.classes[name]
}

// origin follows variables and properties that are assigned only once.
func (k *checker) origin(from string, inner bool) string {
	if inner && (from == "$" || strings.HasPrefix(from, "$.")) {
		return ""
	}
	from = self(from)
	for range 10 {
		all := k.variables[from]
		if strings.HasPrefix(from, "$.") {
			all = k.properties[from]
		}
		if len(all) != 1 || all[0] == "" {
			break
		}
		from = all[0]
	}
	return from
}

// resourceType returns the resource type of an expression's value, or "" if unknown.
func (k *checker) resourceType(from string) string {
	if m := typeOption.FindStringSubmatch(k.origin(from, false)); m != nil {
		return m[1]
	}
	return ""
}

// usage warns about a usage without effect, one of without.
func (k *checker) usage(n *Node, what string, without ...string) {
	u := n.Get("Usage")
	if text, _ := u.Text(); slices.Contains(without, text) {
		k.warn(u, "Usage: %s of %s has no effect", text, what)
	}
}

func (k *checker) warn(n *Node, format string, args ...any) {
	k.in.report(&Error{Kind: Syntax, Message: fmt.Sprintf(format, args...), Pos: n.position(), Warning: true})
}

// sources maps variables, such as $x, and properties, such as $.x, to the sources of the expressions assigned to them.
// A source is "" if the value is not an expression or only part of one.
type sources map[string][]string

// noEffect lists keys used only by the reference's tools.
var noEffect = []string{"Meta", "Cardinality", "Applies", "Inherited", "Import", "Scope"}

// checker finds errors in a class that loads.
type checker struct {
	in    *Interpreter
	known Known
	class *Class
	// orphans holds the classes whose parents cannot be loaded.
	orphans map[*Class]bool
	// functions maps the functions of workflows to whether a receiver is optional; lambdas marks those that evaluate
	// arguments themselves, possibly with a different $.
	functions, lambdas map[string]bool
	// properties records the class's assignments to properties, and variables the method's assignments to variables.
	properties, variables sources
	inMethod              *Method // or nil
}

// Known lists the functions and resource types of a host.
type Known struct {
	// Functions lists additional functions for workflows.
	Functions []*yaql.Function
	// Resources maps resource type tokens to property names. If it is nil, types are not checked.
	Resources map[string][]string
}
