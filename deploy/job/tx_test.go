package job

import (
	"strings"
	"testing"
)

func TestBrief(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxMessage)
	for message, want := range map[string]string{
		"": "", "a\xff": "a\ufffd", "a\x00b\x00": "ab", long: long, long + "y": long + "…", long[1:] + "é": long[1:] + "…",
	} {
		if got := Brief(message); got != want {
			t.Errorf("Brief of %d bytes = %.20q… of %d bytes, want %.20q… of %d bytes", len(message), got, len(got), want, len(want))
		}
	}
}
