package convert

import (
	"cmp"
	"slices"
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
		word = replaced(word, '-', func(r rune) bool {
			return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-' || r == '_'
		})
		if word = strings.TrimLeft(word, "-_0123456789"); word != "" {
			words = append(words, word)
		}
	}
	return cmp.Or(strings.Join(words, "/"), otherwise)
}

func moduleName(s string) string {
	s = replaced(strings.NewReplacer(":", "/", `\`, "/").Replace(s), '-', isPlain)
	words := slices.DeleteFunc(strings.Split(s, "/"), func(word string) bool {
		return word == "" || word == "." || word == ".."
	})
	return cmp.Or(strings.Join(words, "/"), "index")
}

func identifier(s string) string {
	s = replaced(s, '_', func(r rune) bool {
		return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
	})
	if r, _ := utf8.DecodeRuneInString(s); s == "" || unicode.IsDigit(r) {
		s = "_" + s
	}
	return s
}

// environmentName makes an environment's name of a text.
func environmentName(s string) string {
	return cmp.Or(replaced(s, '-', func(r rune) bool { return r != ':' && isPlain(r) }), "default")
}

// resourceName makes the last part of a URN of a text.
func resourceName(s string) string {
	if urn.CheckName(s) == nil {
		return s
	}
	return cmp.Or(replaced(s, '-', func(r rune) bool { return !unicode.IsControl(r) }), "unnamed")
}

// replaced is a text with another character in place of each that may not stay.
func replaced(s string, by rune, stays func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if stays(r) {
			return r
		}
		return by
	}, s)
}

func isPlain(r rune) bool { return !unicode.IsSpace(r) && unicode.IsPrint(r) && r != utf8.RuneError }

// shortType drops the file from a token: aws:ec2/vpc:VPC becomes aws:ec2:VPC. Modules whose last part is not that of the
// type stay.
func shortType(t tokens.Type) tokens.Type {
	module := t.Module()
	i := strings.LastIndexByte(module, '/')
	if i < 0 || !strings.EqualFold(module[i+1:], t.Name()) {
		return t
	}
	if short, err := tokens.Format(t.Package(), module[:i], t.Name()); err == nil {
		return short
	}
	return t
}
