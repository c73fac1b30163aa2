package suggest

import "strings"

// DidYouMean returns what follows a message about a wrong name, such as "; did you mean web?", or "" if no name is near.
func DidYouMean(got string, names []string) string {
	if near := Name(got, names); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// Instead says which name was probably meant, or which names there are.
func Instead(given string, names []string) string {
	if near := Name(given, names); near != "" {
		return "did you mean " + near + "?"
	} else if len(names) == 0 {
		return "it has none"
	}
	return "it has " + strings.Join(names, ", ")
}
