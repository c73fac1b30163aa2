package compile

import (
	"go/ast"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/internal/constraint"
	"github.com/lumi-idl/lumi/internal/suggest"
)

// limit returns the [tagWords] entry for the constraint stored in the field of that name in [schema.Constraints]. The
// type of the field determines the syntax of the value.
func limit(name, doc string, excludes ...string) tagWord {
	w := tagWord{name: name, doc: doc, constrains: schema.ConstraintValues(name, nil), excludes: append(excludes, "out")}
	parse := func(value string) any { return value }
	switch schema.ConstraintType(name) {
	case reflect.Float64:
		w.value, w.valid = "<number>", (*checker).checkNumber
		parse = func(value string) any { n, _ := strconv.ParseFloat(value, 64); return n }
	case reflect.Int:
		w.value, w.valid = "<count>", (*checker).checkCount
		parse = func(value string) any { n, _ := strconv.Atoi(value); return n }
	case reflect.String:
		w.value, w.valid = "'<expression>'", (*checker).checkPattern
		switch name {
		case "format":
			w.value, w.valid = "<format>", (*checker).checkFormat
		case "says":
			w.value, w.valid = "'<text>'", (*checker).checkSays
		case "equal":
			w.value, w.valid, w.constrains = "<way>", (*checker).checkEqual, "strings, lists"
		}
	case reflect.Bool:
		w.synonyms = []string{"uniqueitems"}
		parse = func(string) any { return true }
	}
	w.set = func(p *schema.Property, value string) {
		if p.Constraints == nil {
			p.Constraints = &schema.Constraints{}
		}
		p.Constraints.Set(name, parse(value))
	}
	return w
}

// inQuotes puts value in single quotes, after removing any quotes around it.
func inQuotes(value string) string { return "'" + strings.Trim(value, "'\"`") + "'" }

// rejectValue reports an invalid constraint value and returns false.
func (c *checker) rejectValue(at ast.Node, advice, format string, args ...any) bool {
	c.report(diag.ConstraintValue, at, format, args...).Suggestion = advice
	return false
}

func (c *checker) checkNumber(at ast.Node, value string) bool {
	n, ok := parseNumber(value)
	switch name, _, _ := strings.Cut(at.(option).text, "="); {
	case !ok:
		return c.rejectValue(at, numberHelp+", and separate options with commas", "%q is not a number", value)
	case inexact(value) != "":
		return c.rejectValue(at, "write "+name+"="+strconv.FormatFloat(n, 'f', 0, 64), "%s", inexact(value))
	case name == "multipleOf" && n <= 0:
		return c.rejectValue(at, "use a number greater than 0", "multipleOf must be greater than 0, got %s", value)
	}
	return true
}

func (c *checker) checkCount(at ast.Node, value string) bool {
	if n, err := strconv.Atoi(value); err == nil && 0 <= n && n <= math.MaxInt32 && value[0] != '+' {
		return true
	}
	return c.rejectValue(at, "use a whole number from 0 to 2147483647, and separate options with commas", "invalid count %q", value)
}

func (c *checker) checkPattern(at ast.Node, value string) bool {
	if value == "" {
		return c.rejectValue(at, "remove it", "an empty pattern matches every string")
	}
	if key, raw, _ := strings.Cut(at.(option).text, "="); !strings.HasPrefix(raw, "'") {
		return c.rejectValue(at, "write "+key+"="+inQuotes(value), "a pattern must be in single quotes")
	}
	problem, advice := patternError(value)
	if problem != "" {
		c.report(diag.InvalidPattern, at, "%s", problem).Suggestion = advice
	}
	return problem == ""
}

func (c *checker) checkSays(at ast.Node, text string) bool {
	if text != "" && text == strings.TrimSpace(text) && !strings.ContainsFunc(text, unicode.IsControl) {
		return true
	}
	return c.rejectValue(at, "continue the message 'must be …', as in says='a bucket name'", "says must be a phrase, got %q", text)
}

