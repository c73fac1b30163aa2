package diff_test

import (
	"bytes"
	"encoding/json"
	"testing"
)

// TestFreeTag has data with the keys that could mark references, wherever there can be any.
func TestFreeTag(t *testing.T) {
	const resource = `"type": "a:b:C", "properties": `
	const key = `"urn:lumi:prod::p:index::a:b:C::x"`
	for _, test := range []struct{ old, want string }{
		{`"resources": {}`, "#ref"},
		{`"args": {"#ref": 1}, "resources": {}`, "#ref2"},
		{`"note": [{"#ref": 1}], "resources": {}`, "#ref2"},
		{`"resources": {` + key + `: {` + resource + `{"a": [{"#ref": 1}, {"#ref2": 1}]}}}`, "#ref3"},
		{`"resources": {` + key + `: {` + resource + `{"#ref2": 1}}}`, "#ref"},
		{`"resources": {` + key + `: {` + resource + `{}, "extensions": {"#ref": 1}}}`, "#ref2"},
		{`"resources": {}, "pending": {"deletes": [{"urn": ` + key + `, ` + resource + `{"#ref": 1}}]}`, "#ref2"},
	} {
		d := compare(t, parse(t, `{"ref": "$r", `+test.old+`}`), parse(t, `{"resources": {}}`))
		var b bytes.Buffer
		if err := d.WriteJSON(&b); err != nil {
			t.Fatal(err)
		}
		var got struct{ Ref string }
		if err := json.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if got.Ref != test.want {
			t.Errorf("%s: %s, want %s", test.old, got.Ref, test.want)
		}
	}
}
