package lumi

import (
	"context"

	"github.com/lumi-idl/lumi/internal/property"
	"github.com/lumi-idl/lumi/runtime/internal/signed"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// NoteSecrets registers the secrets wrapped in a bag, so that package serve masks them in the errors and logs of the call
// that ctx belongs to. Secrets in requests and values that the IDL declares secret are registered automatically.
func NoteSecrets(ctx context.Context, bag Bag) {
	noteSecrets(bag.Object(), false, wire.SecretsOf(ctx))
}

// noteSecrets registers the secrets wrapped in v, or all of v if hidden is set.
func noteSecrets(v *property.Value, hidden bool, into *wire.Secrets) {
	switch v.Kind() {
	case property.String:
		if hidden && !signed.IsUnknown(v) {
			into.AddValue(v.Text())
		}
	case property.List:
		for i := range v.Elements() {
			noteSecrets(v.Element(i), hidden, into)
		}
	case property.Object:
		signature := signed.Signature(v)
		hidden = hidden || signature == wire.Secret
		for _, f := range v.Fields() {
			if f.Name == wire.Signature {
				continue
			}
			if hidden && signature == "" {
				into.AddKey(f.Name)
			}
			noteSecrets(&f.Value, hidden, into)
		}
	}
}

// noteResult registers the secrets in properties after a failed call, such as a generated password.
func noteResult(ctx context.Context, properties Object, marks *mark) {
	if wire.SecretsOf(ctx) != nil {
		p := newProps(context.Background(), encoding, marks)
		object := p.encodeObject(properties)
		noteSecrets(&object, false, wire.SecretsOf(ctx))
	}
}
