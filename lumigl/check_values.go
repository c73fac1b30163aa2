package lumigl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/wire"
)

var expressionKeys = []string{"interpolate", "jsonStringify", "get", "path", "uniqueName", "length"}

// expression checks the syntax of an expression. Package expr checks its values.
func (r *reporter) expression(v *Value) {
	var main, path, length *Member
	for i := range v.node.members {
		m := &v.node.members[i]
		switch m.Key {
		case wire.Signature:
		case "interpolate", "jsonStringify", "get", "uniqueName":
			if main != nil {
				r.faultWithin(m.Key, ExpressionFault, m.offset, "an expression cannot have both %q and %q", main.Key, m.Key)
				return
			}
			main = m
		case "path":
			path = m
		case "length":
			length = m
		default:
			near := unusedKey(m.Key, *v, expressionKeys)
			r.at(m.Key, func() {
				r.meant(ExpressionFault, m.offset, near, fmt.Sprintf("unknown key %q of an expression", clip(m.Key)))
			})
			return
		}
	}
	switch {
	case main == nil:
		r.fault(ExpressionFault, v.offset, `an expression needs "interpolate", "jsonStringify", "uniqueName", or "get" and "path"`)
	case main.Key == "interpolate" && main.Value.kind != List:
		r.faultWithin(main.Key, ExpressionFault, main.Value.offset, `"interpolate" must be a list of parts, not %s`, describe(main.Value))
	case main.Key != "get" && path != nil:
		r.faultWithin(path.Key, ExpressionFault, path.offset, `"path" belongs to "get", not to %q`, main.Key)
	case main.Key != "uniqueName" && length != nil:
		r.faultWithin(length.Key, ExpressionFault, length.offset, `"length" belongs to "uniqueName", not to %q`, main.Key)
	case main.Key == "get":
		r.getPath(v, path)
	case main.Key == "uniqueName":
		r.uniqueName(v, main, length)
	}
}

// The bounds of the generated part of a unique name.
const (
	leastUnique = 4
	mostUnique  = 32
)

func (r *reporter) uniqueName(v *Value, base, length *Member) {
	isName := len(r.path) == 4 && r.path[2].key == "properties" && r.path[3].key == "name"
	switch {
	case !isName:
		r.fault(ExpressionFault, v.offset, `"uniqueName" is allowed only as the property "name" of a resource`)
	case base.Value.kind != Text:
		r.faultWithin(base.Key, ExpressionFault, base.Value.offset, `"uniqueName" must be a string, not %s`, describe(base.Value))
	case base.Value.text == "" || base.Value.IsUnknown():
		r.faultWithin(base.Key, ExpressionFault, base.Value.offset, `"uniqueName" must be a known string and not empty`)
	case length != nil:
		if n, ok := length.Value.Int(); !ok || n < leastUnique || n > mostUnique {
			r.faultWithin(length.Key, ExpressionFault, length.Value.offset, `"length" must be a whole number from %d to %d`, leastUnique, mostUnique)
		}
	}
}

func (r *reporter) getPath(v *Value, path *Member) {
	switch {
	case path == nil:
		r.fault(ExpressionFault, v.offset, `"get" needs a "path"`)
	case path.Value.kind != Text:
		r.faultWithin(path.Key, ExpressionFault, path.Value.offset, `"path" must be a string, not %s`, describe(path.Value))
	default:
		if problem := pathProblem(path.Value.text, false); problem != "" {
			r.faultWithin(path.Key, ExpressionFault, path.Value.offset, "malformed path %q: %s", clip(path.Value.text), problem)
		}
	}
}

// ModuleType is the type of vertices that describe modules: the modules used by the program and, if it provides values,
// the program's own module.
const ModuleType tokens.Type = "lumi:index:Module"

const provided = "provides."

// module checks the properties of a module's vertex.
func (r *reporter) module(v *Value, offset uint32) {
	if v.Len() == 0 {
		r.fault(ShapeFault, offset, `a module needs "provides" or "uses"`)
	}
	for i := range v.members() {
		m := &v.node.members[i]
		keys, second := []string{"type", "value"}, "value"
		if m.Key == "uses" {
			keys, second = []string{"type", "where"}, "where"
		}
		r.at(m.Key, func() {
			switch {
			case m.Key != "provides" && m.Key != "uses":
				near := unusedKey(m.Key, *v, []string{"provides", "uses"})
				r.meant(ShapeFault, m.offset, near, fmt.Sprintf(`unknown key %q of a module; it has "provides" and "uses"`, clip(m.Key)))
			case m.Value.kind != Object:
				r.wants(&m.Value, "an object")
			default:
				for i := range m.Value.node.members {
					e := &m.Value.node.members[i]
					r.at(e.Key, func() { r.entry(e, keys, second) })
				}
			}
		})
	}
}

