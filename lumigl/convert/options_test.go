package convert_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/convert"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestOptions(t *testing.T) {
	const other = `{"urn":"urn:pulumi:s::p::a:b:C::o","type":"a:b:C","custom":true},`
	pulumi := func(before, members string) string {
		return `{"deployment":{"resources":[` + before + `{"urn":"urn:pulumi:s::p::a:b:C::n","type":"a:b:C","custom":true,` + members + `}]}}`
	}
	for _, test := range []struct{ name, src, want, losses string }{
		{"flags", pulumi("", `"protect":true,"retainOnDelete":false`), `{"protect":true}`, ""},
		{"paths", pulumi("", `"ignoreChanges":["tags[\"a-b\"]","a[*].b"],"replaceOnChanges":[]`), `{"ignoreChanges":["tags[\"a-b\"]","a[*].b"]}`, ""},
		{"no path", pulumi("", `"ignoreChanges":["a."],"replaceOnChanges":["a",1]`), ``, "ignoreChanges inert, replaceOnChanges inert"},
		{"timeouts", pulumi("", `"customTimeouts":{"create":600,"update":3600,"delete":0.5}`), `{"timeouts":{"create":"10m","delete":"1s","update":"1h"}}`, ""},
		{"more timeouts", pulumi("", `"customTimeouts":{"create":5430,"update":3605,"delete":0}`), `{"timeouts":{"create":"1h30m30s","update":"1h0m5s"}}`, ""},
		{"no timeouts", pulumi("", `"customTimeouts":{"create":-1}`), ``, "customTimeouts inert"},
		{"unknown timeouts", pulumi("", `"customTimeouts":{"read":1}`), ``, "customTimeouts inert"},
		{"no flag", pulumi("", `"protect":"yes"`), ``, "protect inert"},
		{"dependencies", pulumi(other, `"dependencies":["urn:pulumi:s::p::a:b:C::o","urn:pulumi:s::p::a:b:C::gone"]`),
			`{"dependsOn":[{"#ref":"urn:lumi:s::p:index::a:b:C::o"}]}`, "1 dependency"},
		{"circle", pulumi(strings.Replace(other, `true}`, `true,"dependencies":["urn:pulumi:s::p::a:b:C::n"]}`, 1), `"dependencies":["urn:pulumi:s::p::a:b:C::o"]`),
			``, "0 dependency"},
		{"opentofu", `{"version":4,"terraform_version":"1.6.0","serial":1,"lineage":"l","outputs":{},"resources":[{"mode":"managed","type":"a_b","name":"o","provider":"provider[\"x/a\"]","instances":[
			{"index_key":0,"attributes":{"id":"0"}},{"index_key":1,"attributes":{"id":"1"}}]},
			{"mode":"managed","type":"a_b","name":"n","provider":"provider[\"x/a\"]","instances":[
			{"attributes":{"id":"2"},"skip_destroy":true,"create_before_destroy":true,"dependencies":["a_b.o","a_b.gone"]}]}]}`,
			`{"dependsOn":[{"#ref":"urn:lumi:default::main:index::a:index:B::a_b.o[0]"},{"#ref":"urn:lumi:default::main:index::a:index:B::a_b.o[1]"}],"retainOnDelete":true}`,
			"dependencies dependency"},
	} {
		t.Run(test.name, func(t *testing.T) {
			result := must.Get(convert.Convert(test.src, convert.Options{}))(t)
			s := must.Get(lumigl.ParseSnapshot(textOf(result)))(t)
			var got string
			for r := range s.Vertices() {
				if name := r.URN().Name(); name != "n" && name != "a_b.n" {
					continue
				}
				_, rest, _ := strings.Cut(textOf(result), `"`+r.Key()+`": {`)
				if _, options, ok := strings.Cut(rest, `"options": `); ok && r.Options.Exists() {
					options, _, _ = strings.Cut(options, `"properties"`)
					got = strings.TrimSuffix(strings.NewReplacer(" ", "", "\n", "").Replace(options), ",")
				}
			}
			var losses []string
			for _, l := range result.Losses {
				losses = append(losses, l.Pointer()[strings.LastIndexByte(l.Pointer(), '/')+1:]+" "+string(l.Code))
			}
			if diff := cmp.Diff([]string{test.want, test.losses}, []string{got, strings.Join(losses, ", ")}); diff != "" {
				t.Errorf("snapshot and losses mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
