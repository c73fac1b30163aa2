package adopt

import (
	"cmp"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/internal/yamltree"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Mapping says how resources of another tool's type are imported.
type Mapping struct {
	// Type is the type of the resources, or "" if they are left out.
	Type tokens.Type
	// ID is the property with the id of the resources, or "" if it is the id in the snapshot.
	ID string
	// Source is the position of the type in the file.
	Source string
}

// ParseTypes parses a YAML file that maps other tools' types to mappings. It returns a *[plan.Error] with all problems.
func ParseTypes(src []byte, file string) (map[string]Mapping, error) {
	documents, errs := yamltree.Read(src)
	fail := func(e *yamltree.Error) { errs = append(errs, e) }
	all := map[string]Mapping{}
	for i, d := range documents {
		root := d.Content[0]
		if i > 0 || root.Kind != yaml.MappingNode {
			fail(yamltree.At(root, "expected one object, such as {aws:index:Vpc: aws:ec2:VPC}"))
			continue
		}
		for pair := range slices.Chunk(root.Content, 2) {
			all[pair[0].Value] = mapping(pair[1], file, fail)
		}
	}
	if len(errs) == 0 {
		return all, nil
	}
	slices.SortStableFunc(errs, func(a, b *yamltree.Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	wrong := &plan.Error{}
	for _, e := range errs {
		wrong.Faults = append(wrong.Faults, plan.Fault{Source: fmt.Sprintf("%s:%d:%d", file, e.Line, e.Column), Message: e.Message})
	}
	return nil, wrong
}

// mapping reads a type, an object with a type and an id, or an empty value.
func mapping(n *yaml.Node, file string, fail func(*yamltree.Error)) (m Mapping) {
	of := n
	if n.Kind == yaml.MappingNode {
		of = &yaml.Node{Line: n.Line, Column: n.Column} // if there is no type
		for pair := range slices.Chunk(n.Content, 2) {
			switch key, value := pair[0], pair[1]; key.Value {
			case "type":
				of = value
			case "id":
				if m.ID = value.Value; m.ID == "" || value.ShortTag() != "!!str" {
					fail(yamltree.At(value, "expected the name of a property"))
				}
			default:
				fail(yamltree.At(key, "unknown key %q; valid keys are type and id", key.Value))
			}
		}
	} else if n.ShortTag() == "!!null" {
		return m
	}
	var err error
	if m.Type, err = tokens.Parse(of.Value); err != nil {
		fail(yamltree.At(of, "%s", err))
	}
	m.Source = fmt.Sprintf("%s:%d:%d", file, of.Line, of.Column)
	return m
}
