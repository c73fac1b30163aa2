package compile

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/internal/constraint"
	"github.com/lumi-idl/lumi/internal/suggest"
)

// checkDefaults converts each default from text to the type of its property. Invalid defaults of promoted properties
// are reported at the struct that declares them.
func (c *checker) checkDefaults() {
	for _, d := range c.order {
		for _, f := range d.fields {
			text, ok := f.Default.(string)
			if !ok {
				continue
			}
			value, problem, help := defaultOf(f.Property, text)
			f.Default = value
			if o := f.tag.find("default"); o != nil && problem != "" {
				c.report(diag.DefaultValue, o, "%s", problem).Suggestion = help
			}
		}
	}
}

// defaultOf parses the default of a property. If the text is invalid, problem and help describe the error and its fix.
func defaultOf(p *schema.Property, text string) (value any, problem, help string) {
	if p.Out {
		return nil, "", "" // reported when the tag was parsed
	}
	t := schema.Underlying(p.Type)
	switch ref, _ := t.(*schema.Ref); {
	case t == schema.Bool:
		if text != "true" && text != "false" {
			return nil, strconv.Quote(text) + " is not a boolean", "use true or false"
		}
		value = text == "true"
	case t == schema.Number || t == schema.Int:
		n, ok := parseNumber(text)
		if !ok {
			return nil, strconv.Quote(text) + " is not a number", numberHelp
		}
		if problem := inexact(text); problem != "" {
			return nil, problem, "write default=" + strconv.FormatFloat(n, 'f', 0, 64)
		}
		if problem := constraint.Int(n, constraint.MaxInt, p.Secret); t == schema.Int && problem != "" {
			return nil, "the default of an int " + problem, intHelp
		}
		value = n
	case t == schema.String:
		value = text
	case ref != nil:
		if e, ok := ref.Decl.(*schema.Enum); ok {
			problem, help = notInEnum(e, text)
			return text, problem, help
		}
		fallthrough
	default:
		return nil, "only booleans, numbers, strings, and enums can have a default", "remove it, and set the value in the provider's Check method"
	}
	if !p.Optional {
		return nil, "only optional properties can have a default", "add the option optional, or remove the default"
	}
	for _, rule := range rulesOf(p) {
		if n, ok := value.(float64); ok {
			problem = rule.Number(n, p.Secret)
		} else if s, ok := value.(string); ok {
			problem = rule.String(s, p.Secret)
		}
		if problem != "" {
			return nil, "the default violates a constraint: it " + problem, "change the default or the constraint"
		}
	}
	return value, "", ""
}

func notInEnum(e *schema.Enum, text string) (problem, help string) {
	var values []string
	for _, m := range e.Members {
		values = append(values, m.Value)
	}
	if slices.Contains(values, text) {
		return "", ""
	}
	help = "use the value of one of its constants"
	if near := suggest.Name(text, values); near != "" {
		help = "write default='" + doubled(near) + "'"
	}
	return strconv.Quote(text) + " is not a value of " + e.Name, help
}

// rulesOf returns the constraints of a property, including constraints of its alias.
func rulesOf(p *schema.Property) []constraint.Rule {
	rules := constraint.Rules(p.Constraints.All())
	for ref, ok := p.Type.(*schema.Ref); ok; {
		a, isAlias := ref.Decl.(*schema.Alias)
		if !isAlias {
			break
		}
		rules = append(rules, constraint.Rules(a.Constraints.All())...)
		ref, ok = a.Target.(*schema.Ref)
	}
	return rules
}

var decimal = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$`)

const numberHelp = "use a decimal number that fits a float64, such as 0.5 or 1e6"

var intHelp = fmt.Sprintf("use a whole number from %d to %d", -constraint.MaxInt, constraint.MaxInt)

// inexact returns an error message if text is an integer that float64 cannot represent exactly, and "" otherwise.
func inexact(text string) string {
	if whole, ok := new(big.Int).SetString(text, 10); ok {
		if _, accuracy := new(big.Float).SetInt(whole).Float64(); accuracy != big.Exact {
			return text + " cannot be represented exactly as a float64"
		}
	}
	return ""
}

// parseNumber parses a finite decimal number. It returns false if text is not one.
func parseNumber(text string) (float64, bool) {
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && decimal.MatchString(text)
}
