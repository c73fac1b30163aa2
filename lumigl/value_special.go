package lumigl

import "github.com/lumi-idl/lumi/runtime/wire"

// Some strings and objects have a special meaning between engines and providers.

// SecretOf returns a secret with the given content.
func SecretOf(content Value) Value {
	return ObjectOf(Member{Key: wire.Signature, Value: TextOf(wire.Secret)}, Member{Key: "value", Value: content})
}

// Secret returns the content of a secret, and false for other values. Tools must not display the content.
func (v Value) Secret() (Value, bool) {
	if v.signature() != wire.Secret {
		return Value{}, false
	}
	return v.Get("value"), true
}

// IsSecret reports whether the value is a secret.
func (v Value) IsSecret() bool { return v.signature() == wire.Secret }

// IsUnknown reports whether the value is the placeholder for an unknown value.
func (v Value) IsUnknown() bool { return v.kind == Text && v.text == wire.Unknown }

// IsAsset reports whether the value is an asset: a file's content, or text.
func (v Value) IsAsset() bool { return v.signature() == wire.Asset }

// IsArchive reports whether the value is an archive: the content of several files.
func (v Value) IsArchive() bool { return v.signature() == wire.Archive }

// IsFile reports whether the value is an asset or an archive.
func (v Value) IsFile() bool { return v.IsAsset() || v.IsArchive() }

// IsExpression reports whether the value is an expression over resource outputs. See package expr.
func (v Value) IsExpression() bool { return v.signature() == wire.Expression }

func (v *Value) signature() string {
	members := v.members()
	for i := range members {
		if m := &members[i]; m.Key == wire.Signature && m.Value.kind == Text {
			return m.Value.text
		}
	}
	return ""
}
