package yaql

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestFromJSON(t *testing.T) {
	for text, want := range map[string]string{
		` {"b": 1, "a": [1.0, 1e0, -0, 100000000000000000000, true, false, null, "x", {}, []]}` + "\n": `{"b": 1, "a": [1.0, 1.0, 0, 100000000000000000000, true, false, null, "x", {}, []]}`,
		`{"a": 1, "b": 2, "\u0061": 3}`: `{"a": 3, "b": 2}`,
		`"é\n\"\\\ud83d\ude00\ud800"`:   `"é\n\"\\😀` + "\uFFFD" + `"`,
		"\"\xff\"":                      `"` + "\uFFFD" + `"`,
		`[1 , 2 ]`:                      `[1, 2]`,
	} {
		v, err := FromJSON([]byte(text))
		if err != nil {
			t.Errorf("FromJSON(%s): %v", text, err)
			continue
		}
		if got, err := AppendJSON(nil, v); err != nil || string(got) != want {
			t.Errorf("JSON after FromJSON(%s) = %s, %v, want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                        "1:1: unexpected end of JSON input",
		"[1,\n 'x']":              `2:2: invalid character '\'' looking for beginning of value`,
		`["é", 1`:                 "1:8: unexpected end of JSON input",
		`{"a": 1} 2`:              "1:10: invalid character '2' after top-level value",
		`[1, 1e999]`:              "1:5: number out of range",
		strings.Repeat("[", 2e4):  "1:10001: invalid character '[' exceeded max depth",
		`{"a" 1}`:                 "1:6: invalid character '1' after object key",
		"\ufeff{}":                "1:1: invalid character 'ï' looking for beginning of value",
		`{"a": [1, 2, 3], "b": t`: "1:23: invalid character ' ' in literal true (expecting 'r')",
	} {
		if v, err := FromJSON([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("FromJSON(%.30s) = %v, %v, want error %s", text, v, err, want)
		}
	}
}

// FuzzFromJSON compares FromJSON with encoding/json.
func FuzzFromJSON(f *testing.F) {
	for _, text := range []string{`{"b": [1, 2.5, {}], "a": null}`, `"\u00e9"`, `[[], "x", tru`, ` -0.0e1 `} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var want any
		failed := json.Unmarshal([]byte(text), &want)
		v, err := FromJSON([]byte(text))
		if err != nil && failed == nil || err == nil && !json.Valid([]byte(text)) {
			t.Fatalf("FromJSON(%q) = %v, but encoding/json returned %v", text, err, failed)
		}
		if err != nil || failed != nil {
			return // only FromJSON supports integers beyond the range of float64
		}
		out, err := AppendJSON(nil, v)
		var got any
		if err == nil {
			err = json.Unmarshal(out, &got)
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("JSON after FromJSON(%q) = %s, %v, want %v", text, out, err, want)
		}
	})
}
