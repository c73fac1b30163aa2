package query

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"cel.dev/cel-go/common"

	"github.com/lumi-idl/lumi/internal/suggest"
)

// syntaxError is the prefix of CEL's messages about syntax errors.
const syntaxError = "Syntax error: "

// wrong rewrites errors reported by CEL, whose messages mention its grammar and internal functions.
func (l *language) wrong(source string, found []*common.Error) error {
	isPlaced := func(f *common.Error) bool { return f.Location.Line() > 0 }
	if slices.ContainsFunc(found, isPlaced) {
		// Errors without a position only report that parsing stopped.
		found = slices.DeleteFunc(slices.Clone(found), func(f *common.Error) bool { return !isPlaced(f) })
	}
	var all []error
	for _, f := range found {
		isSyntax := strings.HasPrefix(f.Message, syntaxError)
		if isSyntax && len(all) > 0 {
			break // a follow-on error
		}
		e := &ExpressionError{Line: max(f.Location.Line(), 1), Column: max(f.Location.Column()+1, 1)}
		before, rest := around(source, e.Line, e.Column)
		follows := false
		if isSyntax {
			l.misread(e, f.Message, before, rest)
		} else {
			e.Message, follows = l.meaning(f.Message, rest)
		}
		all = append(all, e)
		if follows {
			break
		}
	}
	return errors.Join(all...)
}

// around returns the text of the given line before and after the given column.
func around(source string, line, column int) (before, rest string) {
	for ; line > 1; line-- {
		_, source, _ = strings.Cut(source, "\n")
	}
	source, _, _ = strings.Cut(source, "\n")
	for i := range source {
		if column--; column == 0 {
			return source[:i], source[i:]
		}
	}
	return source, ""
}

// instead maps operators of other languages to their CEL equivalents.
var instead = map[string]string{
	"===": "==", "!==": "!=", "<>": "!=", "&": "&&", "|": "||", "and": "&&", "or": "||", "not": "!", "is": "==",
}

// functions lists the most common functions of CEL.
var functions = []string{"contains", "startsWith", "endsWith", "matches", "size", "has", "exists", "all", "filter", "map"}

const (
	operators = "the operators are == != < <= > >= && || ! in + - * / % ?:"
	signs     = "=<>!&|~^"
)

func (l *language) textFunctions() string {
	return fmt.Sprintf("to search in a string, use contains, startsWith, endsWith or matches, as in %s.contains(\"Queue\")", l.text)
}

// misread sets the message for a syntax error.
func (l *language) misread(e *ExpressionError, message, before, rest string) {
	sign := before[len(strings.TrimRight(before, signs)):]
	after := rest[:len(rest)-len(strings.TrimLeft(rest, signs))]
	word := firstWord(rest)
	fields := strings.Fields(before)
	switch {
	case strings.Contains(message, "'<EOF>'") || rest == "":
		e.Message = "unexpected end of expression"
	case after != "":
		e.Column -= len(sign)
		e.Message = l.describeOperator(sign + after)
	case len(fields) > 0 && strings.EqualFold(fields[len(fields)-1], "not"):
		last := fields[len(fields)-1]
		e.Column -= utf8.RuneCountInString(before[strings.LastIndex(before, last):])
		e.Message = fmt.Sprintf("unknown operator %s; write !", last)
	case instead[strings.ToLower(word)] != "":
		e.Message = fmt.Sprintf("unknown operator %s; write %s", word, instead[strings.ToLower(word)])
	case strings.EqualFold(word, "like") || slices.Contains(functions, word):
		e.Message = fmt.Sprintf("unknown operator %s; %s", word, l.textFunctions())
	case strings.HasPrefix(rest, `"`) || strings.HasPrefix(rest, "'"):
		e.Message = `missing operator between two values; ` + operators
		if strings.Contains(message, "token recognition") {
			e.Message = `unterminated string or invalid escape; write a backslash as \\`
		}
	case strings.HasPrefix(rest, "“") || strings.HasPrefix(rest, "”") || strings.HasPrefix(rest, "‘"):
		e.Message = `expected straight quotes, " or '`
	case strings.HasPrefix(rest, ","):
		e.Message = `unexpected ","; lists are written in square brackets`
	case word != "" || strings.HasPrefix(rest, "("):
		e.Message = fmt.Sprintf("unexpected %q; conditions are combined with && or ||", cmp.Or(word, "("))
	default:
		first, _ := utf8.DecodeRuneInString(rest)
		e.Message = fmt.Sprintf("unexpected %q", string(first))
	}
}