// entry checks an entry of a module's "provides" or "uses". keys are its valid keys: "type" and second.
func (r *reporter) entry(e *Member, keys []string, second string) {
	if e.Value.kind != Object {
		r.wants(&e.Value, "an object")
		return
	}
	var meant []string
	for i := range e.Value.node.members {
		m := &e.Value.node.members[i]
		r.at(m.Key, func() {
			switch {
			case m.Key == "type":
				r.valueType(&m.Value)
			case m.Key != second:
				near := unusedKey(m.Key, e.Value, keys)
				meant = append(meant, near)
				r.meant(ShapeFault, m.offset, near, fmt.Sprintf("%q has %q and %q, not %q", clip(e.Key), keys[0], keys[1], clip(m.Key)))
			case m.Key == "where" && m.Value.kind != Text:
				r.wants(&m.Value, "a string")
			}
		})
	}
	for _, key := range keys {
		if key != "where" && !e.Value.Get(key).Exists() && !slices.Contains(meant, key) {
			r.fault(ShapeFault, e.Value.offset, "%q needs a %q", clip(e.Key), key)
		}
	}
}

// wants reports that the value at the current path is not of the wanted kind.
func (r *reporter) wants(v *Value, wanted string) {
	r.fault(ShapeFault, v.offset, "%q must be %s, not %s", clip(r.path[len(r.path)-1].key), wanted, describe(*v))
}

var (
	simpleTypes    = []string{"bool", "number", "string", "any"}
	compositeTypes = []string{"list", "map", "object", "resource", "verb"}
)

// valueType checks a type declared in a module's vertex.
func (r *reporter) valueType(v *Value) {
	switch {
	case v.kind == Text:
		for _, name := range simpleTypes {
			if v.text == name {
				return
			}
		}
		r.meant(ShapeFault, v.offset, suggest.Name(v.text, simpleTypes), fmt.Sprintf(`a type must be "bool", "number", "string", "any" or an object, not %q`, clip(v.text)))
	case v.kind != Object || v.Len() != 1:
		r.fault(ShapeFault, v.offset, `a type must be a name such as "string", or an object with one key such as {"list": "string"}`)
	default:
		m := &v.node.members[0]
		r.at(m.Key, func() { r.compositeType(m, v) })
	}
}

func (r *reporter) compositeType(m *Member, in *Value) {
	v := &m.Value
	switch m.Key {
	case "list", "map":
		r.valueType(v)
	case "resource":
		if v.kind != Text {
			r.wants(v, "a resource type")
		} else if _, err := tokens.Parse(v.text); err != nil {
			r.fault(ShapeFault, v.offset, "%q is not a resource type, such as \"aws:ec2:VPC\"", clip(v.text))
		}
	case "object", "verb":
		switch {
		case v.kind != Object:
			r.wants(v, "an object with types")
			return
		case m.Key == "verb" && (v.Len() != 2 || !v.Get("request").Exists() || !v.Get("response").Exists()):
			r.fault(ShapeFault, v.offset, `a verb needs the types "request" and "response"`)
		}
		for i := range v.node.members {
			e := &v.node.members[i]
			r.at(e.Key, func() { r.valueType(&e.Value) })
		}
	default:
		r.meant(ShapeFault, m.offset, unusedKey(m.Key, *in, compositeTypes), fmt.Sprintf("unknown type {%q: …}", clip(m.Key)))
	}
}

// use reports a reference to a module's vertex that does not name an existing entry.
func (r *reporter) use(v *Value) {
	name, ok := strings.CutPrefix(v.text, provided)
	if !ok || name == "" {
		r.fault(ReferenceFault, v.offset, `a reference to a module needs a "property" such as "provides.vpcId"`)
		return
	}
	var names []string
	for _, section := range []string{"uses", "provides"} {
		for key := range v.node.target.Properties.Get(section).Members() {
			if key == name {
				return
			}
			names = append(names, key)
		}
	}
	r.meant(ReferenceFault, v.offset, suggest.Name(name, names), fmt.Sprintf("the module has no %q in \"uses\" or \"provides\"", clip(name)))
}
