package document

import (
	"strings"
	"testing"
)

func TestShortened(t *testing.T) {
	if got := shortened("/a/b"); got != "/a/b" {
		t.Errorf("shortened(/a/b) = %q, want it unchanged", got)
	}
	got := shortened("/start" + strings.Repeat("/宽", 500) + "/end")
	if !strings.HasPrefix(got, "/start/宽") || !strings.HasSuffix(got, "宽/end") || len([]rune(got)) != 303 {
		t.Errorf("shortened of a long pointer = %q, want 303 characters with the start and the end", got)
	}
}
