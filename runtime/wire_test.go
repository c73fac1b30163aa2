package lumi_test

import (
	"os"
	"strings"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// TestWire holds the values that other languages and stored state depend on to what the manual promises.
func TestWire(t *testing.T) {
	manual, err := os.ReadFile("../docs/providers.md")
	if err != nil {
		t.Fatal(err)
	}
	for constant, want := range map[string]string{
		lumi.Signature:        "4dabf18193072939515e22adb298388d",
		lumi.SecretSignature:  "1b47061264138c4ac30d75fd1eb44270",
		lumi.AssetSignature:   "c44067f5952c0a294b673a41bacd8c17",
		lumi.ArchiveSignature: "0def7320c3a5731c473e5ecbe6d01bc7",
		lumi.UnknownValue:     "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
	} {
		if constant != want || !strings.Contains(string(manual), `"`+want+`"`) {
			t.Errorf("got %s, want %s here and in the manual", constant, want)
		}
	}
}

func TestNewSecret(t *testing.T) {
	once := lumi.NewSecret(structpb.NewStringValue("hush"))
	if lumi.NewSecret(once) != once {
		t.Error("a secret was wrapped twice")
	}
	fields := once.GetStructValue().GetFields()
	if len(fields) != 2 || fields[lumi.Signature].GetStringValue() != lumi.SecretSignature ||
		fields["value"].GetStringValue() != "hush" {
		t.Errorf("got %v", once)
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
			t.Errorf("%s: got %s, %v", u, ref, ok)
		}
	}
	for u, want := range map[urn.URN]size{"a": "0", "c": ""} {
		var s sized
		if err := refs[u].Decode(&s); err != nil || s.Size != want {
			t.Errorf("%s: got %q, %v", u, s.Size, err)
		}
	}
	// What exists is known.
	if err := refs["b"].Decode(&sized{}); err == nil || err.Error() != "size: must be known here, and is not known yet" {
		t.Errorf("got %v", err)
	}
}
