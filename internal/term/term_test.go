package term_test

import (
	"io"
	"testing"

	"github.com/lumi-idl/lumi/internal/term"
)

func TestInspect(t *testing.T) {
	for _, test := range []struct {
		color, noColor string
		want           term.Stream
	}{
		{"auto", "", term.Stream{}}, // a buffer is not a terminal
		{"always", "", term.Stream{Color: true}},
		{"always", "1", term.Stream{Color: true}},
		{"never", "", term.Stream{}},
	} {
		getenv := func(name string) string { return map[string]string{"NO_COLOR": test.noColor}[name] }
		if got := term.Inspect(io.Discard, test.color, getenv); got != test.want {
			t.Errorf("Inspect with color %s, NO_COLOR=%s = %+v, want %+v", test.color, test.noColor, got, test.want)
		}
	}
}
