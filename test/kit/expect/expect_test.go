package expect

import (
	"fmt"
	"strings"
	"testing"
)

// recorder records failure messages instead of failing the test.
type recorder struct {
	testing.TB
	failures []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func TestEqual(t *testing.T) {
	r := &recorder{TB: t}
	Equal(r, []string{"a"}, []string{"a"})
	Equal(r, 1, 2, "number", 3)
	Equal(r, 1, "1")
	if len(r.failures) != 2 || !strings.HasPrefix(r.failures[0], "number 3 (-want +got):\n") || !strings.HasPrefix(r.failures[1], "(-want") {
		t.Errorf("Equal reported %q, want failures with and without a description", r.failures)
	}
}