func (c *checker) checkFormat(at ast.Node, name string) bool {
	known := constraint.Formats()
	if slices.Contains(known, name) {
		return true
	}
	advice := "valid formats are " + strings.Join(known, ", ")
	if near := suggest.Name(name, known); near != "" {
		advice = "write format=" + near
	}
	return c.rejectValue(at, advice, "unknown format %q", name)
}

func (c *checker) checkEqual(at ast.Node, way string) bool {
	known := constraint.Equalities()
	if slices.Contains(known, way) {
		return true
	}
	advice := "valid ways are " + strings.Join(known, ", ")
	if near := suggest.Name(way, known); near != "" {
		advice = "write equal=" + near
	}
	return c.rejectValue(at, advice, "unknown way %q to compare values", way)
}

// constrainedType pairs a type with constraints to be checked once all types are known.
type constrainedType struct {
	typ     *schema.Type
	options []setOption
}

// constraintsIn returns the constraints in a list of options.
func constraintsIn(list []setOption) []setOption {
	return slices.DeleteFunc(slices.Clone(list), func(o setOption) bool { return o.constrains == "" })
}

// checkConstraints checks that constraints fit their types and that they can be satisfied together with the
// constraints of aliases.
func (c *checker) checkConstraints() {
	for _, t := range c.constrained {
		kind := schema.ValuesOf(*t.typ)
		named := func(name string) func(setOption) bool { return func(o setOption) bool { return o.name == name } }
		if i := slices.IndexFunc(t.options, named("says")); i >= 0 && kind == "strings" && !slices.ContainsFunc(t.options, named("pattern")) {
			c.rejectValue(t.options[i], "add pattern='…', or remove it", "says requires a pattern")
		}
		var fit []setOption
		whole := schema.Underlying(*t.typ) == schema.Int
		for _, o := range t.options {
			what, applies := o.name, schema.ConstraintValues(o.name, o.value)
			if o.name == "equal" {
				what = o.text
			}
			if applies == kind {
				fit = append(fit, o)
				if n, _ := parseNumber(o.value); whole && constraint.Int(n, constraint.MaxInt, false) != "" {
					c.rejectValue(o, intHelp, "%s of an int %s", o.name, constraint.Int(n, constraint.MaxInt, false))
				}
			} else if kind != "" {
				c.report(diag.ConstraintType, o, "%s applies to %s, not to %s", what, applies, kind).
					Suggestion = constraintHelp(o, applies, kind, *t.typ)
			}
		}
		if ref, ok := (*t.typ).(*schema.Ref); ok {
			fit = append(slices.Clone(c.aliased[ref.Decl]), fit...)
		}
		c.checkPossible(fit, whole)
		c.checkOneEqual(fit)
		c.checkEnough(*t.typ, fit)
	}
}

// checkOneEqual reports a property that is compared in another way than its type.
func (c *checker) checkOneEqual(list []setOption) {
	list = slices.DeleteFunc(slices.Clone(list), func(o setOption) bool { return o.name != "equal" })
	if len(list) > 1 && list[0].value != list[len(list)-1].value {
		d := c.report(diag.ConstraintConflict, list[len(list)-1], "values cannot be compared in two ways: %s and %s", list[0].text, list[len(list)-1].text)
		d.Suggestion = "remove one of them"
		c.note(d, list[0], "%s is set here", list[0].text)
	}
}

// alike groups constraints with the same meaning for different kinds of values.
var alike = []map[string]string{
	{"numbers": "min", "strings": "minLength", "lists": "minItems", "maps": "minProperties"},
	{"numbers": "max", "strings": "maxLength", "lists": "maxItems", "maps": "maxProperties"},
	{"strings": "pattern", "maps": "keyPattern"},
}

