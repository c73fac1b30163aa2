package convert

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// token makes a type token of a type that may be none, and says whether it is another one.
func token(s string) (t tokens.Type, changed bool) {
	if t, err := tokens.Parse(s); err == nil {
		return t, false
	}
	// The first part is the package and the last the name, whatever is between.
	pkg, rest, _ := strings.Cut(s, ":")
	module, name := "index", rest
	if i := strings.LastIndexByte(rest, ':'); i >= 0 {
		module, name = rest[:i], rest[i+1:]
	}
	t, err := tokens.Format(packageName(pkg, "unknown"), moduleName(module), identifier(name))
	if err != nil { // It cannot be, since each part is right by itself.
		return "unknown:index:Unknown", true
	}
	return t, true
}

// packageName makes a package's name of a text.
func packageName(s, otherwise string) string {
	if tokens.CheckPackage(s) == nil {
		return s
	}
	var words []string
	for word := range strings.SplitSeq(strings.ToLower(s), "/") {
		word = strings.Map(func(r rune) rune {
			if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-' || r == '_' {
				return r
			}
			return '-'
		}, word)
		if word = strings.TrimLeft(word, "-_0123456789"); word != "" {
			words = append(words, word)
		}
	}
	if len(words) == 0 {
		return otherwise
	}
	return strings.Join(words, "/")
}

func moduleName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == ':' || r == '\\' {
			return '/'
		}
		if unicode.IsSpace(r) || !unicode.IsPrint(r) || r == utf8.RuneError {
			return '-'
		}
		return r
	}, s)
	var words []string
	for word := range strings.SplitSeq(s, "/") {
		if word != "" && word != "." && word != ".." {
			words = append(words, word)
		}
	}
	if len(words) == 0 {
		return "index"
	}
	return strings.Join(words, "/")
}

func identifier(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, s)
	if r, _ := utf8.DecodeRuneInString(s); s == "" || unicode.IsDigit(r) {
		s = "_" + s
	}
	return s
}

// environmentName makes an environment's name of a text.
func environmentName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == ':' || unicode.IsSpace(r) || !unicode.IsPrint(r) || r == utf8.RuneError {
			return '-'
		}
		return r
	}, s)
	if s == "" {
		return "default"
	}
	return s
}

// resourceName makes the last part of a URN of a text.
func resourceName(s string) string {
	if urn.CheckName(s) == nil {
		return s
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '-'
		}
		return r
	}, s)
	if s == "" {
		return "unnamed"
	}
	return s
}

// shortType drops the file from a token: aws:ec2/vpc:VPC becomes aws:ec2:VPC. Modules whose last part is not that of the
// type stay.
func shortType(t tokens.Type) tokens.Type {
	module := t.Module()
	i := strings.LastIndexByte(module, '/')
	if i < 0 || !strings.EqualFold(module[i+1:], t.Name()) {
		return t
	}
	short, err := tokens.Format(t.Package(), module[:i], t.Name())
	if err != nil {
		return t
	}
	return short
}
