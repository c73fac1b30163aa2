package breaking

import "github.com/lumi-idl/lumi/idl/schema"

// Fields returns the model fields that have rules. Properties is shared by several kinds of declaration.
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

// Use reports whether a declaration is part of program input or of provider output.
type Use struct{ In, Out bool }

// Uses returns the use of each declaration of a package.
func Uses(p *schema.Package) map[schema.Decl]Use {
	uses := map[schema.Decl]Use{}
	for d, u := range usesOf(p) {
		uses[d] = Use{u.in, u.out}
	}
	return uses
}
