package yaql

import (
	"cmp"
)

// maxHeight limits the nesting of expressions to avoid stack overflow.
const maxHeight = 1000

// maxMappings limits the number of keyword arguments of a call.
const maxMappings = 1000

type operator struct {
	power int
	right bool   // right-associative
	name  string // name of the function; defaults to #operator_ and the symbol
}

// Precedence of other operators.
const (
	powerType  = 24
	powerIndex = 20
	powerSign  = 18
	powerNot   = 8
	powerCall  = 1 // binds more weakly than any operator: 1 + $f(2) calls the sum
)

var binaryOperators = map[string]operator{
	":": {power: powerType}, // type names only
	".": {power: 22}, "?.": {power: 22},
	"=~": {power: 16}, "!~": {power: 16},
	"*": {power: 14}, "/": {power: 14}, "mod": {power: 14},
	"+": {power: 12}, "-": {power: 12},
	">": {power: 10}, "<": {power: 10}, ">=": {power: 10}, "<=": {power: 10}, "in": {power: 10}, "is": {power: 10},
	"!=":  {power: 10, name: "*not_equal"},
	"=":   {power: 10, name: "*equal"},
	"and": {power: 6},
	"or":  {power: 4},
	"->":  {power: 2, right: true},
}

var unaryOperators = map[string]operator{
	"+":   {power: powerSign, name: "#unary_operator_+"},
	"-":   {power: powerSign, name: "#unary_operator_-"},
	"not": {power: powerNot, name: "#unary_operator_not"},
	":":   {power: powerType, name: "#unary_operator_:"},
}

type parser struct {
	lexer
	tok       token
	delegates bool
	height    int
}

func parse(src string, opts *Options) (node, error) {
	p := &parser{lexer: lexer{src: src, types: opts.TypeNames}, delegates: opts.Delegates}
	if err := p.advance(); err != nil {
		return nil, err
	}
	n, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if p.tok.kind != tokEnd {
		return nil, p.unexpected()
	}
	return n, nil
}

func (p *parser) advance() (err error) {
	p.tok, err = p.next()
	return err
}

func (p *parser) unexpected() error { return p.fail(p.tok.pos, "unexpected %s", p.tok.describe()) }

func (p *parser) is(symbol string) bool { return p.tok.kind == tokSymbol && p.tok.text == symbol }

// take consumes symbol. It returns an error if the next token is not symbol.
func (p *parser) take(symbol string) error {
	if !p.is(symbol) {
		return p.unexpected()
	}
	return p.advance()
}

// value parses an expression whose operators bind more tightly than power.
func (p *parser) value(power int) (node, error) {
	if p.height++; p.height > maxHeight {
		return nil, at(Errorf(Limit, "expression nested deeper than %d levels", maxHeight), p.src, p.tok.pos)
	}
	entered := p.height
	defer func() { p.height = entered - 1 }()
	left, err := p.operand()
	for err == nil && p.tok.kind == tokSymbol {
		pos, symbol := p.tok.pos, p.tok.text
		op, binary := binaryOperators[symbol]
		switch {
		case binary && op.power > power:
			limit := op.power
			if op.right {
				limit--
			}
			left, err = p.binary(pos, cmp.Or(op.name, "#operator_"+symbol), symbol, limit, left)
		case symbol == "[" && powerIndex > power:
			left, err = p.call(pos, formIndex, "#indexer", "]", left)
		case symbol == "(" && powerCall > power && p.delegates:
			left, err = p.call(pos, formCall, "#call", ")", left)
		default:
			return left, nil
		}
		// Chains nest to the left. Parsing them does not recurse, but walking the tree does.
		if p.height++; err == nil && p.height > maxHeight {
			return nil, at(Errorf(Limit, "expression nested deeper than %d levels", maxHeight), p.src, pos)
		}
	}
	return left, err
}

func (p *parser) operand() (node, error) {
	t := p.tok
	if err := p.advance(); err != nil {
		return nil, err
	}
	switch t.kind {
	case tokConstant:
		return &constant{position: position(t.pos), value: t.value}, nil
	case tokKeyword:
		return &constant{position: position(t.pos), value: t.text, keyword: true}, nil
	case tokVariable:
		return &variable{position: position(t.pos), name: variableName(t.text), text: t.text}, nil
	case tokFunction:
		args, err := p.arguments(")")
		return newInvocation(t.pos, formFunction, t.text, "", args...), err
	case tokSymbol:
		switch t.text {
		case "(":
			x, err := p.value(0)
			if err != nil {
				return nil, err
			}
			return &paren{position: position(t.pos), x: x}, p.take(")")
		case "[":
			args, err := p.arguments("]")
			return newInvocation(t.pos, formList, "#list", "", args...), err
		case "{":
			args, err := p.arguments("}")
			return newInvocation(t.pos, formMap, "#map", "", args...), err
		}
		if op, ok := unaryOperators[t.text]; ok {
			x, err := p.value(op.power)
			return newInvocation(t.pos, formUnary, op.name, t.text, x), err
		}
	}
	p.tok = t
	return nil, p.unexpected()
}

// binary parses the right operand of an operator whose left operand is left.
func (p *parser) binary(pos int, name, symbol string, power int, left node) (node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	right, err := p.value(power)
	return newInvocation(pos, formBinary, name, symbol, left, right), err
}

// call parses the arguments of an index expression or a call of left.
func (p *parser) call(pos int, f form, name, closing string, left node) (node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	args, err := p.arguments(closing)
	return newInvocation(pos, f, name, "", append([]node{left}, args...)...), err
}

// arguments parses arguments up to the closing bracket. Positional arguments other than the last may be omitted, as in
// f(1,,2). Mappings must follow all positional arguments, with at most one omitted argument in between.
func (p *parser) arguments(closing string) ([]node, error) {
	var args []node
	if p.is(closing) {
		return args, p.advance()
	}
	mappings, left := 0, 0 // left counts the arguments omitted since the last given one
	for {
		if p.is(",") && mappings == 0 {
			args = append(args, &missing{position(p.tok.pos)})
			left++
			if err := p.advance(); err != nil {
				return nil, err
			}
			continue
		}
		x, err := p.value(0)
		if err != nil {
			return nil, err
		}
		if p.is("=>") && (left == 0 || left == 1 && len(args) > 1) {
			pos := p.tok.pos
			if err := p.advance(); err != nil {
				return nil, err
			}
			value, err := p.value(0)
			if err != nil {
				return nil, err
			}
			x = &mapping{position(pos), x, value}
			if mappings++; mappings > maxMappings && closing == ")" {
				return nil, at(Errorf(Limit, "more than %d keyword arguments", maxMappings), p.src, pos)
			}
		} else if mappings > 0 && !p.is("=>") {
			return nil, p.fail(x.offset(), "positional argument after a keyword argument")
		}
		args, left = append(args, x), 0
		if !p.is(",") {
			return args, p.take(closing)
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
}
