package lumi

import (
	"context"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/runtime/internal/signed"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// NoteSecrets registers the secrets wrapped in a bag, so that package serve masks them in the errors and logs of the call
// that ctx belongs to. Secrets in requests and values that the IDL declares secret are registered automatically.
func NoteSecrets(ctx context.Context, bag Bag) {
	noteSecrets(structpb.NewStructValue(bag.message), false, wire.SecretsOf(ctx))
}

// noteSecrets registers the secrets wrapped in v, or all of v if hidden is set.
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

// noteResult registers the secrets in properties after a failed call, such as a generated password.
func noteResult(ctx context.Context, properties Object, marks *mark) {
	if wire.SecretsOf(ctx) != nil {
		p := newProps(context.Background(), encoding, marks)
		NoteSecrets(ctx, BagOf(&structpb.Struct{Fields: p.encodeObject(properties)}))
	}
}
