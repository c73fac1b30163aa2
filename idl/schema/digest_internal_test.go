package schema

import (
	"bufio"
	"bytes"
	"reflect"
	"testing"
)

// The digest distinguishes which of two pointers is nil.
func TestDigestNilPointers(t *testing.T) {
	type limits struct{ Min, Max *float64 }
	digest := func(l limits) string {
		var b bytes.Buffer
		d := digester{Writer: bufio.NewWriter(&b)}
		d.value(reflect.ValueOf(l))
		_ = d.Flush() // buffers never fail
		return b.String()
	}
	if three := 3.0; digest(limits{Min: &three}) == digest(limits{Max: &three}) {
		t.Error("digests of {Min: 3} and {Max: 3} are equal, want different digests")
	}
}
