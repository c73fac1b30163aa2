package lumigl

import (
	"errors"
	"strconv"
	"strings"
)

func (p *parser) number(v Value) Value {
	rest := p.src[p.pos:]
	n := numberEnd(rest)
	if n == 0 || n < len(rest) && wordEnd(rest[n:]) > 0 {
		return p.word(v)
	}
	p.pos += n
	v.kind, v.text = Number, rest[:n]
	return v
}

// isNumber reports whether a word is a number that Go accepts but JSON does not: hexadecimal, with digit separators,
// infinity, or NaN.
func isNumber(word string) bool {
	_, notFloat := strconv.ParseFloat(word, 64)
	_, notInt := strconv.ParseInt(word, 0, 64)
	return !errors.Is(notFloat, strconv.ErrSyntax) || !errors.Is(notInt, strconv.ErrSyntax)
}

// word parses true, false, or null. It reports any other word.
func (p *parser) word(v Value) Value {
	start := p.pos
	if quotes := otherQuotes(p.src[start:]); quotes != "" {
		v.kind, v.text = Text, p.otherwiseQuoted(quotes)
		return v
	}
	v.kind = Null
	if p.elision() {
		return v
	}
	p.pos += wordEnd(p.src[start:])
	switch word := p.src[start:p.pos]; word {
	case "true", "false":
		v.kind, v.text = Bool, word
	case "null":
	case "":
		return Value{}
	default:
		return p.badWord(start, word, v)
	}
	return v
}

// elision skips and reports an ellipsis. It returns false if there is none.
func (p *parser) elision() bool {
	rest := p.src[p.pos:]
	if !strings.HasPrefix(rest, "...") && !strings.HasPrefix(rest, "…") {
		return false
	}
	start := p.pos
	p.pos += len(rest) - len(strings.TrimLeft(rest, ".…"))
	p.elided = true
	p.fault(ElisionFault, start, p.pos, "elided content; a file must be complete")
	return true
}

// spellings maps literals of other languages, in lower case, to their JSON equivalents.
var spellings = map[string]string{
	"true": "true", "false": "false", "null": "null", "none": "null", "nil": "null", "undefined": "null",
}

// badWord reports a word that is not JSON. The parser stops if there is no fix and the word may be part of something
// longer. A word at the top level is not consumed, since the file may be in another format such as YAML.
func (p *parser) badWord(start int, word string, v Value) Value {
	if right := spellings[strings.ToLower(word)]; right != "" {
		if right != "null" {
			v.kind, v.text = Bool, right
		}
		p.fix(LiteralFault, start, p.pos, right, "write "+right, "%s is not JSON; write %s", word, right)
		return v
	}
	f := Fault{Code: LiteralFault, Offset: start, End: p.pos, Message: shown(word) + " is not JSON; is it a string without quotes?"}
	switch {
	case isNumber(word):
		f.Code, f.Message = NumberFault, shown(word)+" is not a JSON number; JSON has only decimal ones such as -12, 0.5 or 1e3"
	case len(p.path) == 0:
		p.pos = start
		return Value{}
	}
	if p.settled(",]}") {
		p.report(f)
	} else {
		p.fail(f)
	}
	return v
}

// settled reports whether the current token is complete: followed by one of the characters in by, a comment, or the end
// of the line.
func (p *parser) settled(by string) bool {
	rest := strings.TrimLeft(p.src[p.pos:], " \t")
	return rest == "" || strings.IndexByte(by, rest[0]) >= 0 || strings.IndexByte("\r\n#", rest[0]) >= 0 ||
		strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "/*")
}
