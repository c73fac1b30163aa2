package yaql

import (
	"math/rand/v2"
	"strings"
)

type generator struct {
	*rand.Rand
	functions []*Function
}

func (g *generator) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

// source generates an expression from the grammar alone, for tests of the parser.
func (g *generator) source(depth int) string {
	if depth <= 0 || g.chance(10) {
		return g.pick("1", "0.5", "12.25", "a", "b1", "$", "$x", "$1", "'s'", `"t\n"`, "`v\\``", "true", "false", "null", "$.a", "é", `'\x41\u00e9\101\q'`, "007", "f()", "9223372036854775808")
	}
	d := depth - 1
	space := g.pick("", " ")
	switch g.IntN(12) {
	case 0, 1, 2, 3, 4:
		op := g.pick(".", ".", "?.", "=~", "!~", "*", "/", " mod ", "+", "-", ">", "<", ">=", "<=", "=", "!=", " in ", " and ", " or ", "->", "->")
		return g.source(d) + space + op + space + g.source(d)
	case 5:
		return g.pick("-", "+", "not ", "-", "- ") + g.source(d)
	case 6:
		return "(" + g.source(d) + ")"
	case 7:
		return g.source(d) + space + "[" + g.arguments(d) + "]"
	case 8:
		return "[" + g.arguments(d) + "]"
	case 9:
		return "{" + g.arguments(d) + "}"
	case 10:
		return g.source(d) + space + "(" + g.arguments(d) + ")"
	}
	return g.pick("f", "g2", "not", "true", "__x") + "(" + g.arguments(d) + ")"
}

func (g *generator) arguments(depth int) string {
	var args []string
	for range g.IntN(4) {
		switch {
		case g.chance(8):
			args = append(args, "")
		case g.chance(20):
			args = append(args, g.pick("a", "k", "1", g.source(depth))+g.pick("=>", " => ")+g.source(depth))
		default:
			args = append(args, g.source(depth))
		}
	}
	return strings.Join(args, g.pick(",", ", "))
}

// mutate changes a few characters of s.
func (g *generator) mutate(s string) string {
	r := []rune(s)
	for range 1 + g.IntN(2) {
		i := g.IntN(len(r) + 1)
		switch g.IntN(3) {
		case 0:
			r = append(r[:i], r[min(i+1+g.IntN(2), len(r)):]...)
		case 1:
			piece := []rune(g.pick(".", "?", "=", ">", "-", "(", ")", "[", "]", "{", "}", ",", "'", "\\", "`", " ", "1", "a", "_", "$", "\n", "not", "=>", "5.", "\f", "٣", "½"))
			r = append(r[:i:i], append(piece, r[i:]...)...)
		default:
			j := g.IntN(len(r) + 1)
			r = append(r[:i:i], append([]rune{}, r[min(i, j):]...)...)
		}
	}
	return string(r)
}

// expression generates an expression that calls functions, mostly with arguments of valid types.
func (g *generator) expression(depth int) string {
	return g.typed(g.pick("int", "number", "string", "iterable", "sequence", "dict", "bool", "set", "any", "any"), depth)
}