// constraintHelp suggests a fix for a constraint that does not apply to values of the given kind.
func constraintHelp(o setOption, applies, kind string, t schema.Type) string {
	name, elem := "", ""
	for _, names := range alike {
		if names[applies] == o.name {
			name = names[kind]
		}
	}
	switch t := schema.Underlying(t).(type) {
	case *schema.List:
		elem = schema.ValuesOf(t.Elem)
	case *schema.Map:
		elem = schema.ValuesOf(t.Elem)
	}
	_, raw, _ := strings.Cut(o.text, "=")
	_, err := strconv.Atoi(o.value)
	switch {
	case elem == applies:
		return "to constrain the elements, declare a type for them with //lumi:" + o.text + " above it"
	case name != "" && (err == nil || schema.ConstraintType(name) == reflect.String):
		return "write " + name + "=" + raw
	case kind == "enums":
		return "remove it; an enum has only the values of its constants"
	}
	return "remove it"
}

// bound is one end of a range. Option is the index of the option that sets it, or -1 if none does.
type bound struct {
	option    int
	limit     float64
	exclusive bool
}

// inside returns an exclusive bound of whole numbers as an inclusive one. Sign is 1 for a lower bound, -1 for an upper one.
func (b bound) inside(sign float64) bound {
	if b.exclusive {
		b.limit, b.exclusive = b.limit+sign, false
	}
	return b
}

// checkPossible reports constraints that no value can satisfy together. In list, the constraints of an alias come
// first.
func (c *checker) checkPossible(list []setOption, whole bool) {
	for _, ends := range [][2][]string{
		{{"min", "exclusiveMin"}, {"max", "exclusiveMax"}}, {{"minLength"}, {"maxLength"}},
		{{"minItems"}, {"maxItems"}}, {{"minProperties"}, {"maxProperties"}},
	} {
		low := tightest(list, ends[0], 1, bound{option: -1, limit: math.Inf(-1)})
		high := tightest(list, ends[1], -1, bound{option: -1, limit: math.Inf(1)})
		if low.option < 0 || high.option < 0 {
			continue
		}
		if whole {
			low, high = low.inside(1), high.inside(-1)
		}
		if low.limit > high.limit || low.limit == high.limit && (low.exclusive || high.exclusive) {
			c.rejectTogether(list, low.option, high.option)
			continue
		}
		for i, o := range list {
			step, _ := strconv.ParseFloat(o.value, 64)
			const rounding = 1e-9
			if o.name == "multipleOf" && ends[0][0] == "min" &&
				math.Ceil(low.limit/step-rounding) > math.Floor(high.limit/step+rounding) {
				c.rejectTogether(list, low.option, high.option, i)
			}
		}
	}
}

// tightest returns the highest lower bound set by the named options or, if sign is negative, the lowest upper bound. It
// starts from found, and returns it if no option sets a bound.
func tightest(list []setOption, names []string, sign float64, found bound) bound {
	for i, o := range list {
		if !slices.Contains(names, o.name) {
			continue
		}
		n, _ := strconv.ParseFloat(o.value, 64)
		b := bound{i, n, strings.HasPrefix(o.name, "exclusive")}
		if by := (b.limit - found.limit) * sign; by > 0 || by == 0 && b.exclusive {
			found = b
		}
	}
	return found
}

// rejectTogether reports conflicting options, given by their indices in list. The report points at the last of them.
func (c *checker) rejectTogether(list []setOption, indices ...int) {
	slices.Sort(indices)
	last := list[indices[len(indices)-1]]
	var texts []string
	for _, i := range indices {
		texts = append(texts, list[i].text)
	}
	d := c.report(diag.ConstraintConflict, last, "no value satisfies %s", strings.Join(texts[:len(texts)-1], ", ")+" and "+last.text)
	d.Suggestion = "change one of them"
	for _, i := range indices[:len(indices)-1] {
		c.note(d, list[i], "%s is set here", list[i].text)
	}
}
