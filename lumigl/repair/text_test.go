package repair

import "testing"

// TestText mends JSON that is no graph, and leaves alone what takes a guess.
func TestText(t *testing.T) {
	for src, want := range map[string]string{
		"[1 2,]":          "[1, 2]",
		`{"a": 1,}`:       `{"a": 1}`,
		`{"a": NaN, b:1}`: `{"a": NaN, "b":1}`,
		`{"a": 1}`:        `{"a": 1}`,
	} {
		got, steps := Text(src)
		if got != want || (len(steps) > 0) != (got != src) {
			t.Errorf("%s: got %s, %v", src, got, steps)
		}
		for _, s := range steps {
			if s.Line != 1 || s.Column != s.Offset+1 {
				t.Errorf("%s: %+v", src, s)
			}
		}
	}
}
