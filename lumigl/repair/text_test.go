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
		if got, steps := Text(src); got != want || (len(steps) > 0) != (got != src) {
			t.Errorf("%s: got %s, %v", src, got, steps)
		}
	}
}
