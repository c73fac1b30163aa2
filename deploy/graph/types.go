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

// Type is the type of a value that modules provide to each other, in the form that LumiGL has it: "bool", "number",
// "string" or "any", or an object with one key, such as {"list": T}. Docs/lumigl.md documents it.
type Type struct{ Form lumigl.Value }

// parts returns what kind of type it is, and what the kind is applied to: absent for a simple type.
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

// property is a property of an object type.
type property struct {
	Type
	optional bool
}

// properties returns the properties of an object type by their names.
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

// label returns the name of a property, in quotes unless it is an identifier.
func label(name string) string {
	if identifier.MatchString(name) {
		return name
	}
	return strconv.Quote(name)
}

// AssignableTo returns nil if a value that is provided as t can be used as other, or why not: the path, with [*] for the
// elements of lists and maps, and what differs there first. Types are compared by structure:
//
//   - Every type is assignable to "any", and "any" to no other.
//   - An object must have the properties that the other type requires. It may lack those that are optional there, since a
//     program provides no properties that are not in its type. It may have more.
//   - An object and a map are not assignable to each other: the names of properties mean something, keys are data.
//   - A verb must take every request that callers of the other type send. Objects anywhere in a request are closed, since
//     the verb would not know more properties. Responses are compared as values are.
//
// This is not transitive: {a: bool, b: number} is assignable to {a: bool}, and that to {a: bool, b?: string}, but the first
// is not to the last. So compare what is provided with what is used, and nothing between them.
func (t Type) AssignableTo(other Type) error {
	if d := t.differs(other, false); d != nil {
		return d
	}
	return nil
}

// difference is why a type is not assignable to another one.
type difference struct{ path, message string }

// Error returns the path and the message.
func (d *difference) Error() string {
	if d.path == "" {
		return d.message
	}
	return d.path + ": " + d.message
}

// within returns the difference as one of the type around.
func (d *difference) within(step string) *difference {
	if d != nil {
		if d.path != "" && d.path[0] != '[' {
			step += "."
		}
		d.path = step + d.path
	}
	return d
}

// differs returns why values of a type cannot go where those of another type are expected. Objects in a request are closed.
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
