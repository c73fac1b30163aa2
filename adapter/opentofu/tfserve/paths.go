package tfserve

import (
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// path returns the path in OpenTofu of what p locates. It ends early at a value whose parts have no path, such as a dynamic one, and
// where neither of the values, if there are any, has the next part. It returns nil if there is nothing left of p.
func (s *shape) path(p lumi.Path, values ...tftypes.Value) *tftypes.AttributePath {
	var found *tftypes.AttributePath
	var steps []tftypes.AttributePathStep
	for _, part := range wire.PathParts(string(p)) {
		step, next := s.step(part)
		if next == nil {
			break
		}
		steps = append(steps, step)
		path := tftypes.NewAttributePathWithSteps(steps)
		if len(values) > 0 && !exists(path, values) {
			break
		}
		found, s = path, next
	}
	return found
}

// step returns the step to a part of a value and the shape of the part, or nil if there is no such step.
func (s *shape) step(part string) (tftypes.AttributePathStep, *shape) {
	if s.typ.Is(tftypes.DynamicPseudoType) {
		return nil, nil
	}
	key := strings.TrimPrefix(part, ".")
	if inner, ok := strings.CutPrefix(key, "["); ok {
		key = strings.TrimSuffix(inner, "]")
		if text, err := strconv.Unquote(key); err == nil {
			key = text
		}
	}
	switch s.kind {
	case object:
		for _, a := range s.attributes {
			if a.wire == key {
				return tftypes.AttributeName(a.name), a.shape
			}
		}
	case list:
		if i, err := strconv.Atoi(key); err == nil {
			return tftypes.ElementKeyInt(i), s.elem
		}
	case mapping:
		return tftypes.ElementKeyString(key), s.elem
	}
	return nil, nil
}

func exists(path *tftypes.AttributePath, values []tftypes.Value) bool {
	for _, v := range values {
		if _, _, err := tftypes.WalkAttributePath(v, path); err == nil {
			return true
		}
	}
	return false
}
