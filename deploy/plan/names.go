package plan

import (
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// isNumbered reports whether the last part of a URN stands for a name that the provider chooses, such as "#1" or
// "web/#1".
func isNumbered(name string) bool {
	number, ok := strings.CutPrefix(name[strings.LastIndexByte(name, '/')+1:], "#")
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}

// renamed returns a URN with another last part.
func renamed(u urn.URN, name string) urn.URN {
	return urn.URN(strings.TrimSuffix(string(u), u.Name()) + name)
}

// component returns what a name begins with in a component, such as "web/", or "".
func component(u urn.URN) string { return u.Name()[:strings.LastIndexByte(u.Name(), '/')+1] }

// last returns the name in a URN without that of a component.
func last(u urn.URN) string { return strings.TrimPrefix(u.Name(), component(u)) }

// isPlaceholder reports whether a name is that of a resource whose provider is not asked.
func isPlaceholder(name string) bool { return strings.HasPrefix(name, "#") }

// isNth reports whether a name is that of the second or a later resource for which a provider computed another name: "key-2"
// for "key".
func isNth(name, computed string) bool {
	number, ok := strings.CutPrefix(name, computed+"-")
	n, err := strconv.Atoi(number)
	return ok && err == nil && n > 1
}

// retyped returns a URN with another type.
func retyped(u urn.URN, t tokens.Type) urn.URN {
	if parts, err := u.Parts(); err == nil && parts.Type != t {
		parts.Type = t
		u, _ = urn.Format(parts)
	}
	return u
}
