package lumi

import (
	"fmt"
	"slices"
	"sync"

	"google.golang.org/protobuf/types/known/structpb"

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
	fields map[string]*structpb.Value
	// faults were found in the object, whose path is at. Invalid properties count as unknown.
	faults []Fault
	at     Path
}

// Find implements [rule.Source].
func (o *operands) Find(path []string) (value rule.Value, is rule.Presence) {
	fields, last := o.fields, len(path)-1
	for i, name := range path {
		v, _ := signed.Reveal(fields[name])
		switch {
		case signed.IsNull(v) && i == last:
			return value, rule.Absent
		case signed.IsNull(v):
			return value, rule.NoParent
		case (signed.IsUnknown(v) || o.invalid(path[:i+1])) && i == last:
			return value, rule.Unknown
		case signed.IsUnknown(v) || o.invalid(path[:i+1]):
			return value, rule.UnknownParent
		case i == last:
			return operand(v), rule.Present
		}
		fields = v.GetStructValue().GetFields()
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
func operand(v *structpb.Value) rule.Value {
	switch k := v.GetKind().(type) {
	case *structpb.Value_BoolValue:
		if k.BoolValue {
			return rule.Value{Kind: rule.Bool, Number: 1}
		}
		return rule.Value{Kind: rule.Bool}
	case *structpb.Value_NumberValue:
		return rule.Value{Kind: rule.Number, Number: k.NumberValue}
	case *structpb.Value_StringValue:
		return rule.Value{Kind: rule.String, Text: k.StringValue}
	case *structpb.Value_ListValue:
		return rule.Value{Kind: rule.Items, Number: float64(len(k.ListValue.GetValues()))}
	}
	entries := rule.Value{Kind: rule.Items}
	for _, elem := range v.GetStructValue().GetFields() {
		if !signed.IsNull(elem) {
			entries.Number++
		}
	}
	return entries
}
