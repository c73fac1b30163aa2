package suggest

import (
	"strings"
)

// Instead says which name was probably meant, or which names there are.
func Instead(given string, names []string) string {
	if near := Name(given, names); near != "" {
		return "did you mean " + near + "?"
	} else if len(names) == 0 {
		return "it has none"
	}
	return "it has " + strings.Join(names, ", ")
}
