package lumi

import (
	"fmt"
	"slices"
	"sync"

	"github.com/lumi-idl/lumi/internal/property"
	"github.com/lumi-idl/lumi/internal/rule"
	"github.com/lumi-idl/lumi/runtime/internal/signed"
)

// RuleSet is a list of rules, which relate properties of an object.
type RuleSet struct{ parse func() []objectRule }

type objectRule struct {
	message string
	holds   *rule.Expr
}

// Rules returns a set of rules. Each is a message about objects that break it, followed by an expression in JSON, as in
// the schema written by cidlc. The expressions are parsed on first use, which panics if one is invalid.
func Rules(texts ...string) *RuleSet {
	return &RuleSet{sync.OnceValue(func() (list []objectRule) {
		for pair := range slices.Chunk(texts, 2) {
			holds, err := rule.Parse(pair[len(pair)-1])
			if err != nil {
				panic(fmt.Sprintf("lumi: invalid rule %q: %v", pair, err))
			}
			list = append(list, objectRule{pair[0], holds})
		}
		return list
	})}
}

// operands finds the operands of rules in an object.
type operands struct {
	object *property.Value
	// faults were found in the object, whose path is at. Invalid properties count as unknown.
	faults []Fault
	at     Path
}

// Find implements [rule.Source].
func (o *operands) Find(path []string) (value rule.Value, is rule.Presence) {
	object, last := o.object, len(path)-1
	for i, name := range path {
		v, _ := signed.Reveal(object.Get(name))
		switch {
		case v.IsNull() && i == last:
			return value, rule.Absent
		case v.IsNull():
			return value, rule.NoParent
		case (signed.IsUnknown(v) || o.invalid(path[:i+1])) && i == last:
			return value, rule.Unknown
		case signed.IsUnknown(v) || o.invalid(path[:i+1]):
			return value, rule.UnknownParent
		case i == last:
			return operand(v), rule.Present
		}
		object = v
	}
	return value, rule.Absent
}

func (o *operands) invalid(path []string) bool {
	if len(o.faults) == 0 {
		return false
	}
	at := o.at
	for _, name := range path {
		at = at.Field(name)
	}
	return slices.ContainsFunc(o.faults, func(f Fault) bool { return f.Path == at })
}

// operand converts a value.
func operand(v *property.Value) rule.Value {
	switch v.Kind() {
	case property.Bool:
		if v.Bool() {
			return rule.Value{Kind: rule.Bool, Number: 1}
		}
		return rule.Value{Kind: rule.Bool}
	case property.Number:
		return rule.Value{Kind: rule.Number, Number: v.Number()}
	case property.String:
		return rule.Value{Kind: rule.String, Text: v.Text()}
	case property.List:
		return rule.Value{Kind: rule.Items, Number: float64(len(v.Elements()))}
	}
	entries := rule.Value{Kind: rule.Items}
	for _, f := range v.Fields() {
		if !f.Value.IsNull() {
			entries.Number++
		}
	}
	return entries
}
