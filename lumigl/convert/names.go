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

// token converts a type to a type token. changed reports whether the result differs from s.
func token(s string) (t tokens.Type, changed bool) {
	if t, err := tokens.Parse(s); err == nil {
		return t, false
	}
	// The first part is the package, and the last part is the name.
	pkg, rest, _ := strings.Cut(s, ":")
	module, name := "index", rest
	if i := strings.LastIndexByte(rest, ':'); i >= 0 {
		module, name = rest[:i], rest[i+1:]
	}
	t, err := tokens.Format(packageName(pkg, "unknown"), moduleName(module), identifier(name))
	if err != nil { // impossible, since each part is valid
		return "unknown:index:Unknown", true
	}
	return t, true
}

// packageName converts a string to a package name. It returns otherwise if no valid characters remain.
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

func environmentName(s string) string {
	return cmp.Or(replaced(s, '-', func(r rune) bool { return r != ':' && isPlain(r) }), "default")
}

// resourceName converts a string to a name valid in a URN.
func resourceName(s string) string {
	if urn.CheckName(s) == nil {
		return s
	}
	return cmp.Or(replaced(s, '-', func(r rune) bool { return !unicode.IsControl(r) }), "unnamed")
}

// replaced replaces with by each character for which stays returns false.
func replaced(s string, by rune, stays func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if stays(r) {
			return r
		}
		return by
	}, s)
}

func isPlain(r rune) bool { return !unicode.IsSpace(r) && unicode.IsPrint(r) && r != utf8.RuneError }

// shortType removes the file name from a token: aws:ec2/vpc:VPC becomes aws:ec2:VPC. A token whose file name does not
// match the type is returned unchanged.
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
