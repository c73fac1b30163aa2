package diff_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/must"
)

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
		must.Do(t, d.WriteJSON(&b))
		var got struct{ Ref string }
		must.Do(t, json.Unmarshal(b.Bytes(), &got))
		if got.Ref != test.want {
			t.Errorf("%s: reference tag = %s, want %s", test.old, got.Ref, test.want)
		}
	}
}
