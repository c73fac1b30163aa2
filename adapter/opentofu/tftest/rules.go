package tftest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// rules collects the violations of OpenTofu's rules in an answer.
type rules []string

type attributes = []*tfprotov6.SchemaAttribute

func (r *rules) add(at, format string, args ...any) {
	*r = append(*r, at+": "+fmt.Sprintf(format, args...))
}

// reserved lists the names that OpenTofu uses in resource and provider blocks.
var reserved = map[string][]string{
	"resource": {"count", "for_each", "depends_on", "provider", "lifecycle", "connection", "provisioner"},
	"provider": {"alias", "version"},
}

var attributeName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// schema checks a schema that OpenTofu loads. block is a key of reserved, or empty within an attribute.
func (r *rules) schema(at, block string, attrs attributes) {
	seen := map[string]bool{}
	for _, a := range attrs {
		at := at + "." + a.Name
		switch {
		case !attributeName.MatchString(a.Name):
			r.add(at, "the name is not made of lowercase letters, digits, and underscores")
		case seen[a.Name]:
			r.add(at, "the name is not unique")
		case slices.Contains(reserved[block], a.Name):
			r.add(at, "the name is reserved in a %s block", block)
		case a.Required && (a.Optional || a.Computed) || !a.Required && !a.Optional && !a.Computed:
			r.add(at, "required=%t, optional=%t, computed=%t cannot be combined", a.Required, a.Optional, a.Computed)
		case (a.Type == nil) == (a.NestedType == nil):
			r.add(at, "needs either a type or nested attributes")
		case mixes(a.ValueType(), false):
			r.add(at, "has elements of a dynamic type, and OpenTofu crashes if their types differ: make all of it dynamic")
		case a.NestedType == nil:
		case a.ValueType() == nil || a.NestedType.Nesting == tfprotov6.SchemaObjectNestingModeSet:
			r.add(at, "the nesting mode %s is invalid, or unknown to this kit", a.NestedType.Nesting)
		default:
			r.schema(at, "", a.NestedType.Attributes)
		}
		seen[a.Name] = true
	}
}

// plan checks planned attributes. A provider may choose only values that are computed and not configured. It may also keep
// the prior value of a configured attribute.
func (r *rules) plan(at string, attrs attributes, prior, config, planned tftypes.Value) {
	for _, a := range attrs {
		part := func(v tftypes.Value) tftypes.Value {
			if found, ok := parts(v)["."+a.Name]; ok {
				return found
			}
			return tftypes.NewValue(a.ValueType(), nil)
		}
		r.planned(at+"."+a.Name, a, part(prior), part(config), part(planned))
	}
}

func (r *rules) planned(at string, a *tfprotov6.SchemaAttribute, prior, config, planned tftypes.Value) {
	switch {
	case same(planned, config), same(planned, prior) && !prior.IsNull() && !config.IsNull(), a.Computed && (!a.Optional || config.IsNull()):
	case a.NestedType == nil || config.IsNull() || planned.IsNull() || !config.IsKnown() || !planned.IsKnown():
		r.add(at, "configured as %s, but planned as %s", shown(a, config), shown(a, planned))
	case a.NestedType.Nesting == tfprotov6.SchemaObjectNestingModeSingle:
		r.plan(at, a.NestedType.Attributes, prior, config, planned)
	default:
		wanted, found, before := parts(config), parts(planned), parts(prior)
		for _, step := range slices.Sorted(maps.Keys(found)) {
			if _, ok := wanted[step]; !ok {
				r.add(at+step, "planned, but not configured")
			}
		}
		for _, step := range slices.Sorted(maps.Keys(wanted)) {
			if value, ok := found[step]; ok {
				r.plan(at+step, a.NestedType.Attributes, before[step], wanted[step], value)
			} else {
				r.add(at+step, "configured, but not planned")
			}
		}
	}
}

