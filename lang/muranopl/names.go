package muranopl

import (
	"regexp"
	"strings"

	"github.com/lumi-idl/lumi/lang/yaql"
)

const (
	rootClass = "io.murano.Object"
	coreSpace = "io.lumi"
)

var (
	typeName  = regexp.MustCompile(`^([a-zA-Z_]\w*:|:|=:)?[a-zA-Z_]\w*(\.[a-zA-Z_]\w*)*$`)
	spaceName = regexp.MustCompile(`^([a-zA-Z_]\w*(\.[a-zA-Z_]\w*)*)?$`)
	prefix    = regexp.MustCompile(`^([a-zA-Z_]\w*|=)$`)
)

// newNamespaces reads the namespaces declared by a class. All errors it reports have positions.
func newNamespaces(n *Node, report func(*Error)) namespaces {
	spaces := namespaces{"=": "", "": "", "lumi": coreSpace}
	for _, e := range n.dict("Namespaces must be a dictionary of prefixes and namespaces", report) {
		p, _ := e.Key.Value.(string)
		if x, isExpr := e.Key.Value.(Expression); isExpr {
			p = string(x) // a plain = is parsed as an expression
		}
		space, isText := e.Value.Text()
		switch {
		case !prefix.MatchString(p):
			report(failAt(e.Key.Pos, Syntax, "invalid namespace prefix %q", p))
		case e.Value.Value != nil && !isText || !spaceName.MatchString(space):
			report(failAt(e.Value.Pos, Syntax, "invalid namespace of prefix %q: it must be names joined with periods", p))
		default:
			spaces[p] = space
		}
	}
	return spaces
}

// resolve returns the full name of the class called name in these namespaces.
func (n namespaces) resolve(name string) (string, error) {
	if !typeName.MatchString(name) {
		return "", fail(Syntax, "invalid class name %q", name)
	}
	p, rest, hasPrefix := strings.Cut(name, ":")
	switch {
	case !hasPrefix && strings.Contains(name, "."):
		return name, nil
	case !hasPrefix:
		p, rest = "=", name
	case p == "":
		p = "="
	}
	space, ok := n[p]
	switch {
	case !ok:
		return "", fail(UnknownClass, "unknown namespace prefix %q", p)
	case space == "":
		return rest, nil
	}
	return space + "." + rest, nil
}

// FullName returns the full name of a class, given its name and its namespaces, which may be nil. Any error is of type
// [*Error].
func FullName(name, spaces *Node) (string, error) {
	var first firstError
	all := newNamespaces(spaces, first.add)
	if err := first.get(); err != nil {
		return "", err
	}
	text, _ := name.Name()
	full, err := all.resolve(text)
	if err != nil {
		return "", asError(err, name.Pos)
	}
	return full, nil
}

func typeArgument(call *yaql.Call, v any) (*Class, error) {
	s := scopeOf(call)
	switch {
	case s == nil:
		return nil, fail(UnknownClass, "class names are not available here")
	case s.contract != nil:
		return s.contract.spec.class.classOf(v)
	}
	return s.class.classOf(v)
}
