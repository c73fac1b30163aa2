package graph

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/lumigl"
)

// Type is the type of a provided value in its LumiGL form: "bool", "number", "string", or "any", or an object with one
// key, such as {"list": T}. See docs/lumigl.md.
type Type struct{ Form lumigl.Value }

// parts returns the kind of the type and its argument, absent for a simple type.
func (t Type) parts() (kind string, of lumigl.Value) {
	if name, ok := t.Form.Text(); ok {
		return name, lumigl.Value{}
	}
	if t.Form.Len() == 1 {
		for kind, of := range t.Form.Members() {
			return kind, of
		}
	}
	return "", lumigl.Value{}
}

type property struct {
	Type
	optional bool
}

// properties returns the properties of an object type by name.
func properties(object lumigl.Value) map[string]property {
	all := make(map[string]property, object.Len())
	for key, form := range object.Members() {
		name, optional := strings.CutSuffix(key, "?")
		all[name] = property{Type{form}, optional}
	}
	return all
}

// String returns the type as text, such as "{a: number, b?: list of string}" or "verb {a: number} → number". Equal types
// have equal texts.
func (t Type) String() string {
	switch kind, of := t.parts(); kind {
	case "bool", "number", "string", "any":
		return kind
	case "list", "map":
		return kind + " of " + Type{of}.String()
	case "resource":
		token, _ := of.Text()
		return token
	case "object":
		var all []string
		declared := properties(of)
		for _, name := range slices.Sorted(maps.Keys(declared)) {
			mark := ": "
			if declared[name].optional {
				mark = "?: "
			}
			all = append(all, label(name)+mark+declared[name].String())
		}
		return "{" + strings.Join(all, ", ") + "}"
	case "verb":
		request := Type{of.Get("request")}.String()
		if strings.Contains(request, "→") && !strings.HasPrefix(request, "{") {
			request = "(" + request + ")"
		}
		return fmt.Sprintf("verb %s → %s", request, Type{of.Get("response")})
	}
	return "invalid type"
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// label returns a property name, quoted unless it is an identifier.
func label(name string) string {
	if identifier.MatchString(name) {
		return name
	}
	return strconv.Quote(name)
}

// AssignableTo returns nil if a value of type t can be used as other. Otherwise, the error has the path of the first
// difference, where [*] denotes the elements of lists and maps. Types are compared structurally:
//
//   - Every type is assignable to "any", and "any" to no other.
//   - An object must have the required properties of the other type. It may lack optional ones, since programs provide
//     only properties in their types, and it may have more.
//   - Objects and maps are not assignable to each other: property names have a meaning, keys are data.
//   - A verb must accept every request that callers of the other type send. Objects in requests are closed, since the
//     verb would not know additional properties. Responses are compared like other values.
//
// Assignability is not transitive: {a: bool, b: number} is assignable to {a: bool}, and that to {a: bool, b?: string},
// but the first is not assignable to the last. Always compare the provided and used types directly.
func (t Type) AssignableTo(other Type) error {
	if d := t.differs(other, false); d != nil {
		return d
	}
	return nil
}

// difference explains why a type is not assignable to another.
type difference struct{ path, message string }

func (d *difference) Error() string {
	if d.path == "" {
		return d.message
	}
	return d.path + ": " + d.message
}

// within returns the difference with a path relative to the enclosing type.
func (d *difference) within(step string) *difference {
	if d != nil {
		if d.path != "" && d.path[0] != '[' {
			step += "."
		}
		d.path = step + d.path
	}
	return d
}

// differs explains why t is not assignable to another type, or returns nil. Objects in requests are closed.
func (t Type) differs(to Type, request bool) *difference {
	kind, of := t.parts()
	toKind, toOf := to.parts()
	switch {
	case toKind == "any":
		return nil
	case kind != toKind:
	case kind == "bool", kind == "number", kind == "string", kind == "resource" && of.Equal(toOf):
		return nil
	case kind == "list", kind == "map":
		return Type{of}.differs(Type{toOf}, request).within("[*]")
	case kind == "object":
		return objectsDiffer(properties(of), properties(toOf), request)
	case kind == "verb":
		if d := (Type{toOf.Get("request")}).differs(Type{of.Get("request")}, true); d != nil {
			return d.within("request")
		}
		return Type{of.Get("response")}.differs(Type{toOf.Get("response")}, false).within("response")
	}
	return &difference{message: fmt.Sprintf("%s is not assignable to %s", t, to)}
}

func objectsDiffer(from, to map[string]property, request bool) *difference {
	names := slices.AppendSeq(slices.Collect(maps.Keys(from)), maps.Keys(to))
	slices.Sort(names)
	missing, uncertain := "required, but not provided", "required, but not always provided"
	if request {
		missing, uncertain = "required, but callers do not send it", "required, but callers do not always send it"
	}
	for _, name := range slices.Compact(names) {
		given, isGiven := from[name]
		wanted, isKnown := to[name]
		var d *difference
		switch {
		case !isKnown && request:
			d = &difference{message: "sent by callers, but unknown to the verb"}
		case !isKnown, !isGiven && wanted.optional:
		case !isGiven:
			d = &difference{message: missing}
		case given.optional && !wanted.optional:
			d = &difference{message: uncertain}
		default:
			d = given.differs(wanted.Type, request)
		}
		if d != nil {
			if !identifier.MatchString(name) {
				name = "[" + strconv.Quote(name) + "]"
			}
			return d.within(name)
		}
	}
	return nil
}