// describeOperator returns the message for an unknown or misplaced operator.
func (l *language) describeOperator(sign string) string {
	switch {
	case sign == "=":
		return "unknown operator =; to compare, write =="
	case instead[sign] != "":
		return fmt.Sprintf("unknown operator %s; write %s", sign, instead[sign])
	case strings.Contains(sign, "~"):
		return fmt.Sprintf("unknown operator %s; %s", sign, l.textFunctions())
	case slices.Contains(strings.Fields(operators), sign):
		return fmt.Sprintf("unexpected %q", sign)
	}
	return fmt.Sprintf("unknown operator %s; %s", sign, operators)
}

// meaning returns the message for a type or name error. follows reports whether later errors are follow-on errors.
func (l *language) meaning(message, rest string) (text string, follows bool) {
	switch {
	case strings.HasPrefix(message, "expression recursion limit exceeded") || message == "max recursion depth exceeded":
		return fmt.Sprintf("the expression is nested deeper than %d levels; each pair of brackets is one, and so "+
			"is each + or dot of a chain, but not && or ||", maxDepth), true
	case message == "invalid argument to has() macro":
		of := "tags"
		if name := firstWord(strings.TrimLeft(rest, "( ")); name != "" && !slices.Contains(l.names, name) {
			of = name
		}
		return fmt.Sprintf("has expects a property, as in has(%s.%s)", l.object, of), false
	case message == "argument must be a simple name":
		return fmt.Sprintf("the first argument must be a variable name for each element, as in %s.exists(d, d.contains(\"web\"))", l.list), true
	case strings.HasPrefix(message, "reserved identifier: "):
		return fmt.Sprintf("%q is a reserved word", strings.TrimPrefix(message, "reserved identifier: ")), true
	case strings.HasPrefix(message, "undeclared reference to "):
		return l.undeclared(quoted(message, 0), strings.HasPrefix(rest, "("))
	case strings.HasPrefix(message, "found no matching overload for "):
		return overload(quoted(message, 0), quoted(message, 1)), false
	case strings.HasSuffix(message, " does not support field selection"):
		return fmt.Sprintf("a %s has no fields, only functions, as in %s.contains(\"Queue\")", quoted(message, 0), l.text), false
	case strings.HasPrefix(message, "expected type 'bool' but found "):
		return "expected a bool, got a " + quoted(message, 1), false
	case strings.HasPrefix(message, "invalid ") && strings.HasSuffix(message, " literal"):
		return fmt.Sprintf("invalid number %q", firstWord(rest)), false
	}
	return message, false
}

// undeclared returns the message for an unknown variable or function. follows reports whether later errors are
// follow-on errors.
func (l *language) undeclared(name string, isFunction bool) (text string, follows bool) {
	if !isFunction {
		if near := suggest.Name(name, l.names); near != "" {
			return fmt.Sprintf("unknown variable %q; did you mean %q?", name, near), false
		}
		exist := "the variables are " + strings.Join(l.names, ", ")
		if len(l.names) == 1 {
			exist = "the only variable is " + l.names[0]
		}
		return fmt.Sprintf("unknown variable %q; put strings in quotes, write a property as %s.%s; %s", name, l.object, name, exist), false
	}
	switch near := suggest.Name(name, functions); {
	case name == "has":
		return fmt.Sprintf("has expects one property, as in has(%s.tags)", l.object), true
	case slices.Contains(functions, name):
		return fmt.Sprintf("wrong arguments for %s; write it as in %s.exists(d, d.contains(\"web\"))", name, l.list), true
	case near != "":
		return fmt.Sprintf("unknown function %q; did you mean %q?", name, near), true
	}
	return fmt.Sprintf("unknown function %q; common functions are %s", name, strings.Join(functions, ", ")), true
}

// overload returns the message for an operator or a function applied to the wrong types, such as "(string, int)".
func overload(name, types string) string {
	types = strings.ReplaceAll(types, "dyn", "any")
	operands := strings.Split(strings.Trim(types, "()"), ", ")
	switch operator := strings.Trim(name, "_@"); {
	case name == "_?_:_":
		return "the condition before ? must be a bool, and both values around : must have the same type"
	case name == "_[_]":
		return "no operator [] for " + strings.Join(operands, " and ")
	case operator != name && len(operands) == 2:
		return fmt.Sprintf("no operator %s for %s and %s", operator, operands[0], operands[1])
	case operator != name:
		return fmt.Sprintf("no %s for %s", operator, operands[0])
	}
	return fmt.Sprintf("no %s for %s", name, types)
}

// firstWord returns the word or number at the start of a text, or "".
func firstWord(text string) string {
	return text[:len(text)-len(strings.TrimLeftFunc(text, func(r rune) bool {
		return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
	}))]
}

// quoted returns the nth quoted part of a CEL message, counting from 0, or "".
func quoted(message string, n int) string {
	parts := strings.Split(message, "'")
	if 2*n+1 >= len(parts) {
		return ""
	}
	return parts[2*n+1]
}
