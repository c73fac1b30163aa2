// Package bags changes property bags in tests.
package bags

import (
	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// Set replaces b with a copy in which a property has the given value. If the value is nil, the copy lacks the property.
func Set(b *lumi.Bag, name string, v *structpb.Value) {
	s := b.Struct()
	if s.Fields[name] = v; v == nil {
		delete(s.Fields, name)
	}
	*b = lumi.BagOf(s)
}
