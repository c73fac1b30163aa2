package lumi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

const secretsEverywhere = `{
	"a": {"$sig": "$secret", "value": {"b": [{"$sig": "$secret", "value": "hush"}, 1, null], "c": {"$sig": "$secret"}}},
	"d": [{"$sig": "$secret", "value": {"$sig": "$secret", "value": "hush"}}, {"e": {"$sig": "$secret", "value": true}}],
	"f": "$unknown", "g": {"$sig": "$secret", "value": "$unknown"}, "h": null,
	"i": {"$sig": "$asset", "text": {"$sig": "$secret", "value": "hush"}}
}`

func TestBagGet(t *testing.T) {
	b := bag(t, secretsEverywhere)
	before := b.Struct().String()
	for name, want := range map[string]any{
		"a": map[string]any{"b": []any{"hush", 1.0, nil}, "c": nil},
		"d": []any{"hush", map[string]any{"e": true}},
		"f": wire.Unknown, "g": wire.Unknown, "h": nil, "nothing": nil,
		"i": map[string]any{wire.Signature: wire.Asset, "text": "hush"},
	} {
		expect.Equal(t, want, b.Get(name), name)
	}
	if after := b.Struct().String(); after != before {
		t.Errorf("Get changed the bag to %s, want %s", after, before)
	}
}

func TestBagString(t *testing.T) {
	b := bag(t, secretsEverywhere)
	want := `{"a":"(secret)","d":["(secret)",{"e":"(secret)"}],"f":"(not known yet)","g":"(not known yet)","h":null,` +
		`"i":{"text":"(secret)"}}`
	expect.Equal(t, want, b.String())
	type holder struct {
		Bag    lumi.Bag
		hidden lumi.Bag
	}
	text := must.Get(json.Marshal(holder{b, b}))(t)
	for _, format := range []string{"%v", "%+v", "%s", "%#v", "%q", "%x"} {
		if got := fmt.Sprintf(format, &holder{b, b}) + fmt.Sprintf(format, b) + string(text); strings.Contains(got, "hush") {
			t.Errorf("Sprintf(%q) contains a secret: %s", format, got)
		}
	}
}

func TestZeroBag(t *testing.T) {
	for name, test := range map[string]struct {
		bag  lumi.Bag
		zero bool
	}{
		"zero": {lumi.Bag{}, true}, "of nil": {lumi.BagOf(nil), true}, "empty": {lumi.BagOf(&structpb.Struct{}), false},
	} {
		b := test.bag
		if b.IsZero() != test.zero || (b.Struct() == nil) != test.zero || b.Get("a") != nil || b.String() != "{}" {
			t.Errorf("%s: IsZero = %v, Struct = %v, Get = %v, String = %s, want zero %v", name, b.IsZero(), b.Struct(), b.Get("a"), b, test.zero)
		}
		if d := lumi.Compare(b, lumi.Bag{}); !d.Empty() || d.Changed("") {
			t.Errorf("%s: Compare with the zero Bag = %s, want no changes", name, d)
		}
		lumi.NoteSecrets(t.Context(), b)
		if err := lumi.Decode(b, &sized{}); err == nil || err.Error() != "size: is required, but missing" {
			t.Errorf("%s: Decode error = %v, want a missing size", name, err)
		}
	}
}
