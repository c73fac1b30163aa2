package compile

import (
	"go/ast"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
)

// kindOfValue is what messages call the values that a constraint is for.
type kindOfValue string

const (
	numbers kindOfValue = "numbers"
)

// valuesOf returns the kind of a type's values, or "" if no constraint is for them.
func valuesOf(t schema.Type) kindOfValue {
	switch schema.Underlying(t) {
	case schema.Number:
		return numbers
	}
	return ""
}

// limit is the row of tagWords for a constraint of numbers.
func limit(name, doc string, field func(*schema.Constraints) **float64, synonyms ...string) tagWord {
	return tagWord{
		name: name, doc: doc, synonyms: synonyms, constrains: numbers,
		value: "<number>", valid: (*checker).checkNumber, excludes: []string{"out"},
		set: func(p *schema.Property, value string) {
			n, _ := strconv.ParseFloat(value, 64)
			*field(constraintsOf(p)) = &n
		},
	}
}

// constraintsOf returns the constraints of a property, to be set.
func constraintsOf(p *schema.Property) *schema.Constraints {
	if p.Constraints == nil {
		p.Constraints = &schema.Constraints{}
	}
	return p.Constraints
}

// checkNumber validates the argument of a constraint of numbers.
func (c *checker) checkNumber(at ast.Node, value string) bool {
	_, err := strconv.ParseFloat(value, 64)
	if err == nil && value != "" && strings.Trim(value, "+-.0123456789eE") == "" {
		return true
	}
	c.report(diag.ConstraintValue, at, "%q is not a number", value).Suggestion = "write it in decimal, as in 0.5 or 1e6"
	return false
}

// constrainedType is a property whose constraints are to be judged once all types are known.
type constrainedType struct {
	property *schema.Property
	options  []setOption
}

// checkConstraints judges whether constraints are for values of the types that have them.
func (c *checker) checkConstraints() {
	for _, t := range c.constrained {
		for _, o := range t.options {
			if kind := valuesOf(t.property.Type); kind != o.constrains {
				c.report(diag.ConstraintType, o, "%s is for %s", o.name, o.constrains).Suggestion = "remove it"
			}
		}
	}
}
