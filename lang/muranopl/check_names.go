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

// source returns an expression in normalized form, with $this written as $. It returns "" for nil and for other values.
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

// assignments records the assignments in a block of instructions.
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

// names prepares the checker for the methods of its class.
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

// within reports whether p is inside an argument of the named function.
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
	inner := false // whether $ may have another value
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

// own returns the sorted names of the properties assigned through $.
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

// created checks the class and the properties in a call of new.
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

// anyHas reports whether has returns true for c or any class derived from it. An object with the declared class c may
// be an instance of any of these.
func (k *checker) anyHas(c *Class, has func(*Class) bool) bool {
	for _, d := range k.in.classes {
		if d != nil && d.isA(c) && (has(d) || slices.ContainsFunc(d.lineage, func(a *Class) bool { return k.orphans[a] })) {
			return true
		}
	}
	return false
}

// typeOf returns the class of the value of the expression from, or nil if unknown.
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

// origin returns the source of the value of the expression from. It follows variables and properties that are assigned
// exactly once.
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

// resourceType returns the resource type of the value of an expression, or "" if unknown.
func (k *checker) resourceType(from string) string {
	if m := typeOption.FindStringSubmatch(k.origin(from, false)); m != nil {
		return m[1]
	}
	return ""
}

// usage warns about a usage that has no effect, as listed in without.
func (k *checker) usage(n *Node, what string, without ...string) {
	u := n.Get("Usage")
	if text, _ := u.Text(); slices.Contains(without, text) {
		k.warn(u, "Usage: %s of %s has no effect", text, what)
	}
}

func (k *checker) warn(n *Node, format string, args ...any) {
	k.in.report(&Error{Kind: Syntax, Message: fmt.Sprintf(format, args...), Pos: n.position(), Warning: true})
}

// sources maps variables such as $x and properties such as $.x to the sources of the values assigned to them. A source
// is "" if the value is not an expression or if only part of the value is assigned.
type sources map[string][]string

// noEffect lists keys that are used only by tools of the reference implementation.
var noEffect = []string{"Meta", "Cardinality", "Applies", "Inherited", "Import", "Scope"}

// checker finds errors in a class that has been loaded.
type checker struct {
	in    *Interpreter
	known Known
	class *Class
	// orphans is the set of classes whose parents cannot be loaded.
	orphans map[*Class]bool
	// functions maps the functions available to workflows to whether their receiver is optional. lambdas marks
	// functions that evaluate arguments themselves, possibly with another value of $.
	functions, lambdas map[string]bool
	// properties records assignments to properties of the class. variables records assignments to variables of the
	// method.
	properties, variables sources
	inMethod              *Method // method being checked, or nil
}

// Known lists the functions and resource types provided by a host.
type Known struct {
	// Functions lists the host's functions for workflows.
	Functions []*yaql.Function
	// Resources maps the tokens of resource types to the names of their properties. If it is nil, resource types are
	// not checked.
	Resources map[string][]string
}
