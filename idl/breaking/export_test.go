package breaking

import "github.com/lumi-idl/lumi/idl/schema"

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

// Use says whether a declaration is used for what programs send and for what the provider returns.
type Use struct{ In, Out bool }

// Uses returns how the declarations of a package are used.
func Uses(p *schema.Package) map[schema.Decl]Use {
	uses := map[schema.Decl]Use{}
	for d, u := range usesOf(p) {
		uses[d] = Use{u.in, u.out}
	}
	return uses
}
