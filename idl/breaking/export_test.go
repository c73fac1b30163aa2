package breaking

// Fields returns the fields of the model that there are rules for. Properties are those of several kinds of declaration.
func Fields() []string {
	var fields []string
	for _, r := range declRules {
		fields = append(fields, r.field)
	}
	for _, r := range propertyRules {
		fields = append(fields, r.field)
	}
	return fields
}
