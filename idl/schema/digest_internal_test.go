package schema

import (
	"bufio"
	"bytes"
	"reflect"
	"testing"
)

// Digests depend on which of two pointers is nil.
func TestDigestAbsent(t *testing.T) {
	type limits struct{ Min, Max *float64 }
	digest := func(l limits) string {
		var b bytes.Buffer
		d := digester{Writer: bufio.NewWriter(&b)}
		d.value(reflect.ValueOf(l))
		_ = d.Flush() // buffers never fail
		return b.String()
	}
	if three := 3.0; digest(limits{Min: &three}) == digest(limits{Max: &three}) {
		t.Error("a minimum and a maximum have the same digest")
	}
}
