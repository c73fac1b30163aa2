// Package expect compares test results with expected values.
package expect

import (
	"fmt"

	"github.com/google/go-cmp/cmp"
)

// T is the part of testing.TB that rapid.T implements.
type T interface {
	Helper()
	Errorf(format string, args ...any)
}

// Equal fails the test if cmp.Diff finds differences. about describes the compared values.
func Equal(t T, want, got any, about ...any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s%s", fmt.Sprintln(append(about, "(-want +got):")...), diff)
	}
}
