package plan

import (
	"fmt"
	"slices"

	"github.com/lumi-idl/lumi/idl/equality"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/internal/constraint"
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
	// Equal describes the properties that are not compared exactly.
	Equal map[tokens.Type]map[string]*constraint.Equality
}

// AddSchema adds the property flags of all resource types in a schema.
func (t *Types) AddSchema(p *schema.Package) {
	if t.Replaces == nil {
		t.Replaces = diff.Replaces{}
	}
	if t.Outputs == nil {
		t.Outputs, t.Computed = map[tokens.Type][]string{}, map[tokens.Type][]string{}
		t.Equal = map[tokens.Type]map[string]*constraint.Equality{}
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
			if e := equality.Of(property.Type, property.Constraints); e != nil {
				if t.Equal[token] == nil {
					t.Equal[token] = map[string]*constraint.Equality{}
				}
				t.Equal[token][property.Name] = e
			}
			if property.Computed {
				t.Computed[token] = append(t.Computed[token], property.Name)
			}
		}
	}
}

// Settle returns a copy of a snapshot with the properties of another one where they are equal.
func (t *Types) Settle(was, now *lumigl.Snapshot) *lumigl.Snapshot {
	if len(t.Equal) == 0 {
		return now
	}
	now = now.Clone()
	for v := range now.Vertices() {
		if old := was.Vertex(v.Key()); old != nil {
			v.Properties = t.settle(v.Type, old.Properties, v.Properties)
		}
	}
	return now
}

// settle returns properties with those of was in place of equal ones.
func (t *Types) settle(of tokens.Type, was, now lumigl.Value) lumigl.Value {
	for name, e := range t.Equal[of] {
		e.Equal(plainForm(was.Get(name)), plainForm(now.Get(name)), nil, func(path []any) {
			parts := []string{"." + name}
			for _, step := range path {
				if key, ok := step.(string); ok {
					step = constraint.Quote(key)
				}
				parts = append(parts, fmt.Sprintf("[%v]", step))
			}
			now = graft(now, was, parts)
		})
	}
	return now
}

// plainForm converts a value to the form that package constraint compares: secrets are unwrapped, references to whole
// resources become their keys, and unknown parts become [constraint.Unknown].
func plainForm(v lumigl.Value) any {
	return v.Plain(func(part lumigl.Value) (any, bool) {
		target, property, isReference := part.Target()
		content, isSecret := part.Secret()
		switch {
		case isSecret:
			return plainForm(content), true
		case isReference && property == "":
			return target.Key(), true
		case isReference, part.IsExpression(), part.IsUnknown():
			return constraint.Unknown{}, true
		}
		return nil, false
	})
}

// LooksDesired reports whether a snapshot looks like desired state: it contains resources, but no IDs.
func LooksDesired(s *lumigl.Snapshot) bool {
	all := slices.Collect(s.Vertices())
	return len(all) > 0 && !slices.ContainsFunc(all, func(r *lumigl.Vertex) bool { return r.ID != "" })
}
