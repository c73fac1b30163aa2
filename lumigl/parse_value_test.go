package lumigl_test

import (
	"errors"
	"testing"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestParseValue(t *testing.T) {
	v := must.Get(lumigl.Parser{}.ParseValue(`{"a": [{"#ref": "b"}, 12345678901234567890.10]}`))(t)
	if ref, ok := v.Get("a").At(0).Get("#ref").Text(); !ok || ref != "b" {
		t.Errorf("ParseValue of a reference = %v, want an object", v.Get("a").At(0).Kind())
	}
	if n, _ := v.Get("a").At(1).Literal(); n != "12345678901234567890.1" {
		t.Errorf("Literal = %s, want 12345678901234567890.1", n)
	}
}

func TestParseValueFaults(t *testing.T) {
	for src, want := range map[string]string{
		``:                "1:1: the file is empty",
		"<<<<<<< a\n1":    "1:1: unresolved merge conflict; keep one side or both, and remove the markers",
		`{"a": 1, "a":2}`: `1:10: duplicate key "a" (at /a)`,
		`[[[[1]]]]`:       "1:4: lists and objects are nested deeper than 3 levels (at /0/0/0)",
		`"` + "0123456789012345678901234567890" + `"`: "1:1: the file is larger than 30 bytes",
	} {
		v, err := lumigl.Parser{MaxDepth: 3, MaxSize: 30}.ParseValue(src)
		var invalid *lumigl.InvalidError
		if v.Exists() || !errors.As(err, &invalid) || err.Error() != want {
			t.Errorf("ParseValue(%q) = %v, %v, want error %s", src, v.Kind(), err, want)
		}
	}
}
