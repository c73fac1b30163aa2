package suggest

// DidYouMean returns what follows a message about a wrong name, such as "; did you mean web?", or "" if no name is near.
func DidYouMean(got string, names []string) string {
	if near := Name(got, names); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}
