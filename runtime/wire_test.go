package lumi_test

import (
	"testing"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

func TestNewSecret(t *testing.T) {
	once := lumi.NewSecret(structpb.NewStringValue("hush"))
	if lumi.NewSecret(once) != once {
		t.Error("NewSecret of a secret returned another value, want the same")
	}
	fields := once.GetStructValue().GetFields()
	if len(fields) != 2 || fields[wire.Signature].GetStringValue() != wire.Secret ||
		fields["value"].GetStringValue() != "hush" {
		t.Errorf("NewSecret = %v, want hush with the signature", once)
	}
}

func TestReferences(t *testing.T) {
	refs := lumi.References{
		"a": {ID: "1", Properties: bag(t, `{"size": "0", "gone": 1}`)},
		"b": {ID: "2", Properties: bag(t, `{"size": "$unknown"}`)},
		"c": {ID: "3"},
		"d": {Properties: bag(t, `{"size": "0"}`)},
	}
	for u, exists := range map[urn.URN]bool{"a": true, "b": true, "c": true, "d": false, "e": false} {
		if ref, ok := refs.Resolve(u); ok != exists || ref.ID != refs[u].ID {
			t.Errorf("Resolve(%q) = %s, %v, want %s, %v", u, ref, ok, refs[u].ID, exists)
		}
	}
	for u, want := range map[urn.URN]size{"a": "0", "c": ""} {
		var s sized
		if err := refs[u].Decode(&s); err != nil || s.Size != want {
			t.Errorf("Decode of %s = %q, %v, want %q", u, s.Size, err, want)
		}
	}
	// Decode fails for unknown properties, which existing resources do not have.
	if err := refs["b"].Decode(&sized{}); err == nil || err.Error() != "size: must be known here, but is not known yet" {
		t.Errorf("Decode error = %v, want an unknown size", err)
	}
}
