package condition

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Parse parses a condition. Errors start with the line and the column.
func Parse(source string) (*Condition, error) {
	p := &parser{Condition: Condition{source: source}}
	p.next()
	if p.root = p.expression(0); p.token != "" {
		p.fail(p.pos, "unexpected %s", p.token)
	}
	if p.err != nil {
		return nil, p.err
	}
	return &p.Condition, nil
}

type parser struct {
	Condition
	// token is the current token, which starts at pos and ends at end. It is "" at the end of the condition and after
	// an error.
	token    string
	pos, end int
	size     int // number of operators and parentheses
	err      error
}

var (
	space    = regexp.MustCompile(`^\s*`)
	path     = regexp.MustCompile(`^[A-Za-z_]\w*:[\w-]+(\.[\w-]+)*\??$`)
	anyToken = regexp.MustCompile(`^(?:\w+:[\w-]+(?:\.[\w-]+)*\??|-?\d+|'[^']*'|"[^"]*"|==|!=|[()]|\w+)`)
	// powers lists the binding powers of operators.
	powers = map[string]int{"or": 1, "and": 2, "==": 3, "!=": 3, "in": 4}
)

// maxSize limits the number of operators and parentheses, and thereby the depth of recursion.
const maxSize = 1000

// fail records the first error and ends parsing.
func (p *parser) fail(pos int, format string, args ...any) {
	if p.err == nil {
		p.err = p.Condition.fail(pos, format, args...)
	}
	p.token = ""
}

func (p *parser) next() {
	p.pos = p.end + len(space.FindString(p.source[p.end:]))
	rest := p.source[p.pos:]
	p.token = anyToken.FindString(rest)
	if p.end = p.pos + len(p.token); p.token == "" && rest != "" {
		_, size := utf8.DecodeRuneInString(rest)
		p.fail(p.pos, "unexpected %q", rest[:size])
	}
}

// operator returns a node for the current token and moves to the next one.
func (p *parser) operator(args ...*node) *node {
	n := &node{op: p.token, pos: p.pos, args: args}
	p.next()
	if p.size++; p.size > maxSize {
		p.fail(n.pos, "more than %d operators and parentheses", maxSize)
	}
	return n
}

// expression parses operators that bind tighter than least, and their operands.
func (p *parser) expression(least int) *node {
	left := p.operand()
	for powers[p.token] > least {
		left = p.operator(left)
		left.args = append(left.args, p.expression(powers[left.op]))
	}
	return left
}

func (p *parser) operand() *node {
	switch p.token {
	case "":
		p.fail(p.pos, "unexpected end of condition")
		return nil
	case "not":
		n := p.operator()
		n.args = append(n.args, p.expression(powers["in"]))
		return n
	case "(":
		p.operator()
		n := p.expression(0)
		if p.token != ")" {
			p.fail(p.pos, "expected )")
		} else {
			p.next()
		}
		return n
	}
	n := &node{pos: p.pos}
	switch token := p.token; {
	case token == "true", token == "false":
		n.value = token == "true"
	case token == "null":
	case token[0] == '\'' || token[0] == '"':
		n.value = token[1 : len(token)-1]
	case path.MatchString(token):
		n.op, n.value = "path", token
	default:
		number, err := strconv.ParseInt(token, 10, 64)
		switch {
		case err == nil:
			n.value = number
		case strings.Trim(token, "-0123456789") == "":
			p.fail(p.pos, "%s is out of range", token)
		default:
			p.fail(p.pos, "unexpected %s", token)
		}
	}
	if p.err == nil {
		p.next()
	}
	return n
}
