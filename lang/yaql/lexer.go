package yaql

import (
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokEnd      tokenKind = iota
	tokConstant           // string, number, true, false, null
	tokKeyword            // a name
	tokFunction           // a name directly followed by a parenthesis
	tokVariable           // $name
	tokSymbol             // an operator or a bracket
)

type token struct {
	kind  tokenKind
	pos   int
	text  string // name, symbol, or source of a constant
	value any    // of a constant
}

func (t token) describe() string {
	switch t.kind {
	case tokEnd:
		return "end of expression"
	case tokFunction:
		return strconv.Quote(t.text + "(")
	default:
		return strconv.Quote(t.text)
	}
}

// symbols lists operators and brackets. Longer ones precede their prefixes.
var symbols = []string{
	"?.", "=~", "!~", "->", "<=", ">=", "!=", "=>",
	".", "*", "+", "-", "[", "{", "/", ">", "<", "=", "(", ")", "]", "}", ",",
}

// wordOperators is the set of operators that look like names.
var wordOperators = map[string]bool{"mod": true, "in": true, "not": true, "and": true, "or": true}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_' }

// isWordStart reports whether a name may start with r. Numerals such as ½ are allowed, but decimal digits are not.
func isWordStart(r rune) bool { return isWord(r) && !unicode.IsDigit(r) }

type lexer struct {
	src   string
	pos   int
	types bool // type names are enabled
}

func (l *lexer) fail(pos int, format string, args ...any) error {
	return at(Errorf(Syntax, format, args...), l.src, pos)
}

func (l *lexer) peek() rune {
	r, _ := utf8.DecodeRuneInString(l.src[l.pos:])
	return r
}

// span consumes and returns the longest run of characters for which ok returns true.
func (l *lexer) span(ok func(rune) bool) string {
	start := l.pos
	for l.pos < len(l.src) {
		r, n := utf8.DecodeRuneInString(l.src[l.pos:])
		if !ok(r) {
			break
		}
		l.pos += n
	}
	return l.src[start:l.pos]
}

func (l *lexer) next() (token, error) {
	l.span(func(r rune) bool { return r == ' ' || r == '\t' || r == '\r' || r == '\n' })
	start := l.pos
	if start == len(l.src) {
		return token{kind: tokEnd, pos: start}, nil
	}
	switch r := l.peek(); {
	case r == '$':
		l.pos++
		l.span(isWord)
		return token{kind: tokVariable, pos: start, text: l.src[start:l.pos]}, nil
	case unicode.IsDigit(r):
		return l.number()
	case isWordStart(r):
		name := l.span(isWord)
		switch {
		case strings.HasPrefix(l.src[l.pos:], "("):
			l.pos++
			return token{kind: tokFunction, pos: start, text: name}, nil
		case strings.HasPrefix(name, "__"):
			return token{}, l.fail(start, "invalid name %q: names that start with __ are reserved", name)
		case wordOperators[name], name == "is" && l.types:
			return token{kind: tokSymbol, pos: start, text: name}, nil
		case name == "true", name == "false":
			return token{kind: tokConstant, pos: start, text: name, value: name == "true"}, nil
		case name == "null":
			return token{kind: tokConstant, pos: start, text: name}, nil
		}
		return token{kind: tokKeyword, pos: start, text: name}, nil
	case r == '\'' || r == '"' || r == '`':
		return l.quoted(byte(r))
	}
	if l.types && l.peek() == ':' {
		l.pos++
		return token{kind: tokSymbol, pos: start, text: ":"}, nil
	}
	for _, s := range symbols {
		if strings.HasPrefix(l.src[start:], s) {
			l.pos += len(s)
			return token{kind: tokSymbol, pos: start, text: s}, nil
		}
	}
	return token{}, l.fail(start, "unexpected character %q", l.peek())
}

