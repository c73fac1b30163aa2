package document

import (
	"strings"
	"testing"
)

func TestShortened(t *testing.T) {
	if got := shortened("/a/b"); got != "/a/b" {
		t.Errorf("a short pointer becomes %q", got)
	}
	got := shortened("/start" + strings.Repeat("/宽", 500) + "/end")
	if !strings.HasPrefix(got, "/start/宽") || !strings.HasSuffix(got, "宽/end") || len([]rune(got)) != 303 {
		t.Errorf("a long pointer becomes %q", got)
	}
}
