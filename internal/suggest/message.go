package suggest

import "strings"

// DidYouMean returns a suffix for an error about an unknown name, such as "; did you mean web?". It returns "" if no
// name is near.
func DidYouMean(got string, names []string) string {
	if near := Name(got, names); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// Instead returns a suggestion for an unknown name: the nearest name or, if none is near, a list of all names.
func Instead(given string, names []string) string {
	if near := Name(given, names); near != "" {
		return "did you mean " + near + "?"
	} else if len(names) == 0 {
		return "it has none"
	}
	return "it has " + strings.Join(names, ", ")
}
