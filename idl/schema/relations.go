package schema

import "slices"

// Relation restricts which properties of an object can be set together.
type Relation struct {
	// Rule is "conflictsWith", "requiredWith", or "exactlyOneOf".
	Rule string
	// Properties lists the property that declares the rule, followed by the properties it names. The order matters only
	// for requiredWith.
	Properties []*Property
}

// Relations returns the relations between the given properties, each once, in the order in which they are checked.
func Relations(properties []*Property) []Relation {
	var list []Relation
	for i, p := range properties {
		add := func(rule string, names []string) {
			r := Relation{rule, []*Property{p}}
			for j, other := range properties {
				mutual := j < i && rule == "conflictsWith" && slices.Contains(other.ConflictsWith, p.Name)
				if j != i && slices.Contains(names, other.Name) && !mutual {
					r.Properties = append(r.Properties, other)
				}
			}
			if len(r.Properties) > 1 {
				list = append(list, r)
			}
		}
		add("conflictsWith", p.ConflictsWith)
		add("requiredWith", p.RequiredWith)
		if len(p.ExactlyOneOf) > 0 && p.ExactlyOneOf[0] == p.Name {
			add("exactlyOneOf", p.ExactlyOneOf)
		}
	}
	return list
}
