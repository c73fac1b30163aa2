package lumi

import (
	"context"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/runtime/internal/signed"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// NoteSecrets registers the secrets wrapped in a bag, so that package serve masks them in the errors and logs of ctx's
// call. The runtime itself registers the secrets of requests and values that the IDL declares secret.
func NoteSecrets(ctx context.Context, bag Bag) {
	noteSecrets(structpb.NewStructValue(bag.message), false, wire.SecretsOf(ctx))
}

// noteSecrets registers the secrets wrapped in a value, or the whole value if it is hidden.
func noteSecrets(v *structpb.Value, hidden bool, into *wire.Secrets) {
	switch k := v.GetKind().(type) {
	case *structpb.Value_StringValue:
		if hidden && k.StringValue != wire.Unknown {
			into.AddValue(k.StringValue)
		}
	case *structpb.Value_ListValue:
		for _, elem := range k.ListValue.GetValues() {
			noteSecrets(elem, hidden, into)
		}
	case *structpb.Value_StructValue:
		signature := signed.Signature(v)
		hidden = hidden || signature == wire.Secret
		for key, field := range k.StructValue.GetFields() {
			if key == wire.Signature {
				continue
			}
			if hidden && signature == "" {
				into.AddKey(key)
			}
			noteSecrets(field, hidden, into)
		}
	}
}

// noteResult registers secrets that a failed call left in the properties, such as a generated password.
func noteResult(ctx context.Context, c *call) {
	if wire.SecretsOf(ctx) != nil && c.want != nil {
		p := newProps(context.Background(), encoding, c.want.marks)
		NoteSecrets(ctx, BagOf(&structpb.Struct{Fields: p.encodeObject(c.want.Properties)}))
	}
}