// outcome checks a later value of an object against the planned one: only what was unknown may differ.
func (r *rules) outcome(at string, attrs attributes, planned, actual tftypes.Value) {
	for _, a := range attrs {
		r.became(at+"."+a.Name, a, parts(planned)["."+a.Name], parts(actual)["."+a.Name])
	}
}

func (r *rules) became(at string, a *tfprotov6.SchemaAttribute, planned, actual tftypes.Value) {
	composite := parts(planned) != nil && parts(actual) != nil
	switch {
	case planned.Type().Is(tftypes.DynamicPseudoType): // an unknown or null value without a type
	case !actual.Type().UsableAs(planned.Type()):
		r.add(at, "planned as a %s, but became a %s", planned.Type(), actual.Type())
	case !planned.IsKnown(), !composite && same(planned, actual):
	case !composite:
		r.add(at, "planned as %s, but became %s", shown(a, planned), shown(a, actual))
	default:
		before, after := parts(planned), parts(actual)
		for _, step := range slices.Sorted(maps.Keys(after)) {
			if _, ok := before[step]; !ok {
				r.add(at+step, "appeared, but was not planned")
			}
		}
		for _, step := range slices.Sorted(maps.Keys(before)) {
			if value, ok := after[step]; ok {
				r.became(at+step, a, before[step], value)
			} else {
				r.add(at+step, "was planned, but has vanished")
			}
		}
	}
}

// known checks that no part of a value is unknown.
func (r *rules) known(at string, v tftypes.Value) {
	if !v.IsKnown() {
		r.add(at, "still unknown after apply")
	}
	for _, step := range slices.Sorted(maps.Keys(parts(v))) {
		r.known(at+step, parts(v)[step])
	}
}

// mixes reports whether elements of a list or map in a type may differ in type. OpenTofu crashes if they do.
func mixes(t tftypes.Type, within bool) bool {
	switch t := t.(type) {
	case tftypes.List:
		return mixes(t.ElementType, true)
	case tftypes.Map:
		return mixes(t.ElementType, true)
	case tftypes.Object:
		for _, attr := range t.AttributeTypes {
			if mixes(attr, within) {
				return true
			}
		}
	}
	return within && t.Is(tftypes.DynamicPseudoType)
}

// parts returns the attributes or elements of a value by the last step of their paths, or nil if it has no parts.
func parts(v tftypes.Value) map[string]tftypes.Value {
	if v.IsNull() || !v.IsKnown() {
		return nil
	}
	made := map[string]tftypes.Value{}
	var list []tftypes.Value
	var members map[string]tftypes.Value
	switch {
	case v.As(&list) == nil:
		for i, element := range list {
			made["["+strconv.Itoa(i)+"]"] = element
		}
	case v.As(&members) != nil:
		return nil
	default:
		_, isObject := v.Type().(tftypes.Object)
		for key, member := range members {
			if isObject {
				made["."+key] = member
			} else {
				made["["+strconv.Quote(key)+"]"] = member
			}
		}
	}
	return made
}

// same reports whether values are equal, and also their types.
func same(a, b tftypes.Value) bool {
	if a.Type() == nil || b.Type() == nil || !a.Type().Equal(b.Type()) || a.IsKnown() != b.IsKnown() || a.IsNull() != b.IsNull() {
		return false
	}
	if parts(a) == nil {
		return a.Equal(b)
	}
	return maps.EqualFunc(parts(a), parts(b), same)
}

// sensitive reports whether an attribute, or one within, is sensitive.
func sensitive(a *tfprotov6.SchemaAttribute) bool {
	return a.Sensitive || a.NestedType != nil && slices.ContainsFunc(a.NestedType.Attributes, sensitive)
}

// shown formats a value of an attribute for a message.
func shown(a *tfprotov6.SchemaAttribute, v tftypes.Value) string {
	if sensitive(a) {
		return "(sensitive)"
	}
	return text(v)
}
