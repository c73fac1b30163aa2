package compile

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// patternError reports whether a pattern means the same in Go and in JavaScript with the flag u. If not, it returns the
// problem and a suggested replacement. The problem is "" for valid patterns.
func patternError(pattern string) (problem, advice string) {
	s := patternScanner{rest: pattern}
	s.grouped.WriteByte('(')
	for s.rest != "" {
		s.element()
	}
	if s.problem != "" {
		return s.problem, s.advice
	}
	_, err := regexp.Compile(pattern)
	if err == nil && isAmbiguous(s.grouped.String()+")") {
		return "the pattern backtracks exponentially in JavaScript", "rewrite it so that repeated parts match a string in " +
			"only one way, as in ^a+$ instead of ^(a+)+$"
	}
	var invalid *syntax.Error
	if errors.As(err, &invalid) {
		advice = "correct it; the pattern must be valid in both RE2 and JavaScript"
		if invalid.Code == syntax.ErrInvalidRepeatSize {
			advice = "repeat at most 1000 times, with the smaller number first"
		}
		return strings.TrimSuffix(invalid.Code.String()+" in "+invalid.Expr, " in "), advice
	}
	return "", ""
}

// patternScanner scans a pattern, accepting only the common subset of both languages. Package regexp rejects patterns
// that are invalid in both.
type patternScanner struct {
	rest string
	// grouped is the pattern scanned so far, with an extra group around each alternative and each group. Without these
	// groups, package syntax would merge alternatives that JavaScript tries one by one. It starts with an extra
	// parenthesis.
	grouped strings.Builder
	// repeats is set if the previous element can be repeated.
	repeats         bool
	problem, advice string
}

// reject records the first problem and stops the scan.
func (s *patternScanner) reject(what, advice string) {
	if s.problem == "" {
		s.problem, s.advice = what+" means different things in Go and JavaScript", advice
	}
	s.rest = ""
}

// take accepts the next n bytes of the pattern.
func (s *patternScanner) take(n int) {
	s.grouped.WriteString(s.rest[:n])
	s.rest = s.rest[n:]
}

var (
	repetition = regexp.MustCompile(`^(?:[*+?]|\{\d+(?:,\d*)?\})\??`)
	hexEscape  = regexp.MustCompile(`^\\x[0-9A-Fa-f]{2}`)
	category   = regexp.MustCompile(`^\\[pP]\{(\w+)\}`)
	groupHead  = regexp.MustCompile(`^\(\?(?:P?<?[=!]|P?<\w*>|\w*[:)]?|[^:)]*[:)]?)`)
)

