package plan

import (
	"slices"

	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/diff"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Types holds the property flags of resource types. The zero value is ready to use.
type Types struct {
	// Replaces holds the properties that cannot be changed in place.
	Replaces diff.Replaces
	// Outputs lists the properties set only by the provider.
	Outputs, Computed map[tokens.Type][]string
}

// AddSchema adds the property flags of all resource types in a schema.
func (t *Types) AddSchema(p *schema.Package) {
	if t.Replaces == nil {
		t.Replaces = diff.Replaces{}
	}
	if t.Outputs == nil {
		t.Outputs, t.Computed = map[tokens.Type][]string{}, map[tokens.Type][]string{}
	}
	for decl := range p.Decls() {
		resource, ok := decl.(*schema.Resource)
		if !ok {
			continue
		}
		token := tokens.Type(resource.Token)
		for _, property := range resource.Properties {
			if property.Replaces {
				t.Replaces[token] = append(t.Replaces[token], property.Name)
			}
			if property.Out {
				t.Outputs[token] = append(t.Outputs[token], property.Name)
			}
			if property.Computed {
				t.Computed[token] = append(t.Computed[token], property.Name)
			}
		}
	}
}

// LooksDesired reports whether a snapshot looks like desired state: it contains resources, but no IDs.
func LooksDesired(s *lumigl.Snapshot) bool {
	all := slices.Collect(s.Vertices())
	return len(all) > 0 && !slices.ContainsFunc(all, func(r *lumigl.Vertex) bool { return r.ID != "" })
}
