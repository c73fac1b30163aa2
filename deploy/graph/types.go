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

// Type is the type of a provided value. Form is its LumiGL form: "bool", "number", "string", "any", or an object with a
// single key, such as {"list": T}. See docs/lumigl.md.
type Type struct{ Form lumigl.Value }

// parts returns the kind of the type and its argument, which is absent for a simple type.
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

// properties returns the properties of an object type, keyed by name.
func properties(object lumigl.Value) map[string]property {
	all := make(map[string]property, object.Len())
	for key, form := range object.Members() {
		name, optional := strings.CutSuffix(key, "?")
		all[name] = property{Type{form}, optional}
	}
	return all
}

// String formats the type, for example as "{a: number, b?: list of string}" or "verb {a: number} → number". Equal types
// have equal strings.
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

// label formats a property name, quoting it unless it is an identifier.
func label(name string) string {
	if identifier.MatchString(name) {
		return name
	}
	return strconv.Quote(name)
}

// AssignableTo returns nil if a value of type t can be used as a value of type other. Otherwise, the error contains the
// path of the first difference, in which [*] denotes an element of a list or map. Types are compared structurally:
//
// - Every type is assignable to "any", but "any" is assignable only to itself.
//   - An object must have the required properties of the other type. Optional properties may be missing, since a
//     program provides only the properties of its types. Additional properties are allowed.
//   - Objects and maps are not assignable to each other, since property names are part of the type and map keys are
//     data.
//   - A verb must accept every request that a caller of the other type may send. Objects in requests are closed, since
//     the verb would not know additional properties. Responses are compared like other values.
//
// Assignability is not transitive: {a: bool, b: number} is assignable to {a: bool}, which is assignable to {a: bool,
// b?: string}, but the first type is not assignable to the third. Always compare the provided and used types directly.
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

// within prepends a step to the path of the difference. It accepts a nil difference.
func (d *difference) within(step string) *difference {
	if d != nil {
		if d.path != "" && d.path[0] != '[' {
			step += "."
		}
		d.path = step + d.path
	}
	return d
}

// differs returns the reason that t is not assignable to another type, or nil if it is. If request is set, objects are
// closed.
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
