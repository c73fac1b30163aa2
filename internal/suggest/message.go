package suggest

import "strings"

// DidYouMean returns a suffix for an error about a wrong name, such as "; did you mean web?", or "" if no name is near.
func DidYouMean(got string, names []string) string {
	if near := Name(got, names); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// Instead suggests the name that was probably intended, or lists all names.
func Instead(given string, names []string) string {
	if near := Name(given, names); near != "" {
		return "did you mean " + near + "?"
	} else if len(names) == 0 {
		return "it has none"
	}
	return "it has " + strings.Join(names, ", ")
}