// element scans one element outside of character classes.
func (s *patternScanner) element() {
	if r := repetition.FindString(s.rest); r != "" {
		if !s.repeats {
			s.reject(r+" with nothing to repeat", `use \`+r[:1]+" for the literal character")
			return
		}
		s.repeats = false
		s.take(len(r))
		return
	}
	c := s.rest[0]
	s.repeats = !strings.ContainsRune("^$(|", rune(c))
	switch c {
	case '\\':
		s.escape(false)
	case '[':
		s.class()
	case '.':
		s.reject(".", `use [^\n], which matches any character but a newline in both`)
	case '{', '}', ']':
		s.reject(string(c)+" without a backslash", `use \`+string(c))
	case '(':
		s.grouped.WriteByte('(')
		s.group()
	case ')':
		s.grouped.WriteByte(')')
		s.take(1)
	case '|':
		s.grouped.WriteString(")|(")
		s.rest = s.rest[1:]
	default:
		_, size := utf8.DecodeRuneInString(s.rest)
		s.take(size)
	}
}

// group scans the start of a group.
func (s *patternScanner) group() {
	head := groupHead.FindString(s.rest)
	switch {
	case head == "" || head == "(?:":
		s.take(max(len(head), 1))
	case strings.ContainsAny(head, "=!"):
		s.reject(head, "rewrite it without lookaround, or check the value in the provider's Check method")
	case strings.Contains(head, "<"):
		s.reject(head, "use (; group names have no effect")
	default:
		s.reject(head, "rewrite it without flags, as in [Aa]")
	}
}

// class scans a character class.
func (s *patternScanner) class() {
	s.take(len(s.rest) - len(strings.TrimPrefix(s.rest[1:], "^")))
	if strings.HasPrefix(s.rest, "]") {
		s.reject("] at the beginning of a class", `use \]`)
	}
	for single := false; s.rest != "" && s.rest[0] != ']'; {
		hyphen := s.rest[0] == '-' && !strings.HasPrefix(s.rest, "-]")
		switch {
		case hyphen && single:
			s.take(1)
			if s.rest != "" && !s.member() && s.problem == "" {
				s.reject("a range that ends in a class", `use \- for a hyphen`)
			}
			single = false
			if strings.HasPrefix(s.rest, "-") && !strings.HasPrefix(s.rest, "-]") {
				s.reject("- after a range", `use \- for a hyphen`)
			}
		default:
			single = s.member()
			if !single && strings.HasPrefix(s.rest, "-") && !strings.HasPrefix(s.rest, "-]") {
				s.reject("- after a class", `use \- for a hyphen`)
			}
		}
	}
	if s.rest != "" {
		s.take(1)
	}
}

// member scans a member of a class and reports whether it matches exactly one character.
func (s *patternScanner) member() bool {
	switch s.rest[0] {
	case '\\':
		return s.escape(true)
	case '[':
		s.reject("[ in a class", `use \[, and ranges such as a-z instead of [:alpha:]`)
	}
	_, size := utf8.DecodeRuneInString(s.rest)
	s.take(size)
	return true
}

// instead maps escapes that are unsupported or differ between the languages to suggestions.
var instead = map[byte]string{
	's': `use [\t\n\f\r ]`, 'S': `use [^\t\n\f\r ]`, 'A': "use ^", 'z': "use $", 'Z': "use $",
	'Q': "escape each operator with a backslash", 'E': "escape each operator with a backslash",
	'a': `use \x07`, 'b': `use \x08`, 'e': `use \x1B`, 'C': `use [^\n]`, 'x': `use the character itself, or \x and two hex digits`,
	'u': "use the character itself",
	'p': "list the characters, as in [A-Za-zÀ-ÿ]; 'cidlc explain InvalidPattern' lists the categories that are " +
		"the same in all versions of Unicode",
	'B': `use \b or \W`, 'k': "repeat the group's expression", 'c': `use \x and two hex digits`,
}

// escape scans an escape sequence and reports whether it matches exactly one character.
func (s *patternScanner) escape(inClass bool) bool {
	if len(s.rest) == 1 {
		s.take(1) // rejected by package regexp
		return true
	}
	_, size := utf8.DecodeRuneInString(s.rest[1:])
	c := s.rest[1]
	switch named := category.FindStringSubmatch(s.rest); {
	case strings.IndexByte(`^$\.*+?()[]{}|/tnrfv`, c) >= 0, inClass && c == '-':
		s.take(2)
		return true
	case hexEscape.MatchString(s.rest):
		s.take(4)
		return true
	case strings.IndexByte("dDwW", c) >= 0:
		s.take(2)
	case c == 'b' && !inClass:
		s.repeats = false
		s.take(2)
	case len(named) > 0 && slices.Contains(categories, named[1]):
		s.take(len(named[0]))
	default:
		what, advice := s.rest[:1+size], instead[c]
		switch {
		case c == 'P':
			advice = instead['p']
		case '1' <= c && c <= '9':
			advice = instead['k']
		case c == '0':
			advice = instead['x']
		case advice == "":
			advice = "remove the backslash"
		}
		s.reject(what, advice)
	}
	return false
}

// categories lists the Unicode categories that have the same members in Go and in every Node release since 20. Most
// others, such as L, grow with each version of Unicode.
var categories = strings.Fields("Lt Me No Pc Ps Pe Pi Pf Sk Z Zs Zl Zp Cc Cf")