// number reads digits with an optional fraction. A point is an operator if it is not followed by digits or if the
// digits are followed by a name.
func (l *lexer) number() (token, error) {
	start := l.pos
	l.span(unicode.IsDigit)
	ends := func() bool { return l.pos == len(l.src) || !isWord(l.peek()) }
	fraction := false
	if whole := l.pos; ends() && strings.HasPrefix(l.src[whole:], ".") {
		l.pos++
		fraction = l.span(unicode.IsDigit) != "" && ends()
		if !fraction {
			l.pos = whole
		}
	}
	if !ends() {
		l.span(isWord)
		return token{}, l.fail(start, "invalid number %q", l.src[start:l.pos])
	}
	text := l.src[start:l.pos]
	digits, err := asciiDigits(text)
	if err != nil {
		return token{}, l.fail(start, "%s", err)
	}
	t := token{kind: tokConstant, pos: start, text: text}
	if fraction {
		// A literal that is out of range becomes infinity.
		t.value, _ = strconv.ParseFloat(digits, 64)
		return t, nil
	}
	n, _ := new(big.Int).SetString(digits, 10)
	t.value = normInt(n)
	return t, nil
}

// quoted reads a string. Strings in backquotes are verbatim, except for escaped backquotes.
func (l *lexer) quoted(quote byte) (token, error) {
	start := l.pos
	for l.pos++; l.pos < len(l.src) && l.src[l.pos] != quote; l.pos++ {
		if l.src[l.pos] != '\\' {
			continue
		}
		if l.pos++; l.pos < len(l.src) && l.src[l.pos] == '\n' {
			return token{}, l.fail(l.pos-1, `unexpected line break after \`)
		}
	}
	if l.pos >= len(l.src) {
		return token{}, l.fail(start, "missing closing %c", quote)
	}
	body := l.src[start+1 : l.pos]
	l.pos++
	t := token{kind: tokConstant, pos: start, text: l.src[start:l.pos]}
	if quote == '`' {
		t.value = strings.ReplaceAll(body, "\\`", "`")
		return t, nil
	}
	var err error
	t.value, err = l.unescape(body, start+1)
	return t, err
}

var simpleEscapes = map[byte]byte{
	'\\': '\\', '\'': '\'', '"': '"', 'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v',
}

var hexEscapes = map[byte]int{'x': 2, 'u': 4, 'U': 8}

// unescape replaces the escape sequences in s, which starts at offset pos. Unknown sequences are kept.
func (l *lexer) unescape(s string, pos int) (string, error) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			i++
			continue
		}
		c := s[i+1]
		rest := s[i+2:]
		switch {
		case simpleEscapes[c] != 0:
			b.WriteByte(simpleEscapes[c])
			i += 2
		case hexEscapes[c] != 0 && longEnough(rest, hexEscapes[c]):
			n := hexEscapes[c]
			v, err := strconv.ParseUint(rest[:min(n, len(rest))], 16, 32)
			if err != nil || v > unicode.MaxRune || 0xD800 <= v && v < 0xE000 || len(rest) < n {
				return "", l.fail(pos+i, `invalid escape \%c: it takes %d hexadecimal digits of a Unicode character`, c, n)
			}
			b.WriteRune(rune(v))
			i += 2 + n
		case '0' <= c && c <= '7':
			j, v := i+1, rune(0)
			for ; j < min(i+4, len(s)) && '0' <= s[j] && s[j] <= '7'; j++ {
				v = v<<3 | rune(s[j]-'0')
			}
			b.WriteRune(v)
			i = j
		case c == 'N' && len(rest) > 2 && rest[0] == '{' && strings.IndexByte(rest, '}') > 1:
			return "", l.fail(pos+i, `character names are not supported: write \u and four hexadecimal digits`)
		default:
			b.WriteByte('\\')
			i++
		}
	}
	return b.String(), nil
}

// longEnough reports whether the first line of s contains at least n characters.
func longEnough(s string, n int) bool {
	for _, r := range s {
		if n == 0 || r == '\n' {
			break
		}
		n--
	}
	return n == 0
}
