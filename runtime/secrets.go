package lumi

import (
	"context"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/runtime/internal/mask"
)

// NoteSecrets keeps what the properties of an object declare secret, or what is wrapped in a bag of them, out of the
// errors and logs of the call that the context is of, if it is one that package serve serves. Empty makes an object
// without properties. Generated providers call it for each bag that they decode.
func NoteSecrets(ctx context.Context, bag *structpb.Struct, empty func() Object) {
	if secrets := mask.FromContext(ctx); secrets != nil {
		secrets.Add(func() mask.Found { return gather(bag, empty()) })
	}
}

// gather lists what is secret in a bag.
func gather(bag *structpb.Struct, o Object) mask.Found {
	var found mask.Found
	p := newProps(context.Background(), lenient, nil)
	p.unknown, p.gathered = true, &found
	p.decodeObject(bag.GetFields(), o)
	return found
}

// noteResult does what [NoteSecrets] does for what a failed call left of the properties, such as a password that was
// made before something went wrong.
func (r *Provider) noteResult(ctx context.Context, c *call) {
	secrets := mask.FromContext(ctx)
	if secrets == nil || c.want == nil {
		return
	}
	p := newProps(context.Background(), encoding, c.want.marks)
	found := gather(&structpb.Struct{Fields: p.encodeObject(c.want.Properties)}, r.alloc())
	secrets.Add(func() mask.Found { return found })
}
