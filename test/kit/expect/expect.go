// Package expect compares test results with expected values.
package expect

import (
	"fmt"

	"github.com/google/go-cmp/cmp"
)

// T is the subset of testing.TB used by this package. *rapid.T implements it.
type T interface {
	Helper()
	Errorf(format string, args ...any)
}

// Equal reports a test failure with the diff if want and got differ according to cmp.Diff. about describes the compared
// values in the message.
func Equal(t T, want, got any, about ...any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s%s", fmt.Sprintln(append(about, "(-want +got):")...), diff)
	}
}
