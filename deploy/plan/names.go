package plan

import (
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// isNumbered reports whether the last part of a name is a placeholder for a name chosen by the provider, such as "#1"
// or "web/#1".
func isNumbered(name string) bool {
	number, ok := strings.CutPrefix(name[strings.LastIndexByte(name, '/')+1:], "#")
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}

// renamed returns a URN with its name replaced.
func renamed(u urn.URN, name string) urn.URN {
	return urn.URN(strings.TrimSuffix(string(u), u.Name()) + name)
}

// component returns the component prefix of a URN's name, such as "web/", or "" if there is none.
func component(u urn.URN) string { return u.Name()[:strings.LastIndexByte(u.Name(), '/')+1] }

// last returns a URN's name without the component prefix.
func last(u urn.URN) string { return strings.TrimPrefix(u.Name(), component(u)) }

// isPlaceholder reports whether a name is a placeholder used when no provider can be asked.
func isPlaceholder(name string) bool { return strings.HasPrefix(name, "#") }

// isNth reports whether a name is a computed name with a number appended for uniqueness, such as "key-2" for "key".
func isNth(name, computed string) bool {
	number, ok := strings.CutPrefix(name, computed+"-")
	n, err := strconv.Atoi(number)
	return ok && err == nil && n > 1
}

func retyped(u urn.URN, t tokens.Type) urn.URN {
	if parts, err := u.Parts(); err == nil && parts.Type != t {
		parts.Type = t
		u, _ = urn.Format(parts)
	}
	return u
}