// typed generates an expression that usually evaluates to a value of the given type.
func (g *generator) typed(typ string, depth int) string {
	if g.chance(6) {
		typ = g.pick("int", "number", "string", "sequence", "dict", "bool", "null", "iterator")
	}
	if depth > 0 && g.chance(45) {
		return g.call(depth - 1)
	}
	switch typ {
	case "int", "integer":
		return g.pick("0", "1", "2", "3", "-1", "5", "(-2)", "$.n", "true", "10000000000000000000000", "$.l[0]")
	case "number":
		return g.pick("0", "1", "1.0", "2.5", "(-3)", "0.1", "$.x", "$.n", "7", "1000000007", "9223372036854775807", "10000000000000000000000")
	case "string":
		return g.pick("''", "a", "'ab c'", "abc", "'b,a'", "$.s", "'éß'", "'  x '", "'aXbX'", "X")
	case "bool":
		return g.pick("true", "false", "$.t")
	case "null":
		return "null"
	case "iterator":
		return g.pick("$.l.select($)", "$.l.where($ > 1)", "$.o.a", "[].select($)")
	case "iterable", "nonset", "sequence", "set":
		if typ == "set" && g.has("set") {
			return g.pick("set()", "set(1, 2)", "set(a)", "$.l.toSet()")
		}
		return g.pick("[]", "[1]", "[3, 1, 2]", "[1, a, null]", "$.l", "$.o", "[[1, 2], [3]]", "$.m", "[b, a]", "$.l.select($)")
	case "dict":
		return g.pick("{}", "{a => 1}", "{1 => 2, b => [3]}", "$.d", "$.o[0]", "{a => null, true => 3}")
	case "lambda", "lambda.context":
		return g.pick("$", "$ > 1", "$1 + $2", "$.a", "true", "[$, 1]", "$ = a", "-$", "$.len()", "null", "$1", g.typed("any", depth-1))
	case "lambda.method", "expr":
		return g.pick("len()", "a", "any()")
	case "keyword", "keyword.expr":
		return g.pick("a", "b", "x")
	case "const.string":
		return g.pick("a", "'b'")
	case "pair", "rule":
		return g.pick("a", "1", "b", "true", "[1]") + " => " + g.typed("any", depth-1)
	case "context":
		return g.pick("let(a => 1)", "with(1, 2)", "[1, 2].unpack()")
	case "function":
		return g.pick("lambda($)", "lambda($ + 1)")
	case "datetime":
		return g.pick("datetime(2020, 2, 29)", "datetime('2001-02-03T04:05:06Z')", "datetime(2000, 1, 1, 12, 30, 15, 500)")
	case "timespan":
		return g.pick("timespan(days => 1)", "timespan(hours => -2, seconds => 3)", "timespan()")
	case "regex":
		return g.pick("regex('a+')", "regex('(b)|(c)')", "regex('A', ignoreCase => true)")
	}
	return g.typed(g.pick("int", "number", "string", "bool", "sequence", "dict", "null", "iterator"), depth)
}

func (g *generator) has(name string) bool {
	for _, f := range g.functions {
		if f.Name == name {
			return true
		}
	}
	return false
}

// call generates a call of a random function.
func (g *generator) call(depth int) string {
	f := g.functions[g.IntN(len(g.functions))]
	var args []string
	for i := range f.Params {
		p := &f.Params[i]
		if p.optional && g.chance(50) {
			if i+1 < len(f.Params) && f.Params[i+1].optional && g.chance(50) && !f.NoKeywords {
				args = append(args, f.Params[i+1].Name+" => "+g.typed(f.Params[i+1].typ.name, depth))
			}
			break
		}
		if i > 0 && !f.NoKeywords && g.chance(4) && f.Rest == nil {
			args = append(args, p.Name+" => "+g.typed(p.typ.name, depth))
			for _, p := range f.Params[i+1:] {
				args = append(args, p.Name+" => "+g.typed(p.typ.name, depth))
			}
			break
		}
		args = append(args, g.typed(p.typ.name, depth))
	}
	if f.Rest != nil {
		for range g.IntN(3) {
			args = append(args, g.typed(f.Rest.typ.name, depth))
		}
	}
	for _, p := range f.Keyword {
		if g.chance(50) {
			args = append(args, p.Name+" => "+g.typed(p.typ.name, depth))
		}
	}
	if f.Others != nil && g.chance(40) {
		args = append(args, g.pick("a", "b")+" => "+g.typed("any", depth))
	}
	return g.spell(f, args)
}

// spell formats a call or, for an operator, an expression with its operands.
func (g *generator) spell(f *Function, args []string) string {
	name := f.Name
	wrap := func(s string) string { return "(" + s + ")" }
	switch {
	case len(args) == 2 && (strings.HasPrefix(name, "#operator_") || name[0] == '*'):
		op := strings.TrimPrefix(name, "#operator_")
		op = strings.NewReplacer("*equal", "=", "*not_equal", "!=").Replace(op)
		if op == "." || op == "?." || op == "->" {
			return wrap(args[0]) + op + args[1]
		}
		return wrap(args[0]) + " " + op + " " + wrap(args[1])
	case strings.HasPrefix(name, "#unary_operator_"):
		return strings.TrimPrefix(name, "#unary_operator_") + " " + wrap(strings.Join(args, ", "))
	case name == "#indexer":
		return wrap(args[0]) + "[" + strings.Join(args[1:], ", ") + "]"
	case name[0] == '#' || name[0] == '*':
		return wrap(strings.Join(args, " "))
	case f.Method && len(args) > 0 && (!f.Plain || g.chance(50)):
		return wrap(args[0]) + "." + name + "(" + strings.Join(args[1:], ", ") + ")"
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}
