package lumi_test

import (
	"fmt"
	"strings"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/test/kit/expect"
)

func TestCompare(t *testing.T) {
	tests := []struct{ name, old, want, diff string }{
		{"nothing", `{"a": [1, {"b": null}]}`, `{"a": [1, {}], "c": null}`, ""},
		{"in order", `{"b": 1, "a": true}`, `{"a": false, "c": "x"}`, "~ a: true -> false\n- b: 1\n+ c: \"x\"\n"},
		{"deep", `{"a": [{"b c": [1]}]}`, `{"a": [{"b c": [1, 2]}, 3]}`, "+ a[0][\"b c\"][1]: 2\n+ a[1]: 3\n"},
		{"another kind", `{"a": [1]}`, `{"a": {"x": 1}}`, "~ a: [1] -> {\"x\":1}\n"},
		{"unknown", `{"a": [1]}`, `{"a": "$unknown", "b": "$unknown", "c": ["<", "$unknown"]}`,
			"~ a: [1] -> (not known yet)\n+ b: (not known yet)\n+ c: [\"<\",\"(not known yet)\"]\n"},
		{"a secret that is not known yet", `{"a": {"$sig": "$secret", "value": "hush"}}`,
			`{"a": {"$sig": "$secret", "value": "$unknown"}, "b": {"$sig": "$secret", "value": "$unknown"}}`,
			"~ a: (secret) -> (not known yet)\n+ b: (not known yet)\n"},
		{"wrapped now", `{"a": 1}`, `{"a": {"$sig": "$secret", "value": 1}}`, ""},
		{"secrets", `{"a": {"$sig": "$secret", "value": "hush"}, "b": "hush"}`,
			`{"a": "x", "b": {"$sig": "$secret", "value": {"hush": 1}}}`,
			"~ a: (secret) -> (secret)\n~ b: (secret) -> (secret)\n"},
		{"wrapped now, inside a secret", `{"a": {"$sig": "$secret", "value": {"b": {"$sig": "$secret", "value": 1}}}}`,
			`{"a": {"$sig": "$secret", "value": {"b": 1, "c": null}}}`, ""},
		{"wrapped now, inside an asset", `{"a": {"$sig": "$asset", "text": {"$sig": "$secret", "value": "hush"}}}`,
			`{"a": {"$sig": "$asset", "text": "hush"}}`, ""},
		{"an asset with a secret", `{"a": {"$sig": "$asset", "text": {"$sig": "$secret", "value": "hush"}}}`,
			`{"a": {"$sig": "$asset", "text": "x"}}`, "~ a: (secret) -> (secret)\n"},
		{"an asset now", `{"a": {"text": "1"}}`, `{"a": {"$sig": "$asset", "text": "1"}}`,
			"~ a: {\"text\":\"1\"} -> {\"text\":\"1\"}\n"},
		{"nulls at the end", `{"a": [1, null], "b": [1]}`, `{"a": [1], "b": [1, null]}`, "- a[1]: null\n+ b[1]: null\n"},
		{"a secret at the end", `{"a": [1]}`, `{"a": [1, {"$sig": "$secret", "value": "hush"}]}`, "+ a[1]: (secret)\n"},
		{"a secret inside", `{}`, `{"a": [{"b": {"$sig": "$secret", "value": "hush"}}]}`, "+ a: (secret)\n"},
		{"an asset", `{"a": {"$sig": "$asset", "text": "1"}}`, `{"a": {"$sig": "$asset", "text": "2"}}`,
			"~ a: {\"text\":\"1\"} -> {\"text\":\"2\"}\n"},
		{"long text", `{"a": "` + strings.Repeat("é", 60) + `"}`, `{}`, "- a: \"" + strings.Repeat("é", 39) + "…\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := lumi.Compare(bag(t, test.old), bag(t, test.want))
			expect.Equal(t, test.diff, d.String())
			if d.Empty() != (test.diff == "") {
				t.Errorf("Empty() = %v, want %v", d.Empty(), test.diff == "")
			}
			if printed := fmt.Sprintf("%v %+v %v", d, d.Changes(), d.Changes()); strings.Contains(printed, "hush") {
				t.Errorf("Sprintf of the diff contains a secret: %s", printed)
			}
		})
	}
}

func TestReplace(t *testing.T) {
	d := lumi.Compare(bag(t, `{"a": {"b": 1}, "c": 1, "d": 1}`), bag(t, `{"a": {"b": 2}, "c": 2, "d": 1}`))
	d.Replace("c")
	d.Replace("a")
	d.Replace("d")
	d.Replace("nothing")
	for p, want := range map[lumi.Path]bool{
		"a": true, "a.b": true, "a.b.c": true, "c": true, "": true, "d": false, "a.c": false, "ab": false,
	} {
		if got := d.Changed(p); got != want {
			t.Errorf("Changed(%q) = %v, want %v", p, got, want)
		}
	}
	expect.Equal(t, "[a c]", fmt.Sprint(d.Replaces()))
	if want := "~ a.b: 1 -> 2 (replaces)\n~ c: 1 -> 2 (replaces)\n"; d.String() != want {
		t.Errorf("String() = %q, want %q", d.String(), want)
	}
}
