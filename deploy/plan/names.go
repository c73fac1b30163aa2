package plan

import (
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// isNumbered reports whether the last part of a URN is a placeholder for a name chosen by the provider, such as "#1" or
// "web/#1".
func isNumbered(name string) bool {
	number, ok := strings.CutPrefix(name[strings.LastIndexByte(name, '/')+1:], "#")
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}

// renamed returns a URN with its last part replaced.
func renamed(u urn.URN, name string) urn.URN {
	return urn.URN(strings.TrimSuffix(string(u), u.Name()) + name)
}

// component returns the component prefix of a name, such as "web/", or "".
func component(u urn.URN) string { return u.Name()[:strings.LastIndexByte(u.Name(), '/')+1] }

// last returns the name in a URN without the component prefix.
func last(u urn.URN) string { return strings.TrimPrefix(u.Name(), component(u)) }

// isPlaceholder reports whether a name is a placeholder because no provider was asked.
func isPlaceholder(name string) bool { return strings.HasPrefix(name, "#") }

// isNth reports whether a name is a computed name made unique by a number, such as "key-2" for "key".
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
